// Who goes where: the visits of a week or a day, by employee or by place.
import { Text } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useId } from 'react';
import { useTranslation } from 'react-i18next';
import { fromDayNumber, partsOf, toDayNumber, todayIn } from '../../../core/calendar-days.ts';
import { fewQuery } from '../api/records.ts';
import { useIsAdministrator } from '../api/session.ts';
import { Card } from '../frame/card.tsx';
import { EmptyNote, FailureNote } from '../frame/failure.tsx';
import { ButtonLink, toSearch } from '../frame/links.tsx';
import { Lines } from '../frame/loading.tsx';
import { PageHead } from '../frame/page-head.tsx';
import { Icon } from '../icons.tsx';
import { formatDay, isDay } from '../texts/format.ts';
import { HolidaySetting } from './holiday-setting.tsx';
import { loadText } from './load-text.ts';
import { useReassignment } from './use-reassignment.ts';
import { type Reassign, VisitCard } from './visit-card.tsx';
import { type Grouping, groupVisits, keyOf, type Person } from './visit-groups.ts';
import { type VisitSearch, VisitTools } from './visit-tools.tsx';
import classes from './visits.module.css';
import { type Visit, visitsQuery } from './visits-query.ts';
import { WeekTable } from './week-table.tsx';

export function VisitsPage() {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const isAdministrator = useIsAdministrator();
  const isNarrow = useMediaQuery('(max-width: 68em)', false, { getInitialValueInEffect: false });
  const search = useSearch({ strict: false }) as VisitSearch;
  const today = todayIn('Europe/Berlin');
  const day = search.day && isDay(search.day) ? search.day : today;
  const isWeek = search.view !== 'day';
  const isTable = isWeek && !isNarrow;
  const grouping: Grouping = search.by === 'place' ? 'place' : 'employee';
  const first = isWeek ? toDayNumber(day) - partsOf(toDayNumber(day)).weekday : toDayNumber(day);
  const days = Array.from({ length: isWeek ? 7 : 1 }, (_, index) => fromDayNumber(first + index));
  const filters = {
    from: days[0]!,
    until: days.at(-1)!,
    employeeId: search.employeeId || undefined,
    city: search.city || undefined,
  };
  const { data, error, refetch, isPlaceholderData } = useQuery(visitsQuery(filters));
  const people = usePeople(isAdministrator && !filters.employeeId);
  const reassign = useReassignment();
  const show = (changes: VisitSearch) =>
    void navigate({
      to: '/visits',
      search: toSearch(withoutEmpty({ ...search, ...changes })),
      replace: true,
    });
  const groups = groupVisits(data?.visits ?? [], grouping, people, t('visits.nobody'));

  /** A weekend without visits takes no room. */
  function isShown(date: string): boolean {
    const { weekday } = partsOf(toDayNumber(date));
    return weekday < 5 || (data?.visits.some((visit) => visit.date === date) ?? false);
  }

  return (
    <>
      <PageHead
        title={t('visits.title')}
        text={t(isAdministrator && isTable ? 'visits.text' : 'visits.textReading')}
        actions={
          <>
            <ButtonLink
              variant="default"
              leftSection={<Icon name="printer" size={16} />}
              to="/day-sheet"
              search={{ date: day, employeeId: filters.employeeId }}
            >
              {t('daySheet.title')}
            </ButtonLink>
            {isAdministrator && (
              <div className="screen-only">
                <HolidaySetting />
              </div>
            )}
          </>
        }
      />
      <VisitTools day={day} isWeek={isWeek} grouping={grouping} search={search} onShow={show} />
      {error && <FailureNote error={error} onRetry={() => refetch()} />}
      {!data && !error && <Lines count={8} />}
      {data?.hasMore && (
        <Text size="sm" mb="sm">
          {t('visits.more')}
        </Text>
      )}
      {data?.visits.length === 0 && <NoVisits />}
      {data && data.visits.length > 0 && (
        <div aria-busy={isPlaceholderData}>
          {isTable ? (
            <WeekTable
              days={days.filter(isShown)}
              groups={groups}
              grouping={grouping}
              onReassign={reassign}
            />
          ) : (
            days.map((date) => (
              <Day key={date} date={date} visits={data.visits} grouping={grouping} onReassign={reassign} />
            ))
          )}
        </div>
      )}
    </>
  );
}

function NoVisits() {
  const { t } = useTranslation();
  return (
    <div className="panel">
      <EmptyNote icon="calendar" title={t('visits.none')} text={t('visits.noneText')}>
        <ButtonLink to="/data/sites" variant="light" mt="sm">
          {t('visits.toSites')}
        </ButtonLink>
      </EmptyNote>
    </div>
  );
}

interface DayProps {
  date: string;
  visits: readonly Visit[];
  grouping: Grouping;
  onReassign: Reassign;
}

function Day({ date, visits, grouping, onReassign }: DayProps) {
  const { t } = useTranslation();
  const headingId = useId();
  const ofDay = visits.filter((visit) => visit.date === date);
  if (ofDay.length === 0) return null;
  return (
    <div className={classes.day}>
      <h2 id={headingId}>{formatDay(date, { weekday: 'long', day: 'numeric', month: 'long' })}</h2>
      <div className={classes.groups}>
        {groupVisits(ofDay, grouping, [], t('visits.nobody')).map((group) => (
          <Card
            key={group.key}
            title={group.title}
            headingId={headingId}
            actions={<Text size="sm">{loadText(group.visits, t)}</Text>}
          >
            <ul className={classes.visits}>
              {group.visits.map((visit) => (
                <VisitCard key={keyOf(visit)} visit={visit} onReassign={onReassign} isWhole />
              ))}
            </ul>
          </Card>
        ))}
      </div>
    </div>
  );
}

/** Employees who can take visits. */
function usePeople(isWanted: boolean): Person[] {
  const { data } = useQuery({
    ...fewQuery('employees', { active: 'true', sort: 'name' }, 100),
    enabled: isWanted,
  });
  if (!isWanted) return [];
  return (data?.data ?? []).map((employee) => ({
    id: employee.id,
    name: `${String(employee.firstName)} ${String(employee.lastName)}`,
  }));
}

function withoutEmpty(search: VisitSearch): VisitSearch {
  return Object.fromEntries(Object.entries(search).filter(([, value]) => value));
}
