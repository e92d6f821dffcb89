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
import { windowsText } from '../visits/visit-times.ts';
import classes from './home.module.css';

const shownVisits = 6;

export function VisitsCard() {
  const { t } = useTranslation();
  const today = todayIn(undefined);
  const { data, error, refetch } = useQuery(dayVisitsQuery(today, undefined));
  return (
    <Card
      icon="calendar"
      title={t('today.title')}
      actions={
        <ButtonLink size="compact-sm" variant="subtle" to="/visits" search={{ view: 'day' }}>
          {data && data.length > shownVisits ? t('actions.all') : t('navigation.visits')}
        </ButtonLink>
      }
    >
      {error && <FailureNote error={error} onRetry={() => refetch()} />}
      {!data && !error && <Lines count={5} />}
      {data?.length === 0 && <p className={record.none}>{t('today.none')}</p>}
      <ul className={record.list}>
        {data?.slice(0, shownVisits).map((visit) => (
          <li key={`${visit.siteId} ${windowsText(visit)}`}>
            <Link
              to="/data/$collection/$id"
              params={{ collection: 'sites', id: visit.siteId }}
              className={classes.change}
            >
              <Icon name="site" />
              <span className={classes.words}>
                <Text size="sm" fw={550} truncate>
                  {[visit.site?.name, visit.customer?.companyName].filter(Boolean).join(' · ')}
                </Text>
                <Text size="xs" c="dimmed" truncate>
                  {[
                    windowsText(visit),
                    visit.employee
                      ? `${visit.employee.firstName} ${visit.employee.lastName}`
                      : t('daySheet.nobody'),
                  ]
                    .filter(Boolean)
                    .join(' · ')}
                </Text>
              </span>
            </Link>
          </li>
        ))}
      </ul>
    </Card>
  );
}
