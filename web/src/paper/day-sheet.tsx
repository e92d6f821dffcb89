// The visits of a day in driving order, one sheet for each employee.
import { Button, Group, Select } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { todayIn } from '../../../core/calendar/calendar-days.ts';
import { orderByNearest } from '../../../core/place/route.ts';
import { useIsAdministrator } from '../api/session.ts';
import { EmptyNote, FailureNote } from '../frame/failure.tsx';
import { ButtonLink } from '../frame/links.tsx';
import { Lines } from '../frame/loading.tsx';
import { PageHead } from '../frame/page-head.tsx';
import { usePrintPage } from '../frame/printing.ts';
import { RecordNet } from '../frame/record-net.tsx';
import { Icon } from '../icons.tsx';
import { DayInput } from '../inputs/day-input.tsx';
import { addressText } from '../tables/columns.ts';
import { formatDay, isDay } from '../texts/format.ts';
import { isApproximate, positionOf, startOf, startText } from '../visits/start-address.ts';
import { StartAddressButton } from '../visits/start-address-button.tsx';
import { groupVisits } from '../visits/visit-groups.ts';
import { byFirstWindow, windowsText, windowTexts } from '../visits/visit-times.ts';
import { type Visit, visitSettingsQuery } from '../visits/visits-query.ts';
import { dayVisitsQuery } from './day-visits.ts';
import classes from './sheet.module.css';

export function DaySheetPage() {
  const { t } = useTranslation();
  const { date = '', employeeId } = useSearch({ strict: false }) as Record<string, string>;
  const navigate = useNavigate();
  const printPage = usePrintPage();
  const isAdministrator = useIsAdministrator();
  const day = isDay(date) ? date : todayIn(undefined);
  const { data: visits, error, refetch } = useQuery(dayVisitsQuery(day, undefined));
  const people = groupVisits(visits ?? [], 'employee', [], t('daySheet.nobody'));
  const shown = people.filter(({ key }) => employeeId === undefined || key === employeeId);
  const change = (search: Record<string, string | undefined>) =>
    navigate({ to: '/day-sheet', search: { date: day, employeeId, ...search } as never, replace: true });
  return (
    <div className={classes.page}>
      <PageHead
        title={t('daySheet.title')}
        text={formatDay(day, { dateStyle: 'full' })}
        actions={
          <>
            <ButtonLink
              variant="default"
              leftSection={<Icon name="calendar" size={16} />}
              to="/visits"
              search={{ day, view: 'day', employeeId }}
            >
              {t('visits.title')}
            </ButtonLink>
            {isAdministrator && <StartAddressButton />}
            <Button
              leftSection={<Icon name="printer" size={16} />}
              disabled={shown.length === 0}
              onClick={printPage}
            >
              {t('print.action')}
            </Button>
          </>
        }
      />
      <Group gap="md" mb="md" align="flex-end" className="screen-only">
        <DayInput
          label={t('daySheet.day')}
          w={160}
          value={day}
          onChange={(value) => isDay(value) && change({ date: value })}
        />
        <Select
          label={t('daySheet.who')}
          placeholder={t('daySheet.all')}
          clearable
          data={people.filter(({ key }) => key).map(({ key, title }) => ({ value: key, label: title }))}
          value={employeeId ?? null}
          onChange={(id) => change({ employeeId: id ?? undefined })}
        />
      </Group>
      {error && <FailureNote error={error} onRetry={() => refetch()} />}
      {!visits && !error && <Lines count={8} />}
      {visits && shown.length === 0 && (
        <div className="panel">
          <EmptyNote icon="calendar" title={t('daySheet.none')}>
            <ButtonLink to="/visits" variant="light" mt="sm">
              {t('daySheet.toVisits')}
            </ButtonLink>
          </EmptyNote>
        </div>
      )}
      {shown.map(({ key, title, visits: own }) => (
        <PersonSheet key={key} name={title} day={day} visits={own} />
      ))}
    </div>
  );
}

/** Stands for the address of the business among the starts. */
const baseValue = 'base';

