// Numbers with their units, as people write them: "ca. 1,20 m", "3 Monate zum Quartalsende".
import type { ThousandsMark } from '../table/cells.ts';

/** Factors of the units that a field accepts, by the end of the field's name. */
const units: readonly [end: RegExp, units: readonly [unit: RegExp, factor: number][]][] = [
  [
    /InCm$/,
    [
      [/^(?:cm|zentimeter|centimetres?)$/, 1],
      [/^(?:m|meter|metres?)$/, 100],
      [/^(?:mm|millimeter)$/, 0.1],
    ],
  ],
  [/InLitres$/, [[/^(?:l|ltr|liter|litres?|liters?)$/, 1]]],
  [
    /InMinutes$/,
    [
      [/^(?:min|minuten?|minutes?|')$/, 1],
      [/^(?:h|std|stunden?|hours?)$/, 60],
    ],
  ],
  [
    /InMonths$/,
    [
      [/^(?:m|mo|mon|mte|monate?n?|months?)$/, 1],
      [/^(?:j|jahre?n?|years?)$/, 12],
    ],
  ],
  [/^quantity$/, [[/^(?:x|st|stk|stck|stück|pflanzen?|pcs|pieces?)$/, 1]]],
  [/(?:Price|Fee)$/, [[/^(?:€|eur|euro|netto)$/, 1]]],
  [/Rate$/, [[/^(?:%|prozent|percent)$/, 1]]],
];

const noticeEnd = /\s+(?:zum|z\.|vor|to the end of)\s.*$/;

/** The number in the field's own unit, with a point. */
export function readMeasure(name: string, text: string, mark: ThousandsMark | undefined): string | undefined {
  const known = units.find(([end]) => end.test(name))?.[1];
  const written = text
    .toLowerCase()
    .replace(/^(?:ca\.?|circa|etwa|ungefähr|rd\.|about|approx\.?|~|≈)\s*/, '');
  const [, digits, unit = ''] =
    /^(\d{1,7}(?:[.,]\d{1,4})?)\s*([^\d\s.]*)\.?$/.exec(written.replace(noticeEnd, '')) ?? [];
  if (digits === undefined || !known) return undefined;
  const factor = unit === '' ? 1 : known.find(([form]) => form.test(unit))?.[1];
  // "1.200" may be thousands.
  if (factor === undefined || (mark && new RegExp(`\\${mark}\\d{3}$`).test(digits))) return undefined;
  return String(Number((Number(digits.replace(',', '.')) * factor).toPrecision(12)));
}
