// Shows who goes where: the board of a week, or the visits of a day.
import { Button } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { lazyRouteComponent, useNavigate, useSearch } from '@tanstack/react-router';
import { Suspense, useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { fromDayNumber, partsOf, toDayNumber, todayIn } from '../../../core/calendar/calendar-days.ts';
import { fewQuery } from '../api/records.ts';
import { useMayEdit } from '../api/session.ts';
import { EmptyNote, FailureNote } from '../frame/failure.tsx';
import { ButtonLink, toSearch } from '../frame/links.tsx';
import { Lines } from '../frame/loading.tsx';
import { PageHead } from '../frame/page-head.tsx';
import { Icon } from '../icons.tsx';
import { isDay } from '../texts/format.ts';
import { Board } from './board/board.tsx';
import { addSums, sumOn, sumsQuery } from './board/board-data.ts';
import { type Person, shownDays, toPeople } from './board/board-rows.ts';
import { useAbsences } from './use-absences.ts';
import { type VisitSearch, VisitTools } from './visit-tools.tsx';
import type { VisitFilters } from './visits-query.ts';

const DayVisits = lazyRouteComponent(() => import('./day-visits.tsx'), 'DayVisits');
const FoldedDay = lazyRouteComponent(() => import('./day-visits.tsx'), 'FoldedDay');
const AbsenceDialog = lazyRouteComponent(() => import('./absence-dialog.tsx'), 'AbsenceDialog');

export function VisitsPage() {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const mayEdit = useMayEdit();
  const isPhone = useMediaQuery('(max-width: 48em)', false, { getInitialValueInEffect: false });
  const search = useSearch({ strict: false }) as VisitSearch;
  const today = todayIn('Europe/Berlin');
  const day = search.day && isDay(search.day) ? search.day : today;
  const isWeek = search.view !== 'day';
  const grouping = search.by === 'place' ? 'place' : 'employee';
  // On a phone the list begins with the chosen day, not with Monday.
  const first = toDayNumber(day) - (isWeek && !isPhone ? partsOf(toDayNumber(day)).weekday : 0);
  const week = Array.from({ length: isWeek ? 7 : 1 }, (_, index) => fromDayNumber(first + index));
  const { from, until } = { from: week[0]!, until: week.at(-1)! };
  const { employeeId, city, zipCode } = search;
  const filters: VisitFilters = useMemo(
    () => ({
      ...{ from, until },
      ...{ employeeId: employeeId || undefined, city: city || undefined, zipCode: zipCode || undefined },
    }),
    [from, until, employeeId, city, zipCode],
  );
  const { data: sums, error, refetch, isPlaceholderData } = useQuery(sumsQuery(filters));
  const active = useActivePeople(mayEdit && isWeek);
  const isAbsent = useAbsences(mayEdit && isWeek, filters);
  const [isAbsence, setIsAbsence] = useState(false);
  const nobodyName = t('visits.nobody');
  const people = useMemo(
    () => (sums ? toPeople(active, sums, { only: employeeId || undefined, nobodyName }) : []),
    [active, sums, employeeId, nobodyName],
  );
  const days = useMemo(
    () =>
      shownDays(
        Array.from({ length: 7 }, (_, index) => fromDayNumber(toDayNumber(from) + index)),
        sums,
      ),
    [from, sums],
  );
  const isEmpty = sums !== undefined && addSums([...sums.byDay.values()]).listed === 0;
  const show = (changes: VisitSearch) =>
    void navigate({
      to: '/visits',
      search: toSearch(withoutEmpty({ ...search, ...changes })),
      replace: true,
    });
  return (
    <>
      <PageHead
        title={t('visits.title')}
        text={t('visits.text')}
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
            <ButtonLink
              variant="default"
              leftSection={<Icon name="printer" size={16} />}
              to="/week-sheet"
              search={{ day, employeeId: filters.employeeId }}
            >
              {t('weekSheet.title')}
            </ButtonLink>
            {mayEdit && (
              <ButtonLink
                variant="default"
                className="screen-only"
                leftSection={<Icon name="phone" size={16} />}
                to="/arrange"
              >
                {t('arrange.title')}
              </ButtonLink>
            )}
            {mayEdit && (
              <Button
                variant="default"
                className="screen-only"
                leftSection={<Icon name="absence" size={16} />}
                onClick={() => setIsAbsence(true)}
              >
                {t('visits.absence.button')}
              </Button>
            )}
          </>
        }
      />
      {isAbsence && (
        <Suspense>
          <AbsenceDialog employeeId={filters.employeeId} day={day} onClose={() => setIsAbsence(false)} />
        </Suspense>
      )}
      <VisitTools day={day} isWeek={isWeek} grouping={grouping} search={search} onShow={show} />
      {error && <FailureNote error={error} onRetry={() => refetch()} />}
      {!sums && !error && <Lines count={8} />}
      {isEmpty && <NoVisits />}
      {sums && !isEmpty && (
        <div aria-busy={isPlaceholderData}>
          <Suspense fallback={<Lines count={8} />}>
            {!isWeek && <DayVisits date={day} filters={filters} grouping={grouping} />}
            {isWeek && !isPhone && (
              <>
                <p className="paper-only">{t('visits.board.onPaper')}</p>
                <Board {...{ filters, days, today, sums, people, isAbsent }} />
              </>
            )}
            {isWeek &&
              isPhone &&
              week.map((date, index) => (
                <FoldedDay
                  key={date}
                  date={date}
                  filters={filters}
                  grouping="employee"
                  sum={addSums(people.map(({ id }) => sumOn(sums, id, date)))}
                  isFirst={index === 0}
                />
              ))}
          </Suspense>
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

/** Employees who can take visits, with or without some. */
function useActivePeople(isWanted: boolean): Person[] {
  const { data } = useQuery({
    ...fewQuery('employees', { active: 'true', sort: 'name' }, 500),
    enabled: isWanted,
  });
  return useMemo(
    () =>
      (data?.data ?? []).map(({ id, firstName, lastName }) => ({
        id,
        name: `${String(firstName)} ${String(lastName)}`,
      })),
    [data],
  );
}

function withoutEmpty(search: VisitSearch): VisitSearch {
  return Object.fromEntries(Object.entries(search).filter(([, value]) => value));
}
