import { Group, SegmentedControl, Select, TextInput } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { ClearFilters } from '../inputs/clear-filters.tsx';
import classes from './requests.module.css';
import { type Filters, filterNames } from './requests.ts';

interface RequestFiltersProps {
  filters: Filters;
  onChange: (filters: Filters) => void;
}

const states = ['ok', 'refused', 'open', 'done', 'failed'] as const;

export function RequestFilters({ filters, onChange }: RequestFiltersProps) {
  const { t } = useTranslation();
  const choices = states.map((value) => ({ value, label: t(`requests.states.${value}`) }));
  const nothing = Object.fromEntries(filterNames.map((name) => [name, undefined]));
  return (
    <Group gap="xs" mb="sm" align="flex-end" role="search" aria-label={t('table.filters')}>
      <SegmentedControl
        visibleFrom="sm"
        aria-label={t('requests.status')}
        value={filters.status ?? ''}
        onChange={(status) => onChange({ status: status || undefined })}
        data={[{ value: '', label: t('attention.all') }, ...choices]}
      />
      <Select
        hiddenFrom="sm"
        className={classes.textFilter}
        aria-label={t('requests.status')}
        placeholder={t('requests.status')}
        clearable
        clearButtonProps={{ 'aria-label': t('actions.remove') }}
        data={choices}
        value={filters.status ?? null}
        onChange={(status) => onChange({ status: status ?? undefined })}
      />
      <Select
        w={120}
        aria-label={t('requests.method')}
        placeholder={t('requests.method')}
        clearable
        clearButtonProps={{ 'aria-label': t('actions.remove') }}
        data={['GET', 'POST', 'PUT', 'PATCH', 'DELETE']}
        value={filters.method ?? null}
        onChange={(method) => onChange({ method: method ?? undefined })}
      />
      {(['path', 'field', 'code'] as const).map((name) => (
        <TextFilter
          key={name}
          label={t(`requests.${name}`)}
          value={filters[name] ?? ''}
          onChange={(value) => onChange({ [name]: value || undefined })}
        />
      ))}
      {filterNames.some((name) => filters[name]) && <ClearFilters onClear={() => onChange(nothing)} />}
    </Group>
  );
}

interface TextFilterProps {
  label: string;
  value: string;
  onChange: (value: string) => void;
}

function TextFilter({ label, value, onChange }: TextFilterProps) {
  const [text, setText] = useState(value);
  const changeLater = useDebouncedCallback((next: string) => onChange(next.trim()), 300);
  // A group of errors that was chosen fills the filters, too.
  useEffect(() => setText(value), [value]);
  return (
    <TextInput
      className={classes.textFilter}
      aria-label={label}
      placeholder={label}
      value={text}
      onChange={({ currentTarget }) => {
        setText(currentTarget.value);
        changeLater(currentTarget.value);
      }}
    />
  );
}
