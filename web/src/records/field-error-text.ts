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
    return i18next.t('fault.choice', { choices: field.choices.map(titleOf).join(', ') });
  }
  if (code === 'type') {
    if (field.kind === 'flag') return i18next.t('fault.flag');
    if (['integer', 'decimal', 'double'].includes(field.kind)) return i18next.t('fault.number');
    if (field.kind === 'date') return i18next.t('fault.day');
    if (field.kind === 'list') return i18next.t('fault.list');
    if (field.kind !== 'group') return i18next.t('fault.text');
  }
  if (code === 'invalid_date') return i18next.t('fault.day');
  if (code === 'reference_not_found') return i18next.t('fault.reference');
  return message;
}
