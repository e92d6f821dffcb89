// The filters of a table, as the resource's definition names them.
import {
  Badge,
  Button,
  CloseButton,
  Drawer,
  Group,
  MultiSelect,
  Select,
  Stack,
  TextInput,
} from '@mantine/core';
import { useDebouncedCallback, useDisclosure } from '@mantine/hooks';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { ListFilter } from '../../../core/definition.ts';
import { type Definition, type Field, labelOf, leavesOf, titleOf } from '../api/definitions.ts';
import { useNamed } from '../api/named.ts';
import { DayInput } from '../frame/day-input.tsx';
import { Icon } from '../icons.tsx';
import { decimalSeparator, formatNumber, isDay } from '../texts/format.ts';
import { parseNumber } from './form-values.ts';
import { ReferencePicker } from './reference-picker.tsx';
import { plainText } from './value.tsx';

/** By the name of the parameter. */
export type Filters = Record<string, string>;

interface FilterProps {
  definition: Definition;
  filters: Filters;
  onChange: (changes: Record<string, string | undefined>) => void;
}

interface FilterField extends ListFilter {
  field: Field;
}

/** The filters with the fields that they look at, those that people use most first. */
function filterFieldsOf(definition: Definition): FilterField[] {
  const fields = new Map(leavesOf(definition.fields).map((field) => [field.path, field]));
  const rank = ({ field }: FilterField) =>
    ['choice', 'flag', 'uuid', 'date', 'decimal', 'text'].indexOf(field.kind) +
    (field.name === 'externalId' ? 10 : 0);
  return definition.filters
    .flatMap((filter) => {
      const field = fields.get(filter.path);
      return field ? [{ ...filter, field }] : [];
    })
    .sort((one, other) => rank(one) - rank(other));
}

/** The parameters of a table's address that filter. */
export function filterParametersOf(definition: Definition): string[] {
  const names = definition.filters.flatMap(({ name, kind }) =>
    kind === 'range' ? [`${name}From`, `${name}Until`] : [name],
  );
  return [...names, 'empty', 'filled'];
}

/** Filters that a new record has to meet: one value each. */
export function singleValuesOf(definition: Definition, filters: Filters): Filters {
  return Object.fromEntries(
    definition.filters.flatMap(({ name, kind }) => {
      const value = filters[name];
      return value === undefined || (kind === 'several' && value.includes(',')) ? [] : [[name, value]];
    }),
  );
}

export function FilterMenu({ definition, filters, onChange }: FilterProps) {
  const { t } = useTranslation();
  const [isOpen, { open, close }] = useDisclosure();
  const count = Object.keys(filters).length;
  return (
    <>
      <Button
        variant="default"
        leftSection={<Icon name="filter" size={16} />}
        rightSection={count > 0 ? <Badge circle>{count}</Badge> : undefined}
        onClick={open}
      >
        {t('table.filters')}
      </Button>
      <Drawer
        opened={isOpen}
        onClose={close}
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
          <Button onClick={close} mt="sm">
            {t('table.showFound')}
          </Button>
        </Stack>
      </Drawer>
    </>
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
    <Group grow gap="xs" align="flex-end">
      {(['From', 'Until'] as const).map((end) => {
        const label = t(`table.range${end}`, { title: titleOf(field) });
        const parameter = `${name}${end}`;
        const change = (value: string | undefined) => onChange({ [parameter]: value });
        return field.kind === 'date' ? (
          <DayBound key={end} label={label} value={filters[parameter]} onChange={change} />
        ) : (
          <NumberBound key={end} label={label} value={filters[parameter]} onChange={change} />
        );
      })}
    </Group>
  );
}

/** What is no day yet is not asked for. */
function DayBound({ label, value, onChange }: TypedInputProps) {
  const [typed, setTyped] = useState(value ?? '');
  return (
    <DayInput
      label={label}
      value={typed}
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
  const isFaulty = typed.trim() !== '' && (number === undefined || number.startsWith('-'));
  return (
    <TextInput
      label={label}
      inputMode="decimal"
      value={typed}
      error={isFaulty && t('form.number')}
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

interface ActiveFilter {
  parameter: string;
  title: string;
  field?: Field;
  value: string;
}

function activeFiltersOf(
  definition: Definition,
  filters: Filters,
  t: (key: string, values: object) => string,
) {
  const fields = filterFieldsOf(definition);
  const titles = new Map(fields.map(({ name, field }) => [name, titleOf(field)]));
  return filterParametersOf(definition).flatMap((parameter): ActiveFilter[] => {
    const value = filters[parameter];
    if (value === undefined) return [];
    if (parameter === 'empty' || parameter === 'filled') {
      const names = value.split(',').map((name) => titles.get(name) ?? name);
      return [
        {
          parameter,
          title: t(parameter === 'empty' ? 'table.isEmpty' : 'table.isFilled', {}),
          value: names.join(', '),
        },
      ];
    }
    const end = /^(.+)(From|Until)$/.exec(parameter);
    const found = fields.find(({ name, kind }) =>
      kind === 'range' ? name === end?.[1] : name === parameter,
    );
    if (!found) return [];
    const { field } = found;
    const title =
      found.kind === 'range' ? t(`table.range${end![2]}`, { title: titleOf(field) }) : titleOf(field);
    return [{ parameter, title, field, value }];
  });
}

/** What is filtered by at present, each with a way to take it away. */
export function ActiveFilters({ definition, filters, onChange }: FilterProps) {
  const { t } = useTranslation();
  const active = activeFiltersOf(definition, filters, t as (key: string, values: object) => string);
  if (active.length === 0) return null;
  return (
    <Group gap="xs">
      {active.map(({ parameter, title, field, value }) => (
        <Badge
          key={parameter}
          size="lg"
          radius="md"
          rightSection={
            <CloseButton
              size="xs"
              c="inherit"
              aria-label={`${t('actions.remove')}: ${title}`}
              onClick={() => onChange({ [parameter]: undefined })}
            />
          }
        >
          {title}: {field ? <FilterText field={field} value={value} /> : value}
        </Badge>
      ))}
      {active.length > 1 && (
        <Button
          size="compact-sm"
          variant="subtle"
          onClick={() => onChange(Object.fromEntries(active.map(({ parameter }) => [parameter, undefined])))}
        >
          {t('table.clear')}
        </Button>
      )}
    </Group>
  );
}

function FilterText({ field, value }: { field: Field; value: string }) {
  const { t } = useTranslation();
  const { data: named } = useNamed(field.reference?.resources ?? [], field.reference ? value : undefined);
  if (named) return labelOf(named.definition, named.entity);
  if (field.kind === 'flag') return value === 'true' ? t('table.yes') : t('table.no');
  if (field.kind === 'choice')
    return value
      .split(',')
      .map((choice) => plainText(field, choice))
      .join(', ');
  if (field.kind === 'decimal') return formatNumber(Number(value));
  return plainText(field, value);
}
