// "Recent actions": imports, bulk changes, merges and deletions of 30 days, each with its way back.
import { Text } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { DeletedObject } from '../api/bin.ts';
import { labelOf, pluralOf, titleOf, useDefinitions } from '../api/definitions.ts';
import { useMayEdit } from '../api/session.ts';
import classes from '../bin/bin.module.css';
import { includedText } from '../bin/bin-page.tsx';
import { EmptyNote, FailureNote, NotAllowedPage } from '../frame/failure.tsx';
import { AnchorLink } from '../frame/links.tsx';
import { Lines } from '../frame/loading.tsx';
import { PageHead } from '../frame/page-head.tsx';
import { Icon, type IconName, resourceIcon } from '../icons.tsx';
import { entriesOf, type ImportRun, recentActionsQuery } from '../import/import-runs.ts';
import { KeptList, UndoImport } from '../import/undo-import.tsx';
import { MoreButton } from '../inputs/more-button.tsx';
import { ActorIcon, type ActorNames, actorText } from '../records/actor.tsx';
import { RestoreButton } from '../records/restore-button.tsx';
import { NamedLink } from '../records/value.tsx';
import { formatAgo, formatDay, formatNumber, formatTime } from '../texts/format.ts';

export function RecentPage() {
  const mayEdit = useMayEdit();
  return mayEdit ? <Recent /> : <NotAllowedPage />;
}

function Recent() {
  const { t } = useTranslation();
  const list = useInfiniteQuery(recentActionsQuery);
  const actions = list.data?.pages.flatMap((page) => page.data) ?? [];
  return (
    <>
      <PageHead title={t('navigation.recent')} text={t('recent.text')} />
      {list.error && <FailureNote error={list.error} onRetry={() => list.refetch()} />}
      {list.isPending && <Lines count={8} height={40} />}
      {list.data && actions.length === 0 && (
        <div className="panel">
          <EmptyNote icon="history" title={t('recent.none')} text={t('recent.noneText')} />
        </div>
      )}
      {actions.length > 0 && (
        <ul className={`panel ${classes.list}`}>
          {actions.map(({ run, deletion }) =>
            run ? <Run key={run.id} run={run} /> : <Deletion key={deletion!.id} entry={deletion!} />,
          )}
        </ul>
      )}
      <MoreButton list={list} />
    </>
  );
}

interface ActionProps {
  icon: IconName;
  title: ReactNode;
  facts: string[];
  actor: ActorNames;
  at: string;
  /** The time until which the action can be undone. */
  until?: string | undefined;
  way: ReactNode;
  children?: ReactNode;
}

function Action({ icon, title, facts, actor, at, until, way, children }: ActionProps) {
  const { t } = useTranslation();
  return (
    <li className={classes.entry}>
      <span className={classes.icon}>
        <Icon name={icon} />
      </span>
      <div className={classes.words}>
        <Text component="div" fw={550}>
          {title}
        </Text>
        <Text size="sm" c="dimmed">
          {facts.filter(Boolean).join(' · ')}
        </Text>
        <Text size="xs" c="dimmed">
          {formatAgo(at)} <ActorIcon type={actor.actorType} />{' '}
          {t('changes.by', { actor: actorText(actor, t) })}
          {until && ` · ${t('recent.until', { day: formatDay(until.slice(0, 10)) })}`}
        </Text>
        {children}
      </div>
      {way}
    </li>
  );
}

function Run({ run }: { run: ImportRun }) {
  const { t } = useTranslation();
  const definition = useDefinitions().find(({ name }) => name === run.resource);
  const counts = (['created', 'changed', 'deleted'] as const)
    .filter((name) => run[name] > 0)
    .map((name) => t(`import.recent.${name}`, { formatted: formatNumber(run[name]) }));
  const isMerge = run.objectId !== null;
  const title = isMerge ? (
    <NamedLink resources={[run.resource!]} id={run.objectId!} />
  ) : (
    (run.fileName ?? t(titleKeyOf(run)))
  );
  return (
    <Action
      icon={isMerge ? 'copy' : run.resource === null ? 'pencil' : 'import'}
      title={title}
      facts={[
        isMerge ? t('recent.merge') : '',
        definition ? pluralOf(definition) : '',
        ...(isMerge ? [t('recent.merged', { count: run.deleted })] : counts),
      ]}
      actor={run}
      at={run.startedAt}
      until={run.isOpen ? run.undoableUntil : undefined}
      way={<UndoImport id={run.id} isBegun={run.undoStartedAt !== null} isOpen={run.isOpen} />}
    >
      {run.undoStartedAt !== null && (
        <Text size="xs" fw={550}>
          {run.isOpen
            ? t('import.recent.interrupted', {
                done: formatNumber(run.settled),
                total: formatNumber(entriesOf(run)),
              })
            : t('import.recent.undone', {
                actor: run.undoActor ?? '',
                time: formatTime(run.undoStartedAt),
              })}
        </Text>
      )}
      {run.kept > 0 && (
        <details>
          <Text component="summary" size="xs">
            {t('import.recent.kept', { count: run.kept, formatted: formatNumber(run.kept) })}
          </Text>
          <KeptList id={run.id} />
        </details>
      )}
    </Action>
  );
}

/** Names a run without a file name, which was erased or never existed. */
function titleKeyOf({ resource, actorType }: ImportRun) {
  if (resource !== null) return 'import.title';
  return actorType === 'PERSON' ? 'import.recent.bulk' : 'import.recent.noFile';
}

function Deletion({ entry }: { entry: DeletedObject }) {
  const { t } = useTranslation();
  const definitions = useDefinitions();
  const definition = definitions.find(({ name }) => name === entry.resource);
  if (!definition) return null;
  const name = labelOf(definition, entry.data);
  return (
    <Action
      icon={resourceIcon(definition.name)}
      title={<AnchorLink to={`/data/${definition.collection}/${entry.id}`}>{name}</AnchorLink>}
      facts={[
        t('recent.deleted'),
        titleOf(definition),
        entry.included.length > 0 ? t('bin.with', { things: includedText(entry, definitions) }) : '',
      ]}
      actor={entry}
      at={entry.deletedAt}
      until={entry.restorableUntil}
      way={<RestoreButton definition={definition} id={entry.id} name={name} />}
    />
  );
}
