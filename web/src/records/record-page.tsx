// The page of one object: its values, what belongs to it, and what has happened to it.
import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { lazyRouteComponent, Navigate, useParams } from '@tanstack/react-router';
import { lazy, Suspense, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { isOpeningHours } from '../../../core/calendar/opening-hours.ts';
import { isAttendingInterval } from '../../../core/calendar/visits.ts';
import { toApiError } from '../api/client.ts';
import { type Definition, type Entity, labelOf, pluralOf, useDefinition } from '../api/definitions.ts';
import { recordQuery } from '../api/records.ts';
import { useMayEdit } from '../api/session.ts';
import { Card } from '../frame/card.tsx';
import { NotFoundPage } from '../frame/failure.tsx';
import { ButtonLink } from '../frame/links.tsx';
import { Lines } from '../frame/loading.tsx';
import { PageHead } from '../frame/page-head.tsx';
import { Icon } from '../icons.tsx';
import { formatAgo } from '../texts/format.ts';
import { withTexts } from '../texts/language.ts';
import { DeletedRecord } from './deleted-record.tsx';
import { Deletion } from './deletion.tsx';
import { Details } from './details.tsx';
import { History } from './history.tsx';
import classes from './record.module.css';
import { RecordFailure } from './record-failure.tsx';
import { Related } from './related.tsx';
import { UnknownItems } from './unknown-items.tsx';
import { StatusBadge } from './value.tsx';
import { Visits } from './visits.tsx';
import { Week } from './week.tsx';

const CalendarFeed = lazy(async () => ({
  default: (await import('../paper/calendar-feed.tsx')).CalendarFeed,
}));

const EmployeeWeek = lazy(async () => ({
  default: (await import('../visits/employee-week.tsx')).EmployeeWeek,
}));

const RoadSitePage = lazyRouteComponent(
  withTexts(['road', 'visits'], () => import('../road/site-page.tsx')),
  'RoadSitePage',
);
const RoadPlant = lazyRouteComponent(
  withTexts(['road'], () => import('../road/road-plant.tsx')),
  'RoadPlant',
);

export function RecordPage() {
  const { collection = '', id = '' } = useParams({ strict: false });
  const definition = useDefinition(collection);
  const mayEdit = useMayEdit();
  if (definition?.name === 'site' && !mayEdit)
    return (
      <Suspense fallback={<Lines count={8} />}>
        <RoadSitePage key={id} definition={definition} id={id} />
      </Suspense>
    );
  return definition ? <Record key={id} definition={definition} id={id} /> : <NotFoundPage />;
}

function Record({ definition, id }: { definition: Definition; id: string }) {
  const { t } = useTranslation();
  const mayEdit = useMayEdit();
  const [isDeleting, setIsDeleting] = useState(false);
  const { data: entity, error, refetch } = useQuery(recordQuery(definition.collection, id));
  const trail = [{ title: pluralOf(definition), to: `/data/${definition.collection}` }];

  const isCare = !mayEdit && definition.careFields.length > 0;

  if (error && !entity) {
    return toApiError(error).status === 404 ? (
      <DeletedRecord definition={definition} id={id} />
    ) : (
      <RecordFailure definition={definition} error={error} onRetry={() => refetch()} />
    );
  }
  if (!entity) return <Lines count={8} />;
  // The id of a record that was merged into this one.
  if (entity.id !== id)
    return (
      <Navigate
        to="/data/$collection/$id"
        params={{ collection: definition.collection, id: entity.id }}
        replace
      />
    );

  return (
    <div className={classes.page}>
      <PageHead
        title={labelOf(definition, entity)}
        badge={<StatusBadge fields={definition.fields} entity={entity} />}
        text={[
          t('record.createdAt', { ago: formatAgo(entity.createdAt) }),
          entity.updatedAt !== entity.createdAt &&
            t('record.updatedAt', { ago: formatAgo(entity.updatedAt) }),
        ]
          .filter(Boolean)
          .join(', ')}
        trail={trail}
        actions={
          <>
            <PaperLink collection={definition.collection} id={id} />
            <RecordActions definition={definition} id={id} onDelete={() => setIsDeleting(true)} />
          </>
        }
      />
      <div className={classes.columns}>
        <div className={classes.column}>
          {isCare && (
            <Suspense fallback={<Lines count={3} />}>
              <RoadPlant plant={entity} />
            </Suspense>
          )}
          <Details definition={definition} entity={entity} isReadOnly={isCare} />
          <Related definition={definition} id={id} />
        </div>
        <div className={classes.column}>
          <Plan definition={definition} entity={entity} />
          {definition.name === 'employee' && (
            <Suspense>
              <EmployeeWeek employeeId={id} />
            </Suspense>
          )}
          {mayEdit && (definition.name === 'employee' || definition.name === 'site') && (
            <Suspense>
              <CalendarFeed resource={definition.name} id={id} />
            </Suspense>
          )}
          <History definition={definition} id={id} entity={mayEdit ? entity : undefined} />
        </div>
      </div>
      {isDeleting && (
        <Deletion definition={definition} entity={entity} onClose={() => setIsDeleting(false)} />
      )}
    </div>
  );
}

interface RecordActionsProps {
  definition: Definition;
  id: string;
  onDelete: () => void;
}

function RecordActions({ definition, id, onDelete }: RecordActionsProps) {
  const { t } = useTranslation();
  const mayEdit = useMayEdit();
  if (!mayEdit) return null;
  return (
    <>
      <Button variant="default" leftSection={<Icon name="trash" size={16} />} onClick={onDelete}>
        {t('actions.delete')}
      </Button>
      <ButtonLink
        variant="default"
        to={`/data/${definition.collection}/new`}
        search={{ copyOf: id }}
        leftSection={<Icon name="copy" size={16} />}
      >
        {t('actions.duplicate')}
      </ButtonLink>
      <ButtonLink
        to={`/data/${definition.collection}/${id}/edit`}
        leftSection={<Icon name="pencil" size={16} />}
      >
        {t('actions.edit')}
      </ButtonLink>
    </>
  );
}

/** Visits and opening hours, where the resource has them. */
function Plan({ definition, entity }: { definition: Definition; entity: Entity }) {
  const { t } = useTranslation();
  const hours = asList(entity.openingHours);
  const intervals = asList(entity.attendingIntervals);
  const has = (name: string) =>
    definition.fields.some((field) => field.kind === 'list' && field.name === name);
  return (
    <>
      {has('attendingIntervals') && (
        <Card title={t('record.visits')} icon="calendar">
          {intervals.length === 0 ? (
            <p className={classes.none}>{t('record.visitsNone')}</p>
          ) : (
            <Visits site={entity} />
          )}
          <UnknownItems items={intervals.filter((item) => !isAttendingInterval(item))} />
        </Card>
      )}
      {has('openingHours') && (
        <Card title={t('record.openingHours')} icon="clock">
          {hours.length === 0 ? (
            <p className={classes.none}>{t('record.openingHoursNone')}</p>
          ) : (
            <Week items={hours.filter(isOpeningHours)} />
          )}
          <UnknownItems items={hours.filter((item) => !isOpeningHours(item))} />
        </Card>
      )}
    </>
  );
}

/** A sheet for sites, and a label for things that carry one. */
function PaperLink({ collection, id }: { collection: string; id: string }) {
  const { t } = useTranslation();
  if (collection === 'sites')
    return (
      <ButtonLink
        variant="default"
        to={`/data/sites/${id}/sheet`}
        leftSection={<Icon name="printer" size={16} />}
      >
        {t('paper.siteSheet')}
      </ButtonLink>
    );
  if (collection !== 'plants' && collection !== 'containers') return null;
  return (
    <ButtonLink
      variant="default"
      to={`/labels/${collection}`}
      search={{ id }}
      leftSection={<Icon name="qr" size={16} />}
    >
      {t('labels.one')}
    </ButtonLink>
  );
}

function asList(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}
