// Shows the office who goes where today.
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
import record from '../records/record.module.css';
import { useSumText } from '../visits/board/board-cells.tsx';
import { nobody, type Sums, sumOn, sumsQuery } from '../visits/board/board-data.ts';
import classes from './home.module.css';

const shownPeople = 6;

/** Visits to which nobody comes are first: there is something to do. */
function peopleOf({ byDay, employees }: Sums, today: string) {
  return [...new Set([nobody, ...employees.keys()])]
    .map((id) => ({ id, name: employees.get(id), ...sumOn({ byDay, employees }, id, today) }))
    .filter(({ visits }) => visits > 0)
    .toSorted((one, other) => (one.name ?? '').localeCompare(other.name ?? ''));
}

export function VisitsCard() {
  const { t } = useTranslation();
  const today = todayIn(undefined);
  const { data, error, refetch } = useQuery(sumsQuery({ from: today, until: today }));
  const people = data ? peopleOf(data, today) : [];
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
      {data && people.length === 0 && <p className={record.none}>{t('today.none')}</p>}
      <ul className={record.list}>
        {people.slice(0, shownPeople).map((person) => (
          <Person key={person.id} today={today} person={person} />
        ))}
      </ul>
    </Card>
  );
}

function Person({ today, person }: { today: string; person: ReturnType<typeof peopleOf>[number] }) {
  const { t } = useTranslation();
  const textOf = useSumText();
  const { id, name } = person;
  const words = (
    <>
      <Icon name={name ? 'employee' : 'warning'} />
      <span className={classes.words}>
        <Text size="sm" fw={550} truncate>
          {name ?? t('daySheet.nobody')}
        </Text>
        <Text size="xs" c="dimmed" truncate>
          {textOf(person)}
        </Text>
      </span>
    </>
  );
  return (
    <li>
      {name ? (
        <Link to="/day-sheet" search={{ date: today, employeeId: id }} className={classes.change}>
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
