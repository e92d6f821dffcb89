import { Group, MultiSelect, Select } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { ClearFilters } from '../../inputs/clear-filters.tsx';
import { DayInput } from '../../inputs/day-input.tsx';
import { isBefore, isDay } from '../../texts/format.ts';
import { currentLanguage } from '../../texts/language.ts';
import classes from './audit.module.css';
import { auditEventsQuery, auditPeopleQuery, type Filters, filterNames } from './audit.ts';

interface AuditFiltersProps {
  filters: Filters;
  onChange: (filters: Filters) => void;
}

export function AuditFilters({ filters, onChange }: AuditFiltersProps) {
  const { t } = useTranslation();
  const { data: events } = useQuery(auditEventsQuery(currentLanguage()));
  const { data: people } = useQuery(auditPeopleQuery);
  const nothing = Object.fromEntries(filterNames.map((name) => [name, undefined]));
  const known = (people?.data ?? []).map(({ id, name, email }) => ({
    value: id,
    label: `${name} · ${email}`,
  }));
  const { actorId } = filters;
  // Somebody who has left is in no list, and may still be looked for by a link.
  const isGone =
    actorId !== undefined && people !== undefined && !known.some(({ value }) => value === actorId);
  const choices = isGone ? [...known, { value: actorId, label: t('actor.left') }] : known;
  const changeDay = (name: 'from' | 'until') => (day: string) => {
    if (day === '' || isDay(day)) onChange({ [name]: day || undefined });
  };
  return (
    <Group gap="xs" mb="sm" align="flex-end" role="search" aria-label={t('table.filters')}>
      <MultiSelect
        className={classes.events}
        label={t('audit.event')}
        placeholder={filters.event ? undefined : t('attention.all')}
        searchable
        clearable
        clearButtonProps={{ 'aria-label': t('actions.remove') }}
        data={(events?.data ?? []).map(({ event, title }) => ({ value: event, label: title }))}
        value={filters.event?.split(',') ?? []}
        onChange={(chosen) => onChange({ event: chosen.join(',') || undefined })}
      />
      <Select
        className={classes.person}
        label={t('audit.actor')}
        placeholder={t('attention.all')}
        searchable
        clearable
        clearButtonProps={{ 'aria-label': t('actions.remove') }}
        data={choices}
        value={actorId ?? null}
        onChange={(chosen) => onChange({ actorId: chosen ?? undefined })}
      />
      <Group gap="xs" align="flex-start" className={classes.days}>
        <DayInput label={t('audit.from')} value={filters.from ?? ''} onChange={changeDay('from')} />
        <DayInput
          label={t('audit.until')}
          value={filters.until ?? ''}
          error={
            isBefore(filters.until, filters.from) && t('fieldError.dateOrder', { other: t('audit.from') })
          }
          onChange={changeDay('until')}
        />
      </Group>
      {filterNames.some((name) => filters[name]) && <ClearFilters onClear={() => onChange(nothing)} />}
    </Group>
  );
}
