// The first page after the sign-in: today, open tasks and latest changes.
import { Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link, lazyRouteComponent } from '@tanstack/react-router';
import { Suspense } from 'react';
import { useTranslation } from 'react-i18next';
import { type Definition, labelOf, nounOf, titleOf, useDefinitions } from '../api/definitions.ts';
import { useNamed } from '../api/named.ts';
import { type Change, countsQuery, latestChangesQuery } from '../api/records.ts';
import { useIsAdministrator, useMayEdit, useMe } from '../api/session.ts';
import { Card } from '../frame/card.tsx';
import { FailureNote } from '../frame/failure.tsx';
import { Lines } from '../frame/loading.tsx';
import { PageHead } from '../frame/page-head.tsx';
import { Icon, resourceIcon } from '../icons.tsx';
import { ActorIcon, actorHint, actorText } from '../records/actor.tsx';
import record from '../records/record.module.css';
import { formatAgo, formatNumber } from '../texts/format.ts';
import { withTexts } from '../texts/language.ts';
import { AttentionCard } from './attention-card.tsx';
import { Checklist } from './checklist.tsx';
import classes from './home.module.css';
import { ContractsEnding, PlantsInNeed } from './soon-cards.tsx';
import { WebhookNotice } from './webhook-notice.tsx';

const VisitsCard = lazyRouteComponent(
  withTexts(['visits'], () => import('./visits-card.tsx')),
  'VisitsCard',
);
const RoadHome = lazyRouteComponent(
  withTexts(['road', 'visits'], () => import('../road/road-home.tsx')),
  'RoadHome',
);

const FreshBusiness = lazyRouteComponent(
  withTexts(['import'], () => import('./fresh-business.tsx')),
  'FreshBusiness',
);

export function HomePage() {
  const { t } = useTranslation();
  const { person } = useMe();
  const hour = new Date().getHours();
  const isEvening = hour < 5 || hour >= 18;
  const greeting = isEvening ? 'home.evening' : hour < 11 ? 'home.morning' : 'home.day';
  const title = t(greeting, { name: person.name });
  if (useMayEdit()) return <OfficeHome title={title} />;
  return (
    <Suspense fallback={<Lines count={5} />}>
      <RoadHome greeting={title} />
    </Suspense>
  );
}

function OfficeHome({ title }: { title: string }) {
  const { t } = useTranslation();
  const { business } = useMe();
  const isAdministrator = useIsAdministrator();
  const counts = useQuery(countsQuery);
  const isFresh = counts.data?.customers === 0;
  return (
    <div className={classes.page}>
      <PageHead title={title} text={t('home.text', { business: business.name })} />
      {isAdministrator && <WebhookNotice />}
      <div className={classes.cards}>
        <div className={classes.loading}>
          <Lines count={5} />
        </div>
        {counts.isPending && <Waiting />}
        {isFresh && (
          <Suspense fallback={<Waiting />}>
            <FreshBusiness />
          </Suspense>
        )}
        {counts.isFetched && !isFresh && (
          <>
            <div className={classes.columns}>
              <Suspense fallback={<Lines count={5} />}>
                <VisitsCard />
              </Suspense>
              <AttentionCard />
              <ContractsEnding />
              <PlantsInNeed />
              <div className={classes.wide}>
                <LatestChanges />
              </div>
            </div>
            <Numbers counts={counts.data} />
          </>
        )}
        {isAdministrator && <Checklist />}
      </div>
    </div>
  );
}

/** Holds back the cards until all of them are known. */
function Waiting() {
  return (
    <div className={classes.columns}>
      <Lines count={1} />
    </div>
  );
}

function Numbers({ counts = {} }: { counts: Record<string, number> | undefined }) {
  const { t } = useTranslation();
  return (
    <nav className={classes.numbers} aria-label={t('home.numbers')}>
      {useDefinitions().map((definition) => (
        <NumberLink key={definition.name} definition={definition} count={counts[definition.collection]} />
      ))}
    </nav>
  );
}

function NumberLink({ definition, count }: { definition: Definition; count: number | undefined }) {
  return (
    <Link to="/data/$collection" params={{ collection: definition.collection }} className={classes.number}>
      <span className={classes.count}>{count === undefined ? '…' : formatNumber(count)}</span>{' '}
      {nounOf(definition, count === 1 ? 'one' : 'many')}
    </Link>
  );
}

function LatestChanges() {
  const { t } = useTranslation();
  const { data, error, refetch } = useQuery(latestChangesQuery);
  return (
    <Card title={t('home.latest')} icon="history">
      {error && <FailureNote error={error} onRetry={() => refetch()} />}
      {!data && !error && <Lines count={5} />}
      {data?.data.length === 0 && <p className={record.none}>{t('home.latestNone')}</p>}
      <ul className={`${record.list} ${classes.changes}`}>
        {data?.data.map((change) => (
          <LatestChange key={change.cursor} change={change} />
        ))}
      </ul>
    </Card>
  );
}

function LatestChange({ change }: { change: Change }) {
  const { t } = useTranslation();
  const definition = useDefinitions().find(({ name }) => name === change.resource);
  const { data: named } = useNamed([change.resource], change.id, true);
  if (!definition) return null;
  const name = named
    ? labelOf(definition, named.entity)
    : t('changes.goneName', { type: titleOf(definition) });
  const words = (
    <>
      <Text size="sm" fw={550} truncate>
        {name}
      </Text>
      <Text size="xs" c="dimmed">
        {t(`changes.${change.action.toLowerCase() as 'created'}`)} <ActorIcon type={change.actorType} />{' '}
        {t('changes.by', { actor: actorText(change, t) })}
        {' · '}
        {[actorHint(change, t), formatAgo(change.at)].filter(Boolean).join(' · ')}
      </Text>
    </>
  );
  return (
    <li>
      {named ? (
        <Link
          to="/data/$collection/$id"
          params={{ collection: definition.collection, id: change.id }}
          className={classes.change}
        >
          <Icon name={resourceIcon(definition.name)} />
          <span className={classes.words}>{words}</span>
        </Link>
      ) : (
        <span className={classes.change}>
          <Icon name={resourceIcon(definition.name)} />
          <span className={classes.words}>{words}</span>
        </span>
      )}
    </li>
  );
}
