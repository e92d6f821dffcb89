import { Badge, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { type Definition, type Entity, labelOf, useDefinitions } from '../api/definitions.ts';
import { useNamed, useOwner } from '../api/named.ts';
import { type AttentionEntry, attentionOverviewQuery, countOfEntries } from '../api/records.ts';
import { Card } from '../frame/card.tsx';
import { FailureNote } from '../frame/failure.tsx';
import { ButtonLink } from '../frame/links.tsx';
import { Lines } from '../frame/loading.tsx';
import { Icon, resourceIcon } from '../icons.tsx';
import record from '../records/record.module.css';
import classes from './home.module.css';

export function AttentionCard() {
  const { t } = useTranslation();
  const { data: overview, error, refetch } = useQuery(attentionOverviewQuery);
  const data = overview?.data;
  const count = countOfEntries(overview);
  return (
    <Card
      icon="attention"
      title={
        <>
          {t('home.attention')}{' '}
          {count && (
            <Badge color="yellow" ml={4}>
              {count}
            </Badge>
          )}
        </>
      }
      actions={
        count && (
          <ButtonLink size="compact-sm" variant="subtle" to="/attention">
            {t('actions.all')}
          </ButtonLink>
        )
      }
    >
      {error && <FailureNote error={error} onRetry={() => refetch()} />}
      {!data && !error && <Lines count={5} />}
      {data?.length === 0 && overview?.isComplete && <p className={record.none}>{t('attention.noneText')}</p>}
      <ul className={record.list}>
        {data?.map((entry) => (
          <Line key={`${entry.id} ${entry.field} ${entry.code}`} entry={entry} />
        ))}
      </ul>
    </Card>
  );
}

/** A site is called "Foyer": its customer tells which. */
function Owned({ definition, entity, words }: { definition: Definition; entity: Entity; words: string }) {
  const owner = useOwner(definition, entity);
  return owner ? `${words} · ${labelOf(owner.definition, owner.entity)}` : words;
}

function Line({ entry }: { entry: AttentionEntry }) {
  const { t } = useTranslation();
  const definition = useDefinitions().find(({ name }) => name === entry.resource);
  const { data: named } = useNamed([entry.resource], entry.id);
  if (!definition) return null;
  const words = t(`attention.codes.${entry.code as 'no_position'}`);
  return (
    <li>
      <Link
        to="/data/$collection/$id"
        params={{ collection: definition.collection, id: entry.id }}
        className={classes.change}
      >
        <Icon name={resourceIcon(entry.resource)} />
        <span className={classes.words}>
          <Text size="sm" fw={550} truncate>
            {named ? labelOf(definition, named.entity) : '…'}
          </Text>
          <Text size="xs" c="dimmed" truncate>
            {named ? <Owned definition={definition} entity={named.entity} words={words} /> : words}
          </Text>
        </span>
      </Link>
    </li>
  );
}
