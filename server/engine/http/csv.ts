// Formats export cells for German and English spreadsheets.
import { guardText, type Separator } from '../../../core/table/csv/csv.ts';
import type { Language } from '../../messages.ts';
import type { FieldKind } from '../definition/fields.ts';

/** A spreadsheet with a decimal comma expects semicolons between cells. */
export const separators: Record<Language, Separator> = { en: ',', de: ';' };

export const flagWords: Record<Language, { true: string; false: string }> = {
  en: { true: 'yes', false: 'no' },
  de: { true: 'ja', false: 'nein' },
};

/** Formats a value that PostgreSQL has written as text; null is no value. */
export function toCell(kind: FieldKind, value: string | null, language: Language): string | null {
  if (value === null) return null;
  switch (kind) {
    case 'integer':
    case 'decimal':
    case 'double':
      return language === 'de' ? value.replace('.', ',') : value;
    case 'flag':
      return flagWords[language][value as 'true' | 'false'];
    default:
      return guardText(value);
  }
}
