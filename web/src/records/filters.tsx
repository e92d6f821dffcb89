// The filters of a table, as the resource's definition names them.
import { Badge, Button, CloseButton, Drawer, Group, Select, Stack, TextInput } from '@mantine/core';
import { useDebouncedCallback, useDisclosure } from '@mantine/hooks';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { type Definition, type Field, labelOf, leavesOf, titleOf } from '../api/definitions.ts';
import { useNamed } from '../api/named.ts';
import { Icon } from '../icons.tsx';
import { ReferencePicker } from './reference-picker.tsx';
import { plainText } from './value.tsx';

export type Filters = Record<string, string>;

interface FilterProps {
  definition: Definition;
  filters: Filters;
  onChange: (name: string, value: string | undefined) => void;
}

/** The filters with the fields that they look at, those that people use most first. */
export function filterFieldsOf(definition: Definition): { name: string; field: Field }[] {
  const fields = new Map(leavesOf(definition.fields).map((field) => [field.path, field]));
  const rank = ({ field }: { field: Field }) =>
    ['choice', 'flag', 'uuid', 'text'].indexOf(field.kind) + (field.name === 'externalId' ? 10 : 0);
  return definition.filters
    .flatMap(({ name, path }) => {
      const field = fields.get(path);
      return field ? [{ name, field }] : [];
    })
    .sort((one, other) => rank(one) - rank(other));
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
          {filterFieldsOf(definition).map(({ name, field }) => (
            <FilterInput
              key={name}
              field={field}
              value={filters[name]}
              onChange={(value) => onChange(name, value)}
            />
          ))}
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
  const [text, setText] = useState(value ?? '');
  const changeLater = useDebouncedCallback((next: string) => onChange(next.trim() || undefined), 300);
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
  if (field.kind === 'choice' || field.kind === 'flag') {
    const data =
      field.kind === 'flag'
        ? [
            { value: 'true', label: t('table.yes') },
            { value: 'false', label: t('table.no') },
          ]
        : (field.choices ?? []).map((choice) => ({ value: choice.value, label: titleOf(choice) }));
    return (
      <Select
        label={label}
        data={data}
        value={value ?? null}
        onChange={(next) => onChange(next ?? undefined)}
        placeholder={t('table.any')}
        clearable
        clearButtonProps={{ 'aria-label': t('actions.remove') }}
      />
    );
  }
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

/** What is filtered by at present, each with a way to take it away. */
export function ActiveFilters({ definition, filters, onChange }: FilterProps) {
  const { t } = useTranslation();
  const active = filterFieldsOf(definition).filter(({ name }) => filters[name] !== undefined);
  if (active.length === 0) return null;
  return (
    <Group gap="xs">
      {active.map(({ name, field }) => (
        <Badge
          key={name}
          size="lg"
          radius="md"
          rightSection={
            <CloseButton
              size="xs"
              c="inherit"
              aria-label={`${t('actions.remove')}: ${titleOf(field)}`}
              onClick={() => onChange(name, undefined)}
            />
          }
        >
          {titleOf(field)}: <FilterText field={field} value={filters[name]!} />
        </Badge>
      ))}
      {active.length > 1 && (
        <Button
          size="compact-sm"
          variant="subtle"
          onClick={() => {
            for (const { name } of active) onChange(name, undefined);
          }}
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
  return plainText(field, value);
}
