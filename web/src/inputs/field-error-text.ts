// An invalid field in the words and formats of the page. The service's own sentences are for programs.
import i18next from 'i18next';
import { type Definition, type Field, leavesOf, titleOf } from '../api/definitions.ts';
import { formatNumber } from '../texts/format.ts';

export interface FieldError {
  code?: string;
  message: string;
  params?: Record<string, unknown>;
}

/** `definition` knows the titles of other fields that an error names. */
export function fieldErrorText(
  field: Field | undefined,
  error: FieldError,
  definition?: Pick<Definition, 'fields'>,
): string {
  if (!field) return error.message;
  const { code = '', params = {} } = error;
  const t = i18next.t;
  const titlesOf = (names: unknown) =>
    [names ?? []].flat().map((name) => otherTitle(String(name), definition));
  switch (code) {
    case 'required':
      return t(isChosen(field) ? 'fieldError.requiredChoice' : 'fieldError.required');
    case 'blank':
      return t('fieldError.required');
    case 'required_one_of':
      return t('fieldError.oneOf', { fields: titlesOf(params.fields).join(', ') });
    case 'ambiguous':
      return t('fieldError.ambiguous', { other: titlesOf(params.other)[0] });
    case 'date_order':
      return t('fieldError.dateOrder', { other: titlesOf(params.other)[0] });
    case 'type':
      return typeText(field);
    case 'too_long':
      return t('fieldError.tooLong', { max: written(params.max ?? field.maxLength) });
    case 'too_short':
      return t('fieldError.tooShort', { min: written(params.min) });
    case 'too_small':
      return t('fieldError.tooSmall', { min: written(params.min ?? field.minimum) });
    case 'too_large':
      return t('fieldError.tooLarge', { max: written(params.max ?? field.maximum) });
    case 'out_of_range':
      return t('fieldError.range', {
        min: written(params.min ?? field.minimum),
        max: written(params.max ?? field.maximum),
      });
    case 'too_many_items':
      return t('fieldError.tooManyItems', { max: written(params.max ?? field.maxItems) });
    case 'too_precise':
      return t('fieldError.tooPrecise', { max: written(params.max) });
    case 'number_out_of_range':
      return t('fieldError.numberRange');
    case 'invalid_choice':
      return field.choices
        ? t('fieldError.choice', { choices: field.choices.map(titleOf).join(', ') })
        : t('fieldError.other');
    case 'invalid_date':
    case 'invalid_timestamp':
      return t('fieldError.day');
    case 'invalid_time':
      return t('fieldError.time');
    case 'invalid_email':
      return t('fieldError.email');
    case 'invalid_time_zone':
      return t('fieldError.timeZone');
    case 'invalid_gtin':
      return t('fieldError.gtin');
    case 'invalid_currency':
      return t('fieldError.currency');
    case 'invalid_unit_code':
      return t('fieldError.unitCode');
    case 'invalid_text':
    case 'not_printable':
      return t('fieldError.characters');
    case 'invalid_uuid':
    case 'reference_not_found':
      return t('fieldError.reference');
    default:
      return t('fieldError.other');
  }
}

function isChosen({ kind, reference }: Field): boolean {
  return reference !== undefined || kind === 'choice' || kind === 'flag';
}

function typeText(field: Field): string {
  if (field.reference) return i18next.t('fieldError.reference');
  switch (field.kind) {
    case 'flag':
      return i18next.t('fieldError.flag');
    case 'integer':
      return i18next.t('fieldError.wholeNumber');
    case 'decimal':
    case 'double':
      return i18next.t('fieldError.number');
    case 'date':
      return i18next.t('fieldError.day');
    case 'list':
      return i18next.t('fieldError.list');
    case 'group':
      return i18next.t('fieldError.other');
    default:
      return i18next.t('fieldError.text');
  }
}

function written(limit: unknown): string {
  return typeof limit === 'number' ? formatNumber(limit) : '…';
}

function otherTitle(name: string, definition: Pick<Definition, 'fields'> | undefined): string {
  const fields = definition?.fields ?? [];
  const other = [...leavesOf(fields), ...fields].find(({ path }) => path === name);
  return other ? titleOf(other) : i18next.t('fieldError.otherField');
}
