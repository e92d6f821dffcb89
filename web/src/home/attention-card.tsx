import { Badge, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { call, queryString } from '../api/client.ts';
import { type Definition, type Entity, labelOf, useDefinitions } from '../api/definitions.ts';
import { useNamed, useOwner } from '../api/named.ts';
import { type AttentionEntry, attentionCountQuery, type Page } from '../api/records.ts';
import { Card } from '../frame/card.tsx';
import { FailureNote } from '../frame/failure.tsx';
import { ButtonLink } from '../frame/links.tsx';
import { Lines } from '../frame/loading.tsx';
import { Icon, resourceIcon } from '../icons.tsx';
import record from '../records/record.module.css';
import { formatNumber } from '../texts/format.ts';
import classes from './home.module.css';

const shown = 6;

/** A busy service answers short pages, even empty ones, with a cursor to go on from. */
async function readFirst(signal: AbortSignal): Promise<AttentionEntry[]> {
  const entries: AttentionEntry[] = [];
  let cursor: string | undefined;
  do {
    const target = `/attention${queryString({ cursor, limit: shown - entries.length })}`;
    const page = await call<Page<AttentionEntry>>('GET', target, { signal });
    entries.push(...page.data);
    cursor = page.nextCursor ?? undefined;
  } while (cursor && entries.length < shown);
  return entries;
}

export function AttentionCard() {
  const { t } = useTranslation();
  const { data, error, refetch } = useQuery({
    queryKey: ['attention', 'first'],
    queryFn: ({ signal }) => readFirst(signal),
  });
  const { data: count = 0 } = useQuery(attentionCountQuery);
  return (
    <Card
      icon="attention"
      title={
        <>
          {t('home.attention')}{' '}
          {count > 0 && (
            <Badge color="yellow" ml={4}>
              {formatNumber(count)}
            </Badge>
          )}
        </>
      }
      actions={
        count > 0 && (
          <ButtonLink size="compact-sm" variant="subtle" to="/attention">
            {t('actions.all')}
          </ButtonLink>
        )
      }
    >
      {error && <FailureNote error={error} onRetry={() => refetch()} />}
      {!data && !error && <Lines count={5} />}
      {data?.length === 0 && <p className={record.none}>{t('attention.noneText')}</p>}
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
