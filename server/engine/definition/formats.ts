// Formats of texts. Each has its own error code.
import { isClosingTime, isDay, isTime } from '../../../core/calendar/calendar-days.ts';
import type { FieldErrorCode } from '../../errors.ts';

export type Format =
  | 'idn-email'
  | 'local-time'
  | 'local-end-time'
  | 'time-zone'
  | 'gtin'
  | 'currency'
  | 'unit-code';

export const formatCodes: Record<Format | 'uuid' | 'date', FieldErrorCode> = {
  uuid: 'invalid_uuid',
  date: 'invalid_date',
  'idn-email': 'invalid_email',
  'local-time': 'invalid_time',
  'local-end-time': 'invalid_time',
  'time-zone': 'invalid_time_zone',
  gtin: 'invalid_gtin',
  currency: 'invalid_currency',
  'unit-code': 'invalid_unit_code',
};

export const formatChecks: Record<keyof typeof formatCodes, (text: string) => boolean> = {
  uuid: isUuid,
  date: isDay,
  'idn-email': (text) => /^[^\s@]+@[^\s@]+$/.test(text),
  'local-time': isTime,
  'local-end-time': isClosingTime,
  'time-zone': isTimeZone,
  gtin: isGtin,
  currency: (text) => currencies.has(text),
  // UN/ECE Recommendation 20: two or three capital letters and digits.
  'unit-code': (text) => /^[A-Z0-9]{2,3}$/.test(text),
};

export function isUuid(text: string): boolean {
  return /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i.test(text);
}

/** The creation time in an id (UUIDv7), in milliseconds. */
export function timeOfUuid(id: string): number {
  return Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
}

/** The lowest id of a time: ids that sort before it are older. */
export function lowestUuidAt(milliseconds: number): string {
  const digits = Math.max(0, Math.floor(milliseconds)).toString(16).padStart(12, '0');
  return `${digits.slice(0, 8)}-${digits.slice(8, 12)}-7000-8000-000000000000`;
}

/** The runtime takes 0.3 ms to try one, and most sites have the same. Letters in any case make more spellings than fit. */
const knownTimeZones = new Set<string>();
const maxKnownTimeZones = 1000;

function isTimeZone(text: string): boolean {
  if (knownTimeZones.has(text)) return true;
  // The runtime accepts offsets and abbreviations, which are not IANA names and partly unknown to PostgreSQL.
  if (!/^[A-Za-z]+\/|^UTC$/i.test(text) || text === 'US/Pacific-New') return false;
  try {
    new Intl.DateTimeFormat('en', { timeZone: text });
    if (knownTimeZones.size < maxKnownTimeZones) knownTimeZones.add(text);
    return true;
  } catch {
    return false;
  }
}

/** ISO 4217 codes that the runtime does not list: metals, funds, units of account, no currency. */
const furtherCurrencies =
  'BOV CHE CHW CLF COU MXV USN UYI UYW VED XAD XAG XAU XBA XBB XBC XBD XDR XPD XPT XSU XTS XUA XXX';
const currencies = new Set([...Intl.supportedValuesOf('currency'), ...furtherCurrencies.split(' ')]);

/** 8, 12, 13 or 14 digits are in use. The standard's check digit makes any length from 8 to 14 sound. */
function isGtin(text: string): boolean {
  if (!/^\d{8,14}$/.test(text)) return false;
  const digits = [...text].reverse().map(Number);
  const sum = digits.slice(1).reduce((total, digit, index) => total + digit * (index % 2 === 0 ? 3 : 1), 0);
  return (sum + digits[0]!) % 10 === 0;
}
