// "Recent imports": of the last 30 days, with the way back.
import { Button, Text } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { pluralOf, useDefinitions } from '../api/definitions.ts';
import { Card } from '../frame/card.tsx';
import { FailureNote } from '../frame/failure.tsx';
import { MoreButton } from '../frame/more-button.tsx';
import { ActorIcon, actorText } from '../records/actor.tsx';
import { formatDay, formatNumber, formatTime } from '../texts/format.ts';
import classes from './import.module.css';
import { entriesOf, type ImportRun, importRunsQuery } from './import-runs.ts';
import { KeptList, UndoImport } from './undo-import.tsx';

export function ImportList() {
  const { t } = useTranslation();
  const list = useInfiniteQuery(importRunsQuery);
  const runs = list.data?.pages.flatMap((page) => page.data) ?? [];
  if (list.error) return <FailureNote error={list.error} onRetry={() => list.refetch()} />;
  if (runs.length === 0) return null;
  return (
    <Card title={t('import.recent.title')} icon="history">
      <ul className={classes.runs}>
        {runs.map((run) => (
          <Run key={run.id} run={run} />
        ))}
      </ul>
      <MoreButton list={list} />
    </Card>
  );
}

/** Of an import without a name: its file name was erased, or there was no file. */
function titleOf({ resource, actorType }: ImportRun) {
  if (resource !== null) return 'import.title';
  return actorType === 'PERSON' ? 'import.recent.bulk' : 'import.recent.noFile';
}

function Run({ run }: { run: ImportRun }) {
  const { t } = useTranslation();
  const [showsKept, setShowsKept] = useState(false);
  const definition = useDefinitions().find(({ name }) => name === run.resource);
  const counts = (['created', 'changed', 'deleted'] as const)
    .filter((name) => run[name] > 0)
    .map((name) => t(`import.recent.${name}`, { formatted: formatNumber(run[name]) }));
  const undoActor = run.undoActor ?? '';
  return (
    <li>
      <div className={classes.columnTitle}>
        <Text fw={550} size="sm" className={classes.fileName}>
          {run.fileName ?? t(titleOf(run))}
        </Text>
        <Text size="sm" c="dimmed">
          {[...(definition ? [pluralOf(definition)] : []), ...counts].join(' · ')}
        </Text>
        <Text size="xs" c="dimmed">
          {formatTime(run.startedAt)} <ActorIcon type={run.actorType} />{' '}
          {t('changes.by', { actor: actorText(run, t) })}
          {run.isOpen && ` · ${t('import.recent.until', { day: formatDay(run.undoableUntil.slice(0, 10)) })}`}
        </Text>
        {run.undoStartedAt !== null && (
          <Text size="xs" fw={550}>
            {run.isOpen
              ? t('import.recent.interrupted', {
                  done: formatNumber(run.settled),
                  total: formatNumber(entriesOf(run)),
                })
              : t('import.recent.undone', { actor: undoActor, time: formatTime(run.undoStartedAt) })}
          </Text>
        )}
        {run.kept > 0 && (
          <span>
            <Button size="compact-xs" variant="subtle" onClick={() => setShowsKept(!showsKept)}>
              {t('import.recent.kept', { count: run.kept, formatted: formatNumber(run.kept) })}
            </Button>
          </span>
        )}
      </div>
      <UndoImport id={run.id} isBegun={run.undoStartedAt !== null} isOpen={run.isOpen} />
      {showsKept && (
        <div className={classes.keptBox}>
          <KeptList id={run.id} />
        </div>
      )}
    </li>
  );
}
