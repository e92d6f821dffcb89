// Cells as spreadsheets take them.
import { guardText, toCsvLine } from '../../../core/table/csv/csv.ts';
import { writeList } from '../../../core/table/list-text.ts';
import { type Definition, type Entity, type Field, labelOf, valueAt } from '../api/definitions.ts';
import type { Named } from '../api/named.ts';
import { plainText } from '../records/value.tsx';
import { addressText } from '../tables/columns.ts';
import { decimalSeparator, formatDay, formatTime } from '../texts/format.ts';
import { currentLanguage } from '../texts/language.ts';
import { fieldsOf } from './cell-edit.ts';

/** The object of an id, if its name has been loaded. */
export type NameOf = (resources: readonly string[], id: string) => Named | null | undefined;

const yesAndNo = { de: ['ja', 'nein'], en: ['yes', 'no'] } as const;

/** A text that pasting reads back as the same value. */
export function cellText(definition: Definition, entity: Entity, column: string, nameOf: NameOf): string {
  const fields = fieldsOf(definition, column);
  const value = valueAt(entity, column);
  if (value === undefined) return '';
  if (fields.length === 1) return fieldText(fields[0]!, value, nameOf);
  return fields.length > 0 ? addressText(value) : formatTime(String(value));
}

function fieldText(field: Field, value: unknown, nameOf: NameOf): string {
  if (field.reference) {
    const named = nameOf(field.reference.resources, String(value));
    return named ? labelOf(named.definition, named.entity) : String(value);
  }
  switch (field.kind) {
    case 'flag':
      return yesAndNo[currentLanguage()][value ? 0 : 1];
    case 'integer':
    case 'decimal':
    case 'double':
      return String(value).replace('.', decimalSeparator());
    case 'date':
      return formatDay(String(value), { day: '2-digit', month: '2-digit', year: 'numeric' });
    case 'list':
      return Array.isArray(value)
        ? writeList(field.knownItem, value, JSON.stringify(value), currentLanguage())
        : '';
    default:
      return plainText(field, value);
  }
}

/** A phone number begins with a plus and is no formula. */
const looksLikePhone = /^\+[\d\s()/.-]+$/;

export interface Copied {
  plain: string;
  html: string;
}

/** `isText` says which columns a spreadsheet must not turn into numbers: it would eat zeros. */
export function writeCells(
  rows: readonly (readonly string[])[],
  isText: (column: number) => boolean,
): Copied {
  const plain = rows
    .map((row) =>
      toCsvLine(
        row.map((text) => (text === '' ? null : guarded(text))),
        '\t',
      ),
    )
    .join('');
  const cell = (text: string, column: number) =>
    `<td${isText(column) ? ` style="mso-number-format:'\\@'"` : ''}>${escapeHtml(text)}</td>`;
  const html = `<table>${rows.map((row) => `<tr>${row.map(cell).join('')}</tr>`).join('')}</table>`;
  return { plain: plain.replace(/\r\n$/, ''), html };
}

function guarded(text: string): string {
  return looksLikePhone.test(text) ? text : guardText(text);
}

function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll('\n', '<br>');
}
