// Values on and just beyond the limits that a schema declares, and others that break limits which it does not declare.
import { randomUUID } from 'node:crypto';

export interface Schema {
  type?: string | string[];
  enum?: unknown[];
  format?: string;
  pattern?: string;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
  items?: Schema;
  examples?: unknown[];
  description?: string;
}

const longText = 3000;

/** A text of this length in each format that has a longest one. */
const formatted: Record<string, (length: number) => string> = {
  'idn-email': (length) => `${'a'.repeat(length - 4)}@b.c`,
};

const ofFormats: Record<string, string[]> = {
  uuid: [randomUUID().toUpperCase(), randomUUID().slice(1)],
  date: ['0001-01-01', '9999-12-31', '2026-02-30', '2026-1-1'],
  'date-time': ['2026-11-18T08:00:00Z', '2026-11-18T08:00:00', '2026-11-18'],
  'idn-email': ['a@b.c', 'a@b@c'],
  'time-zone': ['Europe/Berlin', 'Berlin'],
  gtin: ['4006381333931', '4006381333932'],
  currency: ['EUR', 'eur'],
  'unit-code': ['H87', 'h87'],
};

export function probesOf(schema: Schema): unknown[] {
  const types = [schema.type ?? []].flat();
  return types.flatMap((type): unknown[] => {
    switch (type) {
      case 'string':
        return textsOf(schema);
      case 'integer':
      case 'number':
        return numbersOf(schema, type === 'integer');
      case 'array':
        return listsOf(schema);
      case 'boolean':
        return [true, false];
      default:
        return [];
    }
  });
}

function textsOf({ enum: choices, format, minLength, maxLength, examples = [] }: Schema): string[] {
  const ofLength = formatted[format ?? ''] ?? ((length: number) => 'a'.repeat(length));
  const [least, most] = [minLength ?? 0, maxLength ?? longText];
  const long = [most - 1, most, ...(maxLength === undefined ? [] : [most + 1])].map(ofLength);
  const short = minLength === undefined ? [] : [least - 1, least].map((length) => 'a'.repeat(length));
  const texts = [...long, ...short, ...(ofFormats[format ?? ''] ?? []), '', ' ', 'ä', '%_\'"<>', 'NO_CHOICE'];
  return [...texts, ...((choices ?? examples) as string[])].filter((text) => typeof text === 'string');
}

function numbersOf({ minimum, maximum }: Schema, isInteger: boolean): number[] {
  const step = isInteger ? 1 : 0.001;
  const low = minimum === undefined ? [-1_000_000_000] : [minimum - step, minimum];
  const high = maximum === undefined ? [Number.MAX_SAFE_INTEGER] : [maximum, maximum + step];
  return [...low, ...high, (minimum ?? 0) + 0.5].filter(
    (number) => Math.abs(number) <= Number.MAX_SAFE_INTEGER,
  );
}

/** Lists of each item alone, and as long as they may be. */
function listsOf({ items = {}, minItems = 0, maxItems, examples = [] }: Schema): unknown[][] {
  const names = (examples as unknown[][]).flat();
  const isName = items.type === 'string' && !items.enum && !items.format && items.minLength === undefined;
  const each = (isName ? names : probesOf(items)).filter((item) => !/^$|,/.test(String(item)));
  const sample = items.enum?.[0] ?? names[0] ?? each[0] ?? {};
  const lengths = [minItems, maxItems ?? 150, ...(maxItems === undefined ? [] : [maxItems + 1])];
  return [[], ...each.map((item) => [item]), ...lengths.map((length) => Array(length).fill(sample))];
}
