// What is wrong with a field, for people who have never seen JSON. The service's sentence stands where it says enough.
import i18next from 'i18next';
import { type Field, titleOf } from '../api/definitions.ts';

export interface FieldError {
  code?: string;
  message: string;
}

export function fieldErrorText(field: Field | undefined, { code, message }: FieldError): string {
  if (!field) return message;
  if (code === 'invalid_choice' && field.choices) {
    return i18next.t('fieldError.choice', { choices: field.choices.map(titleOf).join(', ') });
  }
  if (code === 'type') {
    if (field.kind === 'flag') return i18next.t('fieldError.flag');
    if (['integer', 'decimal', 'double'].includes(field.kind)) return i18next.t('fieldError.number');
    if (field.kind === 'date') return i18next.t('fieldError.day');
    if (field.kind === 'list') return i18next.t('fieldError.list');
    if (field.kind !== 'group') return i18next.t('fieldError.text');
  }
  if (code === 'invalid_date') return i18next.t('fieldError.day');
  if (code === 'reference_not_found') return i18next.t('fieldError.reference');
  return message;
}
