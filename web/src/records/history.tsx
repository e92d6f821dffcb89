// History of an object, from the journal.
import { Button, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { TFunction } from 'i18next';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { dayNames } from '../../../core/calendar/calendar-days.ts';
import { isOpeningHours } from '../../../core/calendar/opening-hours.ts';
import { isAttendingInterval } from '../../../core/calendar/visits.ts';
import { type Definition, type Entity, type Field, leavesOf, titleOf } from '../api/definitions.ts';
import { type Change, historyQuery } from '../api/records.ts';
import { Card } from '../frame/card.tsx';
import { FailureNote } from '../frame/failure.tsx';
import { Lines } from '../frame/loading.tsx';
import { addressText, isAddress } from '../tables/columns.ts';
import { formatTime, weekdayNames } from '../texts/format.ts';
import { ActorIcon, actorHint, actorText } from './actor.tsx';
import { type EarlierValues, earlierStates } from './earlier-state.ts';
import { EarlierStateDialog } from './earlier-state-dialog.tsx';
import { describeInterval } from './interval-words.ts';
import classes from './record.module.css';
import { NamedLink, plainText } from './value.tsx';

const shownAtFirst = 5;

interface HistoryProps {
  definition: Definition;
  id: string;
  /** The record as it is now, for people who can bring back an earlier state. */
  entity?: Entity;
}

export function History({ definition, id, entity }: HistoryProps) {
  const { t } = useTranslation();
  const [isWhole, setIsWhole] = useState(false);
  const { data, error, refetch } = useQuery(historyQuery(definition.name, id));
  const [chosen, setChosen] = useState<{ change: Change; values: EarlierValues }>();
  const entries = data?.data ?? [];
  const states = earlierStates(entries);
  return (
    <Card title={t('record.history')} icon="history">
      {error && <FailureNote error={error} onRetry={() => refetch()} />}
      {!data && !error && <Lines />}
      {data && entries.length === 0 && <p className={classes.none}>{t('record.historyNone')}</p>}
      <ol className={classes.history}>
        {entries.slice(0, isWhole ? undefined : shownAtFirst).map((change, index) => (
          <li key={change.cursor}>
            <strong>{t(`changes.${change.action.toLowerCase() as 'created'}`)}</strong>{' '}
            <ActorIcon type={change.actorType} /> {t('changes.by', { actor: actorText(change, t) })}
            <Text size="xs" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
              {[
                formatTime(change.at),
                actorHint(change, t),
                change.origin && t('changes.origin', { origin: change.origin }),
              ]
                .filter(Boolean)
                .join(' · ')}
            </Text>
            {change.changes && change.action === 'CHANGED' && (
              <Changes definition={definition} changes={change.changes} />
            )}
            {entity && change.action !== 'DELETED' && (states[index]?.size ?? 0) > 0 && (
              <Button
                mt={4}
                ml={-8}
                size="compact-xs"
                variant="subtle"
                onClick={() => setChosen({ change, values: states[index]! })}
              >
                {t('history.restore')}
              </Button>
            )}
          </li>
        ))}
      </ol>
      {!isWhole && entries.length > shownAtFirst && (
        <Button mt="md" size="compact-sm" variant="subtle" onClick={() => setIsWhole(true)}>
          {t('actions.more')}
        </Button>
      )}
      {chosen && entity && (
        <EarlierStateDialog
          definition={definition}
          entity={entity}
          change={chosen.change}
          values={chosen.values}
          onClose={() => setChosen(undefined)}
        >
          <Changes definition={definition} changes={differencesOf(entity, chosen.values)} />
        </EarlierStateDialog>
      )}
    </Card>
  );
}

function differencesOf(entity: Entity, values: EarlierValues): ChangesProps['changes'] {
  return Object.fromEntries([...values].map(([name, to]) => [name, { from: entity[name], to }]));
}

interface ChangesProps {
  definition: Definition;
  changes: NonNullable<Change['changes']>;
}

function Changes({ definition, changes }: ChangesProps) {
  const fields = new Map(
    [...definition.fields, ...leavesOf(definition.fields)].map((field) => [field.path, field]),
  );
  return (
    <dl className={classes.changes}>
      {Object.entries(changes).map(([path, { from, to }]) => {
        const field = fields.get(path);
        return (
          <div key={path}>
            <dt>{field ? titleOf(field) : path}</dt>
            <dd>
              {from !== undefined && (
                <span className={classes.before}>
                  <Side field={field} value={from} />
                </span>
              )}{' '}
              <Side field={field} value={to} />
            </dd>
          </div>
        );
      })}
    </dl>
  );
}

function isEmptyList(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0;
}

function itemText(item: unknown, t: TFunction): string {
  if (isAttendingInterval(item)) return describeInterval(item, t);
  if (!isOpeningHours(item)) return JSON.stringify(item);
  return `${weekdayNames('short')[dayNames.indexOf(item.dayOfWeek)]} ${item.opens} – ${item.closes}`;
}

function Side({ field, value }: { field: Field | undefined; value: unknown }) {
  const { t } = useTranslation();
  if (value === undefined || value === null || value === '' || isEmptyList(value))
    return <em>{t('changes.empty')}</em>;
  if (field?.reference) return <NamedLink resources={field.reference.resources} id={String(value)} />;
  if (typeof value === 'boolean') return value ? t('record.yes') : t('record.no');
  if (field && isAddress(field)) return addressText(value);
  if (Array.isArray(value)) return value.map((item) => itemText(item, t)).join('; ');
  return field ? plainText(field, value) : JSON.stringify(value);
}
