// News of the day: plants in need, and contracts that end soon.
import { Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { type Entity, labelOf, useDefinition } from '../api/definitions.ts';
import { fewQuery } from '../api/records.ts';
import { Card } from '../frame/card.tsx';
import { FailureNote } from '../frame/failure.tsx';
import { ButtonLink } from '../frame/links.tsx';
import { Lines } from '../frame/loading.tsx';
import { Icon, resourceIcon } from '../icons.tsx';
import record from '../records/record.module.css';
import { NamedText, StatusBadge } from '../records/value.tsx';
import { formatDay } from '../texts/format.ts';
import classes from './home.module.css';

const shownItems = 6;
const dayMs = 86_400_000;
const soonDays = 90;

export function PlantsInNeed() {
  const { t } = useTranslation();
  return (
    <SoonCard
      collection="plants"
      title={t('home.plants')}
      none={t('home.plantsNone')}
      search={{ status: 'CRITICAL,NEEDS_ATTENTION', sort: 'name' }}
      hintOf={(plant) => (
        <>
          <NamedText resources={['site']} id={String(plant.siteId)} />
          {typeof plant.room === 'string' && ` · ${plant.room}`}
        </>
      )}
    />
  );
}

export function ContractsEnding() {
  const { t } = useTranslation();
  const day = (days: number) => new Date(Date.now() + days * dayMs).toISOString().slice(0, 10);
  return (
    <SoonCard
      collection="contracts"
      title={t('home.contracts')}
      none={t('home.contractsNone')}
      search={{ endDateFrom: day(0), endDateUntil: day(soonDays), sort: 'endDate' }}
      hintOf={(contract) => (
        <>
          {t('record.validUntil', { until: formatDay(String(contract.endDate)) })}
          {' · '}
          <NamedText resources={['customer']} id={String(contract.customerId)} />
        </>
      )}
    />
  );
}

interface SoonCardProps {
  collection: string;
  title: string;
  none: string;
  search: Record<string, string>;
  hintOf: (entity: Entity) => ReactNode;
}

function SoonCard({ collection, title, none, search, hintOf }: SoonCardProps) {
  const { t } = useTranslation();
  const definition = useDefinition(collection);
  const { data, error, refetch } = useQuery(fewQuery(collection, search, shownItems));
  if (!definition) return null;
  return (
    <Card
      icon={resourceIcon(definition.name)}
      title={title}
      actions={
        (data?.total ?? 0) > shownItems && (
          <ButtonLink size="compact-sm" variant="subtle" to={`/data/${collection}`} search={search}>
            {t('actions.all')}
          </ButtonLink>
        )
      }
    >
      {error && <FailureNote error={error} onRetry={() => refetch()} />}
      {!data && !error && <Lines count={5} />}
      {data?.data.length === 0 && <p className={record.none}>{none}</p>}
      <ul className={record.list}>
        {data?.data.map((entity) => (
          <li key={entity.id}>
            <Link
              to="/data/$collection/$id"
              params={{ collection, id: entity.id }}
              className={classes.change}
            >
              <Icon name={resourceIcon(definition.name)} />
              <span className={classes.words}>
                <Text size="sm" fw={550} truncate>
                  {labelOf(definition, entity)}
                </Text>
                <Text size="xs" c="dimmed" truncate>
                  {hintOf(entity)}
                </Text>
              </span>
              <span className={classes.mark}>
                <StatusBadge fields={definition.fields} entity={entity} />
              </span>
            </Link>
          </li>
        ))}
      </ul>
    </Card>
  );
}
