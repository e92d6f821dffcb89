// Chooses another object by searching for it; nobody types an id.
import { Group, Loader, Select, Stack, Text } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useQueries } from '@tanstack/react-query';
import { type ComponentType, createContext, Suspense, use, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { type Definition, hintOf, labelOf, nounOf, pluralOf, useDefinitions } from '../api/definitions.ts';
import { useNamed } from '../api/named.ts';
import { fewQuery } from '../api/records.ts';
import { useMayEdit } from '../api/session.ts';
import { Icon } from '../icons.tsx';

interface ReferencePickerProps {
  resources: readonly string[];
  value: string | undefined;
  onChange: (id: string | undefined) => void;
  label?: string;
  'aria-label'?: string;
  id?: string;
  description?: string;
  error?: string;
  required?: boolean;
  /** Restricts what is offered before anything is typed, such as to persons of the chosen customer. */
  near?: Record<string, string | undefined>;
  /** Text that is searched for before anything is typed, and the name of a new object. */
  suggested?: string;
}

export interface CreationDialogProps {
  definition: Definition;
  /** Text that was typed into the picker. */
  name: string;
  near: Record<string, string | undefined>;
  onCreated: (id: string) => void;
  onClose: () => void;
}

/** Creates what a picker does not find. Without it, a picker offers only what exists. */
export const PickerCreation = createContext<ComponentType<CreationDialogProps> | undefined>(undefined);

/** Stands for a record that does not exist yet. */
const newPrefix = 'new:';

export function ReferencePicker({
  resources,
  value,
  onChange,
  near = {},
  suggested,
  ...input
}: ReferencePickerProps) {
  const { t } = useTranslation();
  const [search, setSearch] = useState('');
  const [isOpen, setIsOpen] = useState(false);
  const [creation, setCreation] = useState<{ definition: Definition; name: string }>();
  const CreationDialog = use(PickerCreation);
  const mayCreate = useMayEdit() && CreationDialog !== undefined;
  const { data: chosen, isFetched } = useNamed(resources, value);
  const chosenLabel = chosen ? labelOf(chosen.definition, chosen.entity) : undefined;
  const typed = search.trim() === chosenLabel ? '' : search.trim();
  const [wanted] = useDebouncedValue(typed, 200);
  const definitions = useDefinitions().filter(({ name }) => resources.includes(name));
  const results = useQueries({
    queries: definitions.map((definition) => {
      const isKnown = (name: string) => definition.filters.some((filter) => filter.name === name);
      const nearby = Object.fromEntries(Object.entries(near).filter(([name]) => isKnown(name)));
      const q = wanted || suggested;
      const parameters = q ? { q } : { sort: 'name', ...nearby };
      return { ...fewQuery(definition.collection, parameters, 20), enabled: isOpen };
    }),
  });

  const hints = new Map<string, string>();
  const groups = definitions.map((definition, index) => ({
    group: pluralOf(definition),
    items: (results[index]?.data?.data ?? []).map((entity) => {
      hints.set(entity.id, hintOf(definition, entity));
      return { value: entity.id, label: labelOf(definition, entity) };
    }),
  }));
  const isListed = groups.some(({ items }) => items.some((item) => item.value === value));
  if (value && !isListed) {
    const unknown = isFetched ? t('record.notThereShort') : '…';
    const place = Math.max(
      0,
      definitions.findIndex(({ name }) => name === chosen?.definition.name),
    );
    const item = { value, label: chosenLabel ?? unknown };
    // Somebody who types looks for another one.
    if (typed) groups[place]?.items.push(item);
    else groups[place]?.items.unshift(item);
  }
  const newName = typed || (suggested ?? '');
  if (mayCreate) {
    for (const [index, definition] of definitions.entries()) {
      const label = t(newName ? 'form.createNamed' : 'form.new', {
        title: nounOf(definition),
        name: newName,
      });
      groups[index]!.items.push({ value: `${newPrefix}${definition.name}`, label });
    }
  }

  function choose(id: string | null) {
    if (!id?.startsWith(newPrefix)) return onChange(id ?? undefined);
    const definition = definitions.find(({ name }) => name === id.slice(newPrefix.length));
    if (definition) setCreation({ definition, name: newName });
  }

  return (
    <>
      <Select
        {...input}
        data={definitions.length > 1 ? groups : (groups[0]?.items ?? [])}
        value={value ?? null}
        onChange={choose}
        searchable
        clearable
        clearButtonProps={{ 'aria-label': t('actions.remove') }}
        // The service has searched already.
        filter={({ options }) => options}
        onSearchChange={setSearch}
        onDropdownOpen={() => setIsOpen(true)}
        // Typing replaces the chosen name.
        onFocus={({ currentTarget }) => currentTarget.select()}
        placeholder={t('form.search')}
        nothingFoundMessage={
          results.some(({ isFetching }) => isFetching) ? t('form.searching') : t('form.noResult')
        }
        rightSection={
          isOpen && results.some(({ isFetching }) => isFetching) ? <Loader size={14} /> : undefined
        }
        maxDropdownHeight={320}
        renderOption={({ option }) => (
          <Group
            wrap="nowrap"
            gap="sm"
            c={option.value.startsWith(newPrefix) ? 'var(--stamm-leaf)' : undefined}
          >
            {option.value.startsWith(newPrefix) && <Icon name="plus" size={16} />}
            <Stack gap={0}>
              <Text size="sm">{option.label}</Text>
              {hints.get(option.value) && (
                <Text size="xs" c="dimmed">
                  {hints.get(option.value)}
                </Text>
              )}
            </Stack>
          </Group>
        )}
      />
      {creation && CreationDialog && (
        <Suspense>
          <CreationDialog
            {...creation}
            near={near}
            onCreated={(id) => {
              setCreation(undefined);
              onChange(id);
            }}
            onClose={() => setCreation(undefined)}
          />
        </Suspense>
      )}
    </>
  );
}
