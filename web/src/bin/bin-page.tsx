// "Bin": what was deleted in the last 30 days, by whom, and the way back.
import { Select, Text, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { binQuery, type DeletedObject } from '../api/bin.ts';
import { type Definition, labelOf, pluralOf, titleOf, useDefinitions } from '../api/definitions.ts';
import { useMayEdit } from '../api/session.ts';
import { EmptyNote, FailureNote, NotAllowedPage } from '../frame/failure.tsx';
import { AnchorLink } from '../frame/links.tsx';
import { Lines } from '../frame/loading.tsx';
import { PageHead } from '../frame/page-head.tsx';
import { Icon, resourceIcon } from '../icons.tsx';
import { MoreButton } from '../inputs/more-button.tsx';
import { ActorIcon, actorText } from '../records/actor.tsx';
import { RestoreButton } from '../records/restore-button.tsx';
import { formatAgo, formatDay, formatNumber } from '../texts/format.ts';
import classes from './bin.module.css';

export function BinPage() {
  const mayEdit = useMayEdit();
  if (!mayEdit) return <NotAllowedPage />;
  return <Bin />;
}

function Bin() {
  const { t } = useTranslation();
  const definitions = useDefinitions();
  const [typed, setTyped] = useState('');
  const [resource, setResource] = useState<string | null>(null);
  const [q] = useDebouncedValue(typed, 200);
  const list = useInfiniteQuery(binQuery({ q: q.trim() || undefined, resource: resource ?? undefined }));
  const entries = list.data?.pages.flatMap((page) => page.data) ?? [];
  return (
    <>
      <PageHead title={t('bin.title')} text={t('bin.text')} />
      <div className={`${classes.filters} screen-only`}>
        <TextInput
          className={classes.search}
          aria-label={t('bin.search')}
          placeholder={t('bin.search')}
          leftSection={<Icon name="search" size={16} />}
          value={typed}
          onChange={(event) => setTyped(event.currentTarget.value)}
        />
        <Select
          aria-label={t('bin.type')}
          placeholder={t('bin.type')}
          clearable
          value={resource}
          onChange={setResource}
          data={definitions.map((definition) => ({ value: definition.name, label: pluralOf(definition) }))}
        />
      </div>
      {list.error && <FailureNote error={list.error} onRetry={() => list.refetch()} />}
      {list.isPending && <Lines count={8} height={40} />}
      {list.data && entries.length === 0 && (
        <div className="panel">
          <EmptyNote
            icon="trash"
            title={t(q || resource ? 'bin.nothingFound' : 'bin.none')}
            text={t('bin.noneText')}
          />
        </div>
      )}
      {entries.length > 0 && (
        <ul className={`panel ${classes.list}`} data-stale={list.isPlaceholderData || undefined}>
          {entries.map((entry) => (
            <Entry key={entry.id} entry={entry} />
          ))}
        </ul>
      )}
      <MoreButton list={list} />
    </>
  );
}

function Entry({ entry }: { entry: DeletedObject }) {
  const { t } = useTranslation();
  const definitions = useDefinitions();
  const definition = definitions.find(({ name }) => name === entry.resource);
  if (!definition) return null;
  const name = labelOf(definition, entry.data);
  const owner = definitions.find((candidate) => candidate.name === entry.deletedWith?.resource);
  return (
    <li className={classes.entry}>
      <span className={classes.icon}>
        <Icon name={resourceIcon(definition.name)} />
      </span>
      <div className={classes.words}>
        <AnchorLink to={`/data/${definition.collection}/${entry.id}`} fw={550}>
          {name}
        </AnchorLink>
        <Text size="sm" c="dimmed">
          {titleOf(definition)}
          {entry.included.length > 0 && ` · ${t('bin.with', { things: includedText(entry, definitions) })}`}
        </Text>
        {owner && (
          <Text size="sm" c="dimmed">
            {t('bin.deletedWith', { title: titleOf(owner) })}{' '}
            <AnchorLink to={`/data/${owner.collection}/${entry.deletedWith!.id}`}>{t('bin.show')}</AnchorLink>
          </Text>
        )}
        <Text size="xs" c="dimmed">
          {t('bin.deletedAgo', { ago: formatAgo(entry.deletedAt) })} <ActorIcon type={entry.actorType} />{' '}
          {t('changes.by', { actor: actorText(entry, t) })}
          {' · '}
          {t('bin.until', { day: formatDay(entry.restorableUntil.slice(0, 10)) })}
        </Text>
      </div>
      <RestoreButton definition={definition} id={entry.id} name={name} />
    </li>
  );
}

/** "1 Standort, 20 Pflanzen" */
export function includedText({ included }: DeletedObject, definitions: readonly Definition[]): string {
  return included
    .flatMap(({ resource, count }) => {
      const definition = definitions.find(({ name }) => name === resource);
      if (!definition) return [];
      return [`${formatNumber(count)} ${count === 1 ? titleOf(definition) : pluralOf(definition)}`];
    })
    .join(', ');
}
