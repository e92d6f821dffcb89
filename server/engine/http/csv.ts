// Cells of an export as spreadsheets in the two languages expect them.
import { guardText, type Separator } from '../../../core/csv.ts';
import type { Language } from '../../messages.ts';
import type { FieldKind } from '../definition/fields.ts';

/** A spreadsheet with a decimal comma expects semicolons between cells. */
export const separators: Record<Language, Separator> = { en: ',', de: ';' };

export const flagWords: Record<Language, { true: string; false: string }> = {
  en: { true: 'yes', false: 'no' },
  de: { true: 'ja', false: 'nein' },
};

/** A value as PostgreSQL writes it as text, or null for none, as people write it. */
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
