// The small facts of an audit entry, in the office's words.
import type { TFunction } from 'i18next';
import { holidayRules } from '../../../../core/calendar/visit-plan.ts';
import { type Definition, pluralOf, titleOf } from '../../api/definitions.ts';
import { roles } from '../../api/session.ts';
import { formatTime } from '../../texts/format.ts';
import type { AuditEntry } from './audit.ts';

type Details = Record<string, unknown>;

/** The stored name of a key is in English. */
export function subjectText({ event, subject }: AuditEntry, t: TFunction): string | undefined {
  if (!subject) return undefined;
  return event.startsWith('KEY_') ? keyText(subject, t) : subject;
}

function keyText(stored: string, t: TFunction): string {
  return t('audit.key', { ending: stored.replace(/^key /, '') });
}

const knownDetails = [
  'businessName',
  'collection',
  'count',
  'createdAt',
  'email',
  'fields',
  'filters',
  'format',
  'holidayRule',
  'left',
  'method',
  'name',
  'passkey',
  'paused',
  'reason',
  'redactedRecords',
  'replaced',
  'requiresPasskeys',
  'resentSince',
  'resource',
  'role',
  'secret',
  'stamm',
  'startAddress',
] as const;
const methods = ['passkey', 'password and passkey', 'password and recovery code'] as const;
const reasons = ['passkey_refused', 'recovery_code_wrong'] as const;
type KnownDetail = (typeof knownDetails)[number];

const isOneOf = <Choice extends string>(choices: readonly Choice[], value: string): value is Choice =>
  (choices as readonly string[]).includes(value);
const isKnown = (name: string): name is KnownDetail => isOneOf(knownDetails, name);

/** Describes each detail in one line. A detail of another version of the service keeps its own name. */
export function describeDetails(
  details: Details,
  definitions: readonly Definition[],
  t: TFunction,
): string[] {
  return Object.entries(details).flatMap(([name, value]) => {
    if (value === null || (Array.isArray(value) && value.length === 0)) return [];
    const label = isKnown(name) ? t(`audit.details.${name}`) : name;
    const write = (one: unknown) => written(name, one);
    const { from, to } = value as { from?: unknown; to?: unknown };
    const isChange = from !== undefined && to !== undefined;
    return [`${label}: ${isChange ? `${write(from)} → ${write(to)}` : write(value)}`];
  });

  function written(name: string, value: unknown): string {
    if (Array.isArray(value)) return value.map((one) => written(name, one)).join(', ');
    if (typeof value === 'boolean') return t(value ? 'record.yes' : 'record.no');
    if (typeof value === 'object') return JSON.stringify(value);
    const text = String(value);
    return wordFor(name, text) ?? text;
  }

  function wordFor(name: string, value: string): string | undefined {
    switch (name) {
      case 'role':
        return isOneOf(roles, value) ? t(`roles.${value}`) : undefined;
      case 'collection': {
        const definition = definitions.find(({ collection }) => collection === value);
        return definition ? pluralOf(definition) : value === 'audit' ? t('audit.title') : undefined;
      }
      case 'resource': {
        const definition = definitions.find((one) => one.name === value);
        return definition && titleOf(definition);
      }
      case 'filters': {
        const { fields = [] } = definitions.find(({ collection }) => collection === details.collection) ?? {};
        const field = fields.find((one) => one.name === value);
        return field && titleOf(field);
      }
      case 'fields':
        return isKnown(value) ? t(`audit.details.${value}`) : undefined;
      case 'holidayRule':
        return isOneOf(holidayRules, value) ? t(`visits.rules.${value}`) : undefined;
      case 'method':
        return isOneOf(methods, value) ? t(`audit.methods.${value}`) : undefined;
      case 'reason':
        return isOneOf(reasons, value) ? t(`audit.reasons.${value}`) : undefined;
      case 'replaced':
        return keyText(value, t);
      case 'secret':
        return value === 'replaced' ? t('audit.secretReplaced') : undefined;
      case 'createdAt':
      case 'resentSince':
        return formatTime(value);
      default:
        return undefined;
    }
  }
}
