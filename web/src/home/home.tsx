// The first page after the sign-in: counts, attention, latest changes.
import { Group, Skeleton, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link, lazyRouteComponent } from '@tanstack/react-router';
import { Suspense } from 'react';
import { useTranslation } from 'react-i18next';
import { type Definition, labelOf, nounOf, pluralOf, titleOf, useDefinitions } from '../api/definitions.ts';
import { useNamed } from '../api/named.ts';
import { type Change, countsQuery, latestChangesQuery } from '../api/records.ts';
import { useIsAdministrator, useMayEdit, useMe } from '../api/session.ts';
import { Card } from '../frame/card.tsx';
import { FailureNote } from '../frame/failure.tsx';
import { ButtonLink } from '../frame/links.tsx';
import { Lines } from '../frame/loading.tsx';
import { PageHead } from '../frame/page-head.tsx';
import { Icon, resourceIcon } from '../icons.tsx';
import { ActorIcon, actorHint, actorText } from '../records/actor.tsx';
import record from '../records/record.module.css';
import { SearchButton } from '../search/search-button.tsx';
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

export function HomePage() {
  const { t } = useTranslation();
  const { person, business } = useMe();
  const isAdministrator = useIsAdministrator();
  const mayEdit = useMayEdit();
  const hour = new Date().getHours();
  const isEvening = hour < 5 || hour >= 18;
  const greeting = isEvening ? 'home.evening' : hour < 11 ? 'home.morning' : 'home.day';
  if (!mayEdit)
    return (
      <Suspense fallback={<Lines count={5} />}>
        <RoadHome greeting={t(greeting, { name: person.name })} />
      </Suspense>
    );
  return (
    <div className={classes.page}>
      <PageHead
        title={t(greeting, { name: person.name })}
        text={t('home.text', { business: business.name })}
      />
      <div className={`screen-only ${classes.search}`}>
        <SearchButton isLarge>{t('home.search')}</SearchButton>
      </div>
      {isAdministrator && <WebhookNotice />}
      <Numbers />
      <div className={classes.cards}>
        <div className={classes.loading}>
          <Lines count={5} />
        </div>
        <div className={classes.columns}>
          <div className={classes.column}>
            <Suspense fallback={<Lines count={5} />}>
              <VisitsCard />
            </Suspense>
            <AttentionCard />
            <ContractsEnding />
          </div>
          <div className={classes.column}>
            <PlantsInNeed />
            <LatestChanges />
          </div>
        </div>
        {isAdministrator && <Checklist />}
      </div>
    </div>
  );
}

function Numbers() {
  const { t } = useTranslation();
  const { data: counts } = useQuery(countsQuery);
  return (
    <nav className={classes.numbers} aria-label={t('home.numbers')}>
      {useDefinitions().map((definition) => (
        <NumberTile key={definition.name} definition={definition} count={counts?.[definition.collection]} />
      ))}
    </nav>
  );
}

function NumberTile({ definition, count }: { definition: Definition; count: number | undefined }) {
  return (
    <Link
      to="/data/$collection"
      params={{ collection: definition.collection }}
      className={`panel ${classes.tile}`}
    >
      <span className={classes.tileIcon}>
        <Icon name={resourceIcon(definition.name)} size={20} />
      </span>
      <span className={classes.count}>
        {count === undefined ? <Skeleton height={24} width={48} /> : formatNumber(count)}
      </span>
      <span className={classes.tileTitle}>{pluralOf(definition)}</span>
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
      {data?.data.length === 0 && <Beginning />}
      <ul className={record.list}>
        {data?.data.map((change) => (
          <LatestChange key={change.cursor} change={change} />
        ))}
      </ul>
    </Card>
  );
}

/** Of a business that has no data yet. */
function Beginning() {
  const { t } = useTranslation();
  const mayEdit = useMayEdit();
  const customer = useDefinitions().find(({ name }) => name === 'customer');
  return (
    <>
      <p className={record.none}>{t('home.latestNone')}</p>
      {mayEdit && customer && (
        <Group mt="md" gap="sm">
          <ButtonLink size="sm" to={`/data/${customer.collection}/new`}>
            {t('table.new', { title: nounOf(customer) })}
          </ButtonLink>
          <ButtonLink size="sm" variant="default" to="/import">
            {t('table.importFile')}
          </ButtonLink>
        </Group>
      )}
    </>
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
