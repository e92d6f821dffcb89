// The inputs of a table's filters, loaded when somebody opens them.
import { Button, Drawer, Group, MultiSelect, Select, Stack, TextInput } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { type Field, titleOf } from '../api/definitions.ts';
import { parseNumber } from '../forms/form-values.ts';
import { ReferencePicker } from '../forms/reference-picker.tsx';
import { DayInput } from '../inputs/day-input.tsx';
import { decimalSeparator, isBefore, isDay } from '../texts/format.ts';
import { type FilterField, type FilterProps, filterFieldsOf } from './filter-fields.ts';

interface FilterDrawerProps extends FilterProps {
  isOpen: boolean;
  onClose: () => void;
}

export function FilterDrawer({ definition, filters, onChange, isOpen, onClose }: FilterDrawerProps) {
  const { t } = useTranslation();
  return (
    <Drawer
      opened={isOpen}
      onClose={onClose}
      position="right"
      size="sm"
      title={t('table.filters')}
      closeButtonProps={{ 'aria-label': t('actions.close') }}
    >
      <Stack gap="sm">
        {filterFieldsOf(definition).map((filter) =>
          filter.kind === 'range' ? (
            <RangeInputs key={filter.name} filter={filter} filters={filters} onChange={onChange} />
          ) : (
            <FilterInput
              key={filter.name}
              field={filter.field}
              value={filters[filter.name]}
              onChange={(value) => onChange({ [filter.name]: value })}
            />
          ),
        )}
        <PresenceInputs definition={definition} filters={filters} onChange={onChange} />
        <Button onClick={onClose} mt="sm">
          {t('table.showFound')}
        </Button>
      </Stack>
    </Drawer>
  );
}

interface FilterInputProps {
  field: Field;
  value: string | undefined;
  onChange: (value: string | undefined) => void;
}

function FilterInput({ field, value, onChange }: FilterInputProps) {
  const { t } = useTranslation();
  const label = titleOf(field);
  if (field.reference)
    return (
      <ReferencePicker
        resources={field.reference.resources}
        label={label}
        value={value}
        onChange={onChange}
      />
    );
  if (field.kind === 'choice')
    return (
      <SeveralInput
        label={label}
        data={(field.choices ?? []).map((choice) => ({ value: choice.value, label: titleOf(choice) }))}
        placeholder={t('table.any')}
        value={value}
        onChange={onChange}
      />
    );
  if (field.kind === 'flag')
    return (
      <Select
        label={label}
        data={[
          { value: 'true', label: t('table.yes') },
          { value: 'false', label: t('table.no') },
        ]}
        value={value ?? null}
        onChange={(next) => onChange(next ?? undefined)}
        placeholder={t('table.any')}
        clearable
        clearButtonProps={{ 'aria-label': t('actions.remove') }}
      />
    );
  return <TypedInput label={label} value={value} onChange={onChange} />;
}

interface TypedInputProps {
  label: string;
  value: string | undefined;
  onChange: (value: string | undefined) => void;
}

function TypedInput({ label, value, onChange }: TypedInputProps) {
  const [text, setText] = useState(value ?? '');
  const changeLater = useDebouncedCallback((next: string) => onChange(next.trim() || undefined), 300);
  return (
    <TextInput
      label={label}
      value={text}
      onChange={({ currentTarget }) => {
        setText(currentTarget.value);
        changeLater(currentTarget.value);
      }}
    />
  );
}

interface SeveralInputProps extends TypedInputProps {
  data: { value: string; label: string }[];
  placeholder: string;
}

function SeveralInput({ label, data, placeholder, value, onChange }: SeveralInputProps) {
  const { t } = useTranslation();
  return (
    <MultiSelect
      label={label}
      data={data}
      value={value?.split(',') ?? []}
      onChange={(next) => onChange(next.length > 0 ? next.join(',') : undefined)}
      placeholder={value === undefined ? placeholder : undefined}
      clearable
      clearButtonProps={{ 'aria-label': t('actions.remove') }}
    />
  );
}

function RangeInputs({
  filter: { name, field },
  filters,
  onChange,
}: Omit<FilterProps, 'definition'> & { filter: FilterField }) {
  const { t } = useTranslation();
  return (
    <Group grow gap="xs" align="flex-start">
      {(['From', 'Until'] as const).map((end) => {
        const label = t(`table.range${end}`, { title: titleOf(field) });
        const parameter = `${name}${end}`;
        const change = (value: string | undefined) => onChange({ [parameter]: value });
        return field.kind === 'date' ? (
          <DayBound
            key={end}
            label={label}
            value={filters[parameter]}
            error={
              end === 'Until' && isBefore(filters[parameter], filters[`${name}From`])
                ? t('fieldError.dateOrder', { other: t('table.rangeFrom', { title: titleOf(field) }) })
                : undefined
            }
            onChange={change}
          />
        ) : (
          <NumberBound key={end} label={label} value={filters[parameter]} onChange={change} />
        );
      })}
    </Group>
  );
}

/** An incomplete day is not asked for. */
function DayBound({ label, value, error, onChange }: TypedInputProps & { error: string | undefined }) {
  const [typed, setTyped] = useState(value ?? '');
  return (
    <DayInput
      label={label}
      value={typed}
      error={error}
      onChange={(next) => {
        setTyped(next);
        if (next === '' || isDay(next)) onChange(next || undefined);
      }}
    />
  );
}

function NumberBound({ label, value, onChange }: TypedInputProps) {
  const { t } = useTranslation();
  const separator = decimalSeparator();
  const [typed, setTyped] = useState(value?.replace('.', separator) ?? '');
  const number = parseNumber(typed, separator);
  const isInvalid = typed.trim() !== '' && (number === undefined || number.startsWith('-'));
  return (
    <TextInput
      label={label}
      inputMode="decimal"
      value={typed}
      error={isInvalid && t('form.number')}
      onChange={({ currentTarget }) => {
        const next = currentTarget.value;
        setTyped(next);
        const read = parseNumber(next, separator);
        if (next.trim() === '') onChange(undefined);
        else if (read !== undefined && !read.startsWith('-')) onChange(read);
      }}
    />
  );
}

function PresenceInputs({ definition, filters, onChange }: FilterProps) {
  const { t } = useTranslation();
  const data = filterFieldsOf(definition)
    .filter(({ name }) => definition.emptiable.includes(name))
    .map(({ name, field }) => ({ value: name, label: titleOf(field) }));
  if (data.length === 0) return null;
  return (['empty', 'filled'] as const).map((name) => (
    <SeveralInput
      key={name}
      label={t(name === 'empty' ? 'table.isEmpty' : 'table.isFilled')}
      data={data}
      placeholder={t('form.choose')}
      value={filters[name]}
      onChange={(value) => onChange({ [name]: value })}
    />
  ));
}
