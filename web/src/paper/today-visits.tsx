// Today's visits, for somebody on the way: the maps and the phone are one tap away.
import { Badge, Group, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { todayIn } from '../../../core/calendar/calendar-days.ts';
import { orderByNearest } from '../../../core/place/route.ts';
import { profileQuery } from '../api/session.ts';
import { Card } from '../frame/card.tsx';
import { FailureNote } from '../frame/failure.tsx';
import { AnchorLink, ButtonLink } from '../frame/links.tsx';
import { Lines } from '../frame/loading.tsx';
import { Icon } from '../icons.tsx';
import { phoneLink } from '../records/contact-links.ts';
import record from '../records/record.module.css';
import { addressText } from '../tables/columns.ts';
import { positionOf, startOf } from '../visits/start-address.ts';
import { windowsText } from '../visits/visit-times.ts';
import { type Visit, visitSettingsQuery } from '../visits/visits-query.ts';
import { dayVisitsQuery, mapsLink } from './day-visits.ts';
import classes from './sheet.module.css';

/** A person who is an employee sees their own visits, everybody else those of all. */
export function TodayVisits() {
  const { t } = useTranslation();
  const today = todayIn(undefined);
  const profile = useQuery(profileQuery);
  const employeeId = profile.data?.employeeId ?? undefined;
  const { data, error, refetch } = useQuery({
    ...dayVisitsQuery(today, employeeId),
    enabled: !profile.isPending,
  });
  const { data: settings } = useQuery(visitSettingsQuery);
  const ordered = orderByNearest(data ?? [], positionOf, startOf(settings?.startAddress));
  return (
    <Card
      title={t('today.title')}
      icon="calendar"
      actions={
        <ButtonLink size="compact-sm" variant="subtle" to="/day-sheet" search={{ date: today, employeeId }}>
          {t('daySheet.title')}
        </ButtonLink>
      }
    >
      {error && <FailureNote error={error} onRetry={() => refetch()} />}
      {!data && !error && <Lines count={1} />}
      {data?.length === 0 && <p className={record.none}>{t('today.none')}</p>}
      <ol className={record.list}>
        {ordered.map((visit) => (
          <Stop key={`${visit.siteId} ${windowsText(visit)}`} visit={visit} showsPerson={!employeeId} />
        ))}
      </ol>
    </Card>
  );
}

function Stop({ visit, showsPerson }: { visit: Visit; showsPerson: boolean }) {
  const { t } = useTranslation();
  const { site, customer, contactPerson, employee } = visit;
  const address = site ? addressText(site.address) : '';
  const phone = contactPerson?.phone ?? customer?.phone;
  return (
    <li className={classes.stop}>
      <Group gap={8}>
        <Text fw={600} component="span">
          <AnchorLink inherit to={`/data/sites/${visit.siteId}`}>
            {site?.name}
          </AnchorLink>
        </Text>
        {visit.windows.length > 0 && <Badge color="gray">{windowsText(visit)}</Badge>}
        {site?.hasKey && <Badge color="leaf">{t('daySheet.key')}</Badge>}
      </Group>
      <Text size="sm" c="dimmed">
        {[customer?.companyName, address, showsPerson && employee?.lastName].filter(Boolean).join(' · ')}
      </Text>
      {site?.comment && <Text size="sm">{site.comment}</Text>}
      <Group gap="xs" mt={6}>
        <a className={classes.tap} href={mapsLink(address)} target="_blank" rel="noreferrer">
          <Icon name="map" size={16} /> {t('today.maps')}
        </a>
        {phone && (
          <a className={classes.tap} href={phoneLink(phone)}>
            <Icon name="phone" size={16} /> {phone}
          </a>
        )}
      </Group>
    </li>
  );
}
