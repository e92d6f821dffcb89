// The input of a field, chosen by its kind.
import { Select, Switch, Textarea, TextInput } from '@mantine/core';
import { createContext, use } from 'react';
import { useTranslation } from 'react-i18next';
import { type Field, isMoney, titleOf } from '../api/definitions.ts';
import { DayInput } from '../inputs/day-input.tsx';
import { UnitInput } from '../inputs/unit-input.tsx';
import { UnknownItems } from '../records/unknown-items.tsx';
import { toTime } from './form-values.ts';
import { IntervalsEditor } from './intervals-editor.tsx';
import { OpeningHoursEditor } from './opening-hours-editor.tsx';
import { ReferencePicker } from './reference-picker.tsx';

export interface FieldInputProps {
  field: Field;
  value: unknown;
  onChange: (value: unknown) => void;
  error: string | undefined;
  near?: Record<string, string | undefined>;
  currency?: unknown;
}

/** A form over another form has fields of the same names. */
export const IdPrefix = createContext('field');

const autoComplete: Record<string, string> = { email: 'off', phone: 'off' };

export function FieldInput({ field, value, onChange, error, near, currency }: FieldInputProps) {
  const { t } = useTranslation();
  const id = `${use(IdPrefix)}-${field.path.replaceAll('.', '-')}`;
  const common = { id, label: titleOf(field), error, required: isMarked(field) };
  if (field.reference)
    return (
      <ReferencePicker
        {...common}
        resources={field.reference.resources}
        value={typeof value === 'string' && value !== '' ? value : undefined}
        onChange={(id) => onChange(id ?? '')}
        near={near}
      />
    );
  switch (field.kind) {
    case 'choice':
      return (
        <Select
          {...common}
          data={(field.choices ?? []).map((choice) => ({ value: choice.value, label: titleOf(choice) }))}
          value={value === '' ? null : (value as string)}
          onChange={(next) => onChange(next ?? '')}
          placeholder={field.isRequired ? t('form.choose') : t('form.nothing')}
          clearable={!field.isRequired}
          clearButtonProps={{ 'aria-label': t('actions.remove') }}
          allowDeselect={!field.isRequired}
        />
      );
    case 'flag':
      // A value that nobody could read is neither on nor off.
      if (typeof value === 'boolean' && (field.isRequired || field.default !== undefined))
        return (
          <Switch
            {...common}
            required={false}
            checked={value === true}
            onChange={({ currentTarget }) => onChange(currentTarget.checked)}
            my={6}
          />
        );
      return (
        <Select
          {...common}
          data={[
            { value: 'true', label: t('record.yes') },
            { value: 'false', label: t('record.no') },
          ]}
          value={value === undefined || value === '' ? null : String(value)}
          onChange={(next) => onChange(next === null ? undefined : next === 'true')}
          placeholder={t('form.nothing')}
          clearable
          clearButtonProps={{ 'aria-label': t('actions.remove') }}
        />
      );
    case 'date':
      return <DayInput {...common} value={value as string} onChange={onChange} />;
    case 'integer':
    case 'decimal':
    case 'double':
      return (
        <TextInput
          {...common}
          inputMode={field.kind === 'integer' ? 'numeric' : 'decimal'}
          value={value as string}
          rightSection={isMoney(field) ? String(currency || 'EUR') : undefined}
          rightSectionWidth={52}
          rightSectionProps={{ style: { fontSize: '0.8125rem' } }}
          onChange={({ currentTarget }) => onChange(currentTarget.value)}
        />
      );
    case 'list':
      return <ListInput field={field} value={value as unknown[]} onChange={onChange} />;
    default: {
      if (field.format === 'unit-code')
        return <UnitInput {...common} value={String(value ?? '')} onChange={onChange} />;
      const isTime = field.format === 'local-time' || field.format === 'local-end-time';
      const isLong = (field.maxLength ?? 0) >= 150 && field.format === undefined;
      const length = [...String(value ?? '')].length;
      // A code has a length of its own, and nobody has to save characters.
      const isNearEnd =
        field.maxLength !== undefined && field.format === undefined && length > field.maxLength * 0.8;
      const props = {
        ...common,
        value: value as string,
        description: isNearEnd ? t('form.length', { count: length, max: field.maxLength }) : undefined,
        inputWrapperOrder: ['label', 'input', 'error', 'description'] as (
          | 'label'
          | 'input'
          | 'error'
          | 'description'
        )[],
        onChange: ({ currentTarget }: { currentTarget: { value: string } }) => onChange(currentTarget.value),
      };
      return isLong ? (
        <Textarea {...props} autosize minRows={2} maxRows={8} />
      ) : (
        <TextInput
          {...props}
          type={field.format === 'idn-email' ? 'email' : 'text'}
          placeholder={isTime ? '08:00' : undefined}
          onBlur={isTime ? () => onChange(toTime(String(value ?? ''))) : undefined}
          autoComplete={autoComplete[field.name]}
        />
      );
    }
  }
}

/** A text that may be empty is required by the interface, but nobody has to write anything. */
function isMarked(field: Field): boolean {
  return field.isRequired && !field.isBlankAllowed;
}

function ListInput({
  field,
  value,
  onChange,
}: Pick<FieldInputProps, 'field' | 'onChange'> & { value: unknown[] }) {
  if (field.name === 'openingHours') return <OpeningHoursEditor items={value} onChange={onChange} />;
  if (field.name === 'attendingIntervals') return <IntervalsEditor items={value} onChange={onChange} />;
  return <UnknownItems items={value} />;
}