function PersonSheet({ name, day, visits }: { name: string; day: string; visits: Visit[] }) {
  const { t } = useTranslation();
  const [startId, setStartId] = useState<string | null>(null);
  const { data: settings } = useQuery(visitSettingsQuery);
  const base = settings?.startAddress;
  const basePosition = startOf(base);
  const byTime = visits.toSorted(byFirstWindow);
  const chosen = byTime.find(({ siteId }) => siteId === startId);
  const first = chosen ?? (basePosition ? undefined : byTime.find(positionOf));
  const ordered = orderByNearest(byTime, positionOf, first ? positionOf(first) : basePosition);
  const start = first ? first.site?.name : base && basePosition && startText(base);
  const hasStops = byTime.some(positionOf);
  const starts = new Map(byTime.filter(positionOf).map((visit) => [visit.siteId, visit.site?.name ?? '']));
  const choices = [
    ...(base && basePosition ? [{ value: baseValue, label: startText(base) }] : []),
    ...[...starts].map(([value, label]) => ({ value, label })),
  ];
  return (
    <section className={`panel ${classes.sheet} ${classes.person}`} aria-label={name}>
      <div>
        <h2>
          {name}, {formatDay(day, { weekday: 'short', day: 'numeric', month: 'numeric', year: 'numeric' })}
        </h2>
        <p className={classes.note}>
          {start && hasStops ? t('daySheet.order', { start }) : t('daySheet.noOrder')}
          {byTime.some(isApproximate) && ` ${t('daySheet.approximateNote')}`}
        </p>
        {choices.length > 1 && (
          <Select
            className="screen-only"
            mt="xs"
            w={280}
            label={t('daySheet.start')}
            allowDeselect={false}
            data={choices}
            value={first?.siteId ?? baseValue}
            onChange={setStartId}
          />
        )}
      </div>
      <table className={`${classes.plants} ${classes.visits}`}>
        <thead>
          <tr>
            <th scope="col">{t('daySheet.site')}</th>
            <th scope="col">{t('daySheet.time')}</th>
            <th scope="col">{t('daySheet.contact')}</th>
            <th scope="col">{t('daySheet.access')}</th>
          </tr>
        </thead>
        <tbody>
          {ordered.map((visit, index) => (
            <RecordNet
              key={`${visit.siteId} ${windowsText(visit)}`}
              mark={
                <tr>
                  <th scope="row">
                    {index + 1}. {t('print.unreadable', { id: visit.siteId.slice(-6) })}
                  </th>
                  <td colSpan={3} />
                </tr>
              }
            >
              <Row visit={visit} place={index + 1} />
            </RecordNet>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function Row({ visit, place }: { visit: Visit; place: number }) {
  const { t } = useTranslation();
  const { site, customer, contactPerson: contact } = visit;
  const lines = (...parts: (string | false | undefined)[]) =>
    parts.filter(Boolean).map((part) => <div key={String(part)}>{part}</div>);
  return (
    <tr>
      <th scope="row">
        {place}. {site?.name}
        {lines(
          customer?.companyName,
          site && addressText(site.address),
          isApproximate(visit) && t('daySheet.approximate'),
          positionOf(visit) === undefined && t('record.noPosition'),
        )}
      </th>
      <td>
        {lines(
          ...windowTexts(visit),
          visit.durationInMinutes !== undefined && t('record.minutes', { count: visit.durationInMinutes }),
          visit.preparationInMinutes !== undefined &&
            t('daySheet.preparation', { minutes: visit.preparationInMinutes }),
          visit.movedFrom &&
            t('daySheet.moved', {
              day: formatDay(visit.movedFrom),
              why: visit.holiday ?? t('record.closed'),
            }),
        )}
      </td>
      <td>
        {lines(
          contact && [contact.firstName, contact.lastName].filter(Boolean).join(' '),
          contact?.phone,
          contact?.mobile,
          !contact?.phone && customer?.phone,
        )}
      </td>
      <td>
        {lines(
          site && t(site.hasKey ? 'daySheet.key' : 'daySheet.noKey'),
          site?.needsAppointment && t('daySheet.appointment'),
          site?.comment,
        )}
      </td>
    </tr>
  );
}
