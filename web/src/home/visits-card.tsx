// Who goes where today, for the office.
import { Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { todayIn } from '../../../core/calendar/calendar-days.ts';
import { Card } from '../frame/card.tsx';
import { FailureNote } from '../frame/failure.tsx';
import { ButtonLink } from '../frame/links.tsx';
import { Lines } from '../frame/loading.tsx';
import { Icon } from '../icons.tsx';
import { dayVisitsQuery } from '../paper/day-visits.ts';
import record from '../records/record.module.css';
import type { Visit } from '../visits/visits-query.ts';
import classes from './home.module.css';

const shownPeople = 6;

/** Visits to which nobody comes are first: there is something to do. */
function byPerson(visits: readonly Visit[]): Visit[][] {
  const groups = [...Map.groupBy(visits, ({ employeeId }) => employeeId ?? '').values()];
  const rank = ([first]: Visit[]) => (first?.employee ? `1 ${first.employee.lastName}` : '0');
  return groups.toSorted((one, other) => rank(one).localeCompare(rank(other)));
}

export function VisitsCard() {
  const { t } = useTranslation();
  const today = todayIn(undefined);
  const { data, error, refetch } = useQuery(dayVisitsQuery(today, undefined));
  const people = byPerson(data ?? []);
  return (
    <Card
      icon="calendar"
      title={t('today.title')}
      actions={
        <ButtonLink size="compact-sm" variant="subtle" to="/visits" search={{ view: 'day' }}>
          {people.length > shownPeople ? t('actions.all') : t('navigation.visits')}
        </ButtonLink>
      }
    >
      {error && <FailureNote error={error} onRetry={() => refetch()} />}
      {!data && !error && <Lines count={5} />}
      {data?.length === 0 && <p className={record.none}>{t('today.none')}</p>}
      <ul className={record.list}>
        {people.slice(0, shownPeople).map((visits) => (
          <Person key={visits[0]!.employeeId ?? ''} today={today} visits={visits} />
        ))}
      </ul>
    </Card>
  );
}

function Person({ today, visits }: { today: string; visits: readonly Visit[] }) {
  const { t } = useTranslation();
  const { employee, employeeId } = visits[0]!;
  const sites = visits.map(({ site }) => site?.name).filter(Boolean);
  const words = (
    <>
      <Icon name={employee ? 'employee' : 'warning'} />
      <span className={classes.words}>
        <Text size="sm" fw={550} truncate>
          {employee ? `${employee.firstName} ${employee.lastName}` : t('daySheet.nobody')}
        </Text>
        <Text size="xs" c="dimmed" truncate>
          {[t('today.count', { count: visits.length }), sites.join(', ')].join(' · ')}
        </Text>
      </span>
    </>
  );
  return (
    <li>
      {employee ? (
        <Link to="/day-sheet" search={{ date: today, employeeId }} className={classes.change}>
          {words}
        </Link>
      ) : (
        <Link to="/visits" search={{ view: 'day' }} className={classes.change}>
          {words}
        </Link>
      )}
    </li>
  );
}
