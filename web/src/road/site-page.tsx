// A site for somebody on the way: visit, access, opening hours and plants, everything else folded.
import { Anchor, Badge, Button, Group, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Navigate } from '@tanstack/react-router';
import { Suspense, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { todayIn } from '../../../core/calendar/calendar-days.ts';
import { isOpeningHours } from '../../../core/calendar/opening-hours.ts';
import { toApiError } from '../api/client.ts';
import { type Definition, labelOf, pluralOf } from '../api/definitions.ts';
import { profileQuery } from '../api/session.ts';
import { Card } from '../frame/card.tsx';
import { FailureNote } from '../frame/failure.tsx';
import { Lines } from '../frame/loading.tsx';
import { PageHead } from '../frame/page-head.tsx';
import { Icon } from '../icons.tsx';
import { dayVisitsQuery, mapsLink } from '../paper/day-visits.ts';
import { phoneLink } from '../records/contact-links.ts';
import { DeletedRecord } from '../records/deleted-record.tsx';
import { Details } from '../records/details.tsx';
import record from '../records/record.module.css';
import { RecordFailure } from '../records/record-failure.tsx';
import { Related } from '../records/related.tsx';
import { Visits } from '../records/visits.tsx';
import { Week } from '../records/week.tsx';
import { addressText } from '../tables/columns.ts';
import { Marks } from '../visits/visit-marks.tsx';
import { timesText } from '../visits/visit-times.ts';
import { PlantHealth } from './plant-health.tsx';
import classes from './road.module.css';
import { plantsOfSiteQuery, type RoadSite, roadSiteQuery } from './road-queries.ts';

export function RoadSitePage({ definition, id }: { definition: Definition; id: string }) {
  const { data: site, error, refetch } = useQuery(roadSiteQuery(id));
  if (!site && error)
    return toApiError(error).status === 404 ? (
      <DeletedRecord definition={definition} id={id} />
    ) : (
      <RecordFailure definition={definition} error={error} onRetry={() => refetch()} />
    );
  if (!site) return <Lines count={8} />;
  // The id of a site that was merged into this one.
  if (site.id !== id)
    return <Navigate to="/data/$collection/$id" params={{ collection: 'sites', id: site.id }} replace />;
  return <Site definition={definition} site={site} />;
}

function Site({ definition, site }: { definition: Definition; site: RoadSite }) {
  const { t } = useTranslation();
  const { customer, contactPerson } = site;
  const address = addressText(site.address);
  const phone = contactPerson?.mobile ?? contactPerson?.phone ?? customer?.phone;
  const hours = Array.isArray(site.openingHours) ? site.openingHours.filter(isOpeningHours) : [];
  return (
    <div className={classes.page}>
      <PageHead
        title={labelOf(definition, site)}
        text={[customer?.companyName, address].filter(Boolean).join(' · ')}
        trail={[{ title: pluralOf(definition), to: '/data/sites' }]}
      />
      <VisitCard site={site} />
      <Access site={site} />
      <Card title={t('record.openingHours')} icon="clock">
        {hours.length === 0 ? (
          <p className={record.none}>{t('record.openingHoursNone')}</p>
        ) : (
          <Week items={hours} />
        )}
      </Card>
      <Plants siteId={site.id} />
      <Rest definition={definition} site={site} />
      <div className={`${classes.reach} screen-only`}>
        {phone && (
          <Button component="a" href={phoneLink(phone)} size="md" leftSection={<Icon name="phone" />}>
            {t('road.call')}
          </Button>
        )}
        <Button
          component="a"
          href={mapsLink(address)}
          target="_blank"
          rel="noreferrer"
          size="md"
          leftSection={<Icon name="map" />}
        >
          {t('road.route')}
        </Button>
      </div>
    </div>
  );
}

/** Access and plants are what somebody at the door looks for. */
const nextVisits = 2;

function VisitCard({ site }: { site: RoadSite }) {
  const { t } = useTranslation();
  const profile = useQuery(profileQuery);
  const employeeId = profile.data?.employeeId ?? undefined;
  const { data } = useQuery({
    ...dayVisitsQuery(todayIn(undefined), employeeId),
    enabled: !profile.isPending,
  });
  const today = data?.filter(({ siteId }) => siteId === site.id) ?? [];
  const hasIntervals = Array.isArray(site.attendingIntervals) && site.attendingIntervals.length > 0;
  return (
    <Card title={t('roadSite.visit')} icon="calendar">
      {today.map((visit) => (
        <div key={`${visit.date} ${timesText(visit, visit.durationInMinutes)}`}>
          <Group gap={8} mb={4}>
            <Badge color="leaf">{t('road.today')}</Badge>
            <Text fw={600} className="numbers">
              {timesText(visit, visit.durationInMinutes)}
            </Text>
          </Group>
          <Marks visit={visit} />
        </div>
      ))}
      {data && today.length === 0 && <p className={record.none}>{t('roadSite.noVisit')}</p>}
      {hasIntervals && (
        <Suspense>
          <div style={{ marginTop: '0.75rem' }}>
            <Visits site={site} count={nextVisits} />
          </div>
        </Suspense>
      )}
    </Card>
  );
}

function Access({ site: { hasKey, comment, contactPerson } }: { site: RoadSite }) {
  const { t } = useTranslation();
  const contact =
    contactPerson && [contactPerson.firstName, contactPerson.lastName].filter(Boolean).join(' ');
  const numbers = [contactPerson?.mobile, contactPerson?.phone].filter((number) => number !== undefined);
  return (
    <Card title={t('roadSite.access')} icon="key">
      <Badge color={hasKey ? 'leaf' : 'gray'}>{t(hasKey ? 'visits.key' : 'roadSite.noKey')}</Badge>
      {typeof comment === 'string' && <Text mt="xs">{comment}</Text>}
      {contact && (
        <Text mt="xs">
          {contact}
          {contactPerson?.role && <span className={record.none}> · {contactPerson.role}</span>}
        </Text>
      )}
      {numbers.map((number) => (
        <div key={number}>
          <Anchor href={phoneLink(number)} underline="always">
            {number}
          </Anchor>
        </div>
      ))}
    </Card>
  );
}

function Plants({ siteId }: { siteId: string }) {
  const { t } = useTranslation();
  const { data, error, refetch } = useQuery(plantsOfSiteQuery(siteId));
  const plants = data?.data ?? [];
  return (
    <Card title={t('roadSite.plants')} icon="plant">
      {!data && error && <FailureNote error={error} onRetry={() => refetch()} />}
      {!data && !error && <Lines count={4} />}
      {data && plants.length === 0 && <p className={record.none}>{t('roadSite.noPlants')}</p>}
      <PlantHealth plants={plants} />
      {data?.nextCursor && <p className={record.none}>{t('roadSite.onlyFirst', { count: plants.length })}</p>}
    </Card>
  );
}

/** The rest of the page, which loads only when somebody opens it. */
function Rest({ definition, site }: { definition: Definition; site: RoadSite }) {
  const { t } = useTranslation();
  const [isOpen, setIsOpen] = useState(false);
  return (
    <details
      className={`panel ${classes.rest}`}
      onToggle={(event) => setIsOpen((event.target as HTMLDetailsElement).open)}
    >
      <summary>{t('roadSite.rest')}</summary>
      {isOpen && (
        <div className={classes.restContent}>
          <Details definition={definition} entity={site} isReadOnly />
          <Related definition={definition} id={site.id} without="plant" />
        </div>
      )}
    </details>
  );
}
