// The visits of an employee in the next seven days, with their times.
import { Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { fromDayNumber, toDayNumber, todayIn } from '../../../core/calendar/calendar-days.ts';
import { takesPlace } from '../../../core/calendar/visit-status.ts';
import { Card } from '../frame/card.tsx';
import { FailureNote } from '../frame/failure.tsx';
import { AnchorLink, ButtonLink } from '../frame/links.tsx';
import { Lines } from '../frame/loading.tsx';
import record from '../records/record.module.css';
import classes from '../records/visits.module.css';
import { formatDay } from '../texts/format.ts';
import { byFirstWindow, timesText } from './visit-times.ts';
import { type Visit, visitsQuery } from './visits-query.ts';

export function EmployeeWeek({ employeeId }: { employeeId: string }) {
  const { t } = useTranslation();
  const from = todayIn(undefined);
  const until = fromDayNumber(toDayNumber(from) + 6);
  const { data, error, refetch } = useQuery(visitsQuery({ from, until, employeeId }));
  const visits = data?.filter(({ status }) => takesPlace(status));
  return (
    <Card
      title={t('visits.ofEmployee')}
      icon="calendar"
      actions={
        <ButtonLink size="compact-sm" variant="subtle" to="/visits" search={{ employeeId }}>
          {t('visits.title')}
        </ButtonLink>
      }
    >
      {error && <FailureNote error={error} onRetry={() => refetch()} />}
      {!visits && !error && <Lines count={3} />}
      {visits?.length === 0 && <p className={record.none}>{t('visits.ofEmployeeNone')}</p>}
      <ol className={classes.visits}>
        {[...Map.groupBy(visits ?? [], ({ date }) => date)].map(([day, ofDay]) => (
          <li key={day} className={classes.day}>
            <Text size="sm" fw={550} mb={2}>
              {formatDay(day, { weekday: 'long', day: 'numeric', month: 'long' })}
            </Text>
            {ofDay.toSorted(byFirstWindow).map((visit) => (
              <Stop key={`${visit.siteId} ${visit.movedFrom} ${visit.appointmentId}`} visit={visit} />
            ))}
          </li>
        ))}
      </ol>
    </Card>
  );
}

function Stop({ visit }: { visit: Visit }) {
  const { site, siteId, customer, durationInMinutes } = visit;
  return (
    <Text size="sm">
      <AnchorLink inherit to={`/data/sites/${siteId}`}>
        {site?.name}
      </AnchorLink>{' '}
      <Text span size="xs" c="dimmed">
        {[customer?.companyName, site?.address.city, timesText(visit, durationInMinutes)]
          .filter(Boolean)
          .join(' · ')}
      </Text>
    </Text>
  );
}
