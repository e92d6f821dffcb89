// The filters of a table, as the resource's definition names them.
import { Badge, Button, CloseButton, Group } from '@mantine/core';
import { lazyRouteComponent } from '@tanstack/react-router';
import { Suspense, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { type Definition, type Field, labelOf, titleOf } from '../api/definitions.ts';
import { useNamed } from '../api/named.ts';
import { Icon } from '../icons.tsx';
import { plainText } from '../records/value.tsx';
import { formatNumber } from '../texts/format.ts';
import { type FilterProps, type Filters, filterFieldsOf, filterParametersOf } from './filter-fields.ts';

const FilterDrawer = lazyRouteComponent(() => import('./filter-inputs.tsx'), 'FilterDrawer');
const preload = () => FilterDrawer.preload?.();

interface FilterMenuProps extends FilterProps {
  isOpen: boolean;
  onToggle: (isOpen: boolean) => void;
}

export function FilterMenu({ definition, filters, onChange, isOpen, onToggle }: FilterMenuProps) {
  const { t } = useTranslation();
  const [isWanted, setIsWanted] = useState(false);
  if (isOpen && !isWanted) setIsWanted(true);
  const count = Object.keys(filters).length;
  return (
    <>
      <Button
        variant="default"
        leftSection={<Icon name="filter" size={16} />}
        rightSection={count > 0 ? <Badge circle>{count}</Badge> : undefined}
        onPointerEnter={preload}
        onFocus={preload}
        onClick={() => onToggle(true)}
      >
        {t('table.filters')}
      </Button>
      {isWanted && (
        <Suspense>
          <FilterDrawer
            isOpen={isOpen}
            definition={definition}
            filters={filters}
            onChange={onChange}
            onClose={() => onToggle(false)}
          />
        </Suspense>
      )}
    </>
  );
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

/** The active filters, each with a way to remove it. */
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
