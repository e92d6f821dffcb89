// The week of each employee on one landscape page.
import { Button, Group, Select } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import type { CSSProperties } from 'react';
import { useTranslation } from 'react-i18next';
import { fromDayNumber, partsOf, toDayNumber, todayIn } from '../../../core/calendar/calendar-days.ts';
import { holidaysOf } from '../../../core/calendar/holidays.ts';
import { useMayEdit } from '../api/session.ts';
import { EmptyNote, FailureNote } from '../frame/failure.tsx';
import { ButtonLink } from '../frame/links.tsx';
import { Lines } from '../frame/loading.tsx';
import { PageHead } from '../frame/page-head.tsx';
import { usePrintPage } from '../frame/printing.ts';
import { Icon } from '../icons.tsx';
import { DayInput } from '../inputs/day-input.tsx';
import { formatDay, isDay } from '../texts/format.ts';
import { currentLanguage } from '../texts/language.ts';
import { loadText } from '../visits/load-text.ts';
import { useAbsences } from '../visits/use-absences.ts';
import { groupVisits, isTakingPlace, keyOf } from '../visits/visit-groups.ts';
import { byFirstWindow, windowTexts } from '../visits/visit-times.ts';
import { type Visit, visitsQuery } from '../visits/visits-query.ts';
import classes from './week-sheet.module.css';

const longWeek = 7;

export function WeekSheetPage() {
  const { t } = useTranslation();
  const { day: asked = '', employeeId } = useSearch({ strict: false }) as Record<string, string>;
  const navigate = useNavigate();
  const printPage = usePrintPage();
  const day = isDay(asked) ? asked : todayIn(undefined);
  const monday = toDayNumber(day) - partsOf(toDayNumber(day)).weekday;
  const week = Array.from({ length: longWeek }, (_, index) => fromDayNumber(monday + index));
  const range = { from: week[0]!, until: week.at(-1)! };
  const { data, error, refetch } = useQuery(visitsQuery(range));
  const isAbsent = useAbsences(useMayEdit(), range);
  const visits = (data ?? []).filter(isTakingPlace);
  const people = groupVisits(visits, 'employee', [], t('visits.nobody'));
  const shown = people.filter(({ key }) => !employeeId || key === employeeId);
  const days = week.filter((date, index) => index < 5 || visits.some((visit) => visit.date === date));
  const span = `${formatDay(week[0]!)} – ${formatDay(week.at(-1)!)}`;
  const change = (search: Record<string, string | undefined>) =>
    navigate({ to: '/week-sheet', search: { day, employeeId, ...search } as never, replace: true });
  return (
    <>
      <div className="screen-only">
        <PageHead
          title={t('weekSheet.title')}
          text={span}
          actions={
            <>
              <ButtonLink
                variant="default"
                leftSection={<Icon name="calendar" size={16} />}
                to="/visits"
                search={{ day, employeeId }}
              >
                {t('visits.title')}
              </ButtonLink>
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
        <Group gap="md" mb="md" align="flex-end">
          <DayInput
            label={t('daySheet.day')}
            w={160}
            value={day}
            onChange={(value) => isDay(value) && change({ day: value })}
          />
          <Select
            label={t('daySheet.who')}
            placeholder={t('daySheet.all')}
            clearable
            searchable
            data={people.filter(({ key }) => key).map(({ key, title }) => ({ value: key, label: title }))}
            value={employeeId ?? null}
            onChange={(id) => change({ employeeId: id ?? undefined })}
          />
        </Group>
      </div>
      {error && <FailureNote error={error} onRetry={() => refetch()} />}
      {!data && !error && <Lines count={8} />}
      {data && shown.length === 0 && (
        <div className="panel">
          <EmptyNote icon="calendar" title={t('visits.none')} />
        </div>
      )}
      {shown.map(({ key, title, visits: own }) => (
        <PersonWeek
          key={key}
          name={title}
          {...{ span, days, visits: own }}
          isAbsent={(date) => isAbsent(key, date)}
        />
      ))}
    </>
  );
}

/** Height below the heads of a landscape page, in pixels of paper. */
const roomForLines = 560;
const [tallest, rowHeight, shortestForTwo] = [140, 15.5, 26];

interface PersonWeekProps {
  name: string;
  span: string;
  days: readonly string[];
  visits: readonly Visit[];
  isAbsent: (date: string) => boolean;
}

/** However many visits a day has, they fit: lines have several rows of text, or two, or one. */
function PersonWeek({ name, span, days, visits, isAbsent }: PersonWeekProps) {
  const { t } = useTranslation();
  const columns = days.map((date) => ({
    date,
    visits: visits.filter((visit) => visit.date === date).toSorted(byFirstWindow),
  }));
  const lines = Math.max(1, ...columns.map((column) => column.visits.length));
  const height = Math.min(tallest, roomForLines / lines);
  // A free day leaves its room to the others.
  const widths = columns.map((column) => `minmax(6rem, ${column.visits.length > 0 ? 1 : 0.4}fr)`);
  const rows = Math.floor(height / rowHeight / 2);
  const style = { '--columns': widths.join(' '), '--line': `${height}px`, '--rows': rows } as CSSProperties;
  const noteOf = (date: string, own: readonly Visit[]) =>
    [
      holidaysOf('DE')(date)?.[currentLanguage()],
      isAbsent(date) && t('visits.board.absent'),
      own.length > 0 && loadText(own, t),
    ].filter(Boolean);
  return (
    <section className={`panel ${classes.sheet}`} aria-label={name} style={style}>
      <h2>
        {name} <small>{[span, loadText(visits, t)].join(' · ')}</small>
      </h2>
      <div className={classes.week}>
        {columns.map(({ date, visits: own }) => (
          <div key={date}>
            <h3>
              {formatDay(date, { weekday: 'short', day: 'numeric', month: 'numeric' })}{' '}
              <small>{noteOf(date, own).join(' · ')}</small>
            </h3>
            <ul data-tall={rows > 1 || undefined} data-low={height < shortestForTwo || undefined}>
              {own.map((visit) => (
                <Line key={keyOf(visit)} visit={visit} />
              ))}
            </ul>
          </div>
        ))}
      </div>
    </section>
  );
}

function Line({ visit }: { visit: Visit }) {
  const { site, customer } = visit;
  const street = site && `${site.address.streetName} ${site.address.houseNumber}, ${site.address.city}`;
  return (
    <li lang="de">
      <span>
        <b>{site?.name}</b> {customer?.companyName}
      </span>{' '}
      <small>{[windowTexts(visit)[0], street].filter(Boolean).join(' · ')}</small>
    </li>
  );
}
