// Entries that need attention, each with a form that fixes it in place.
import { Button, Center, Chip, Collapse, Group, Select, Tabs } from '@mantine/core';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { lazyRouteComponent, useNavigate, useSearch } from '@tanstack/react-router';
import { Suspense, useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { type AttentionCode, attentionCodes } from '../../../core/definition/codes.ts';
import { call, queryString } from '../api/client.ts';
import { pluralOf, useDefinitions } from '../api/definitions.ts';
import { useNamed } from '../api/named.ts';
import { type AttentionEntry, attentionCountsQuery, type Page } from '../api/records.ts';
import { useMayEdit } from '../api/session.ts';
import { EmptyNote, FailureNote } from '../frame/failure.tsx';
import { ButtonLink, toSearch } from '../frame/links.tsx';
import { Lines } from '../frame/loading.tsx';
import { PageHead } from '../frame/page-head.tsx';
import { formatNumber } from '../texts/format.ts';
import classes from './attention.module.css';
import { EntryWords, useEntryName } from './entry-words.tsx';
import { KindActions } from './kind-actions.tsx';
import { LeaveForm, LeftEntries } from './left-entries.tsx';

const EntryForm = lazyRouteComponent(() => import('./entry-form.tsx'), 'EntryForm');

const pageSize = 50;

export function AttentionPage() {
  const { t } = useTranslation();
  const search = useSearch({ strict: false }) as { code?: string; resource?: string; state?: string };
  const navigate = useNavigate();
  const definitions = useDefinitions();
  const mayEdit = useMayEdit();
  const code = attentionCodes.find((known) => known === search.code);
  const resource = definitions.find(({ name }) => name === search.resource)?.name;
  const isLeft = search.state === 'left';
  const change = (changes: object) =>
    navigate({ to: '/attention', search: toSearch({ ...search, ...changes }), replace: true });
  return (
    <div className={classes.page}>
      <PageHead title={t('attention.title')} text={t(mayEdit ? 'attention.text' : 'attention.textReading')} />
      <Tabs
        value={isLeft ? 'left' : 'open'}
        onChange={(state) => change({ state: state === 'left' ? 'left' : undefined, code: undefined })}
        mb="md"
      >
        <Tabs.List>
          <Tabs.Tab value="open">{t('attention.open')}</Tabs.Tab>
          <Tabs.Tab value="left">{t('attention.left')}</Tabs.Tab>
        </Tabs.List>
      </Tabs>
      {isLeft ? <LeftEntries /> : <OpenEntries code={code} resource={resource} onChange={change} />}
    </div>
  );
}

interface Choice {
  code: AttentionCode | undefined;
  resource: string | undefined;
}

interface OpenEntriesProps extends Choice {
  onChange: (changes: Partial<Choice>) => void;
}

function OpenEntries({ code, resource, onChange }: OpenEntriesProps) {
  const { t } = useTranslation();
  const mayEdit = useMayEdit();
  const list = useInfiniteQuery({
    queryKey: ['attention', code, resource],
    queryFn: ({ pageParam, signal }) =>
      call<Page<AttentionEntry>>(
        'GET',
        `/attention${queryString({ code, resource, cursor: pageParam, limit: pageSize })}`,
        { signal },
      ),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.nextCursor ?? undefined,
  });
  const entries = list.data?.pages.flatMap((page) => page.data) ?? [];
  // A page can be short and have a next one.
  const [wanted, setWanted] = useState(pageSize);
  useEffect(() => {
    if (entries.length < wanted && list.hasNextPage && !list.isFetching && !list.error) list.fetchNextPage();
  }, [entries.length, wanted, list]);
  return (
    <>
      <EntryFilters code={code} resource={resource} onChange={onChange} />
      {mayEdit && code && entries.length > 1 && (
        <KindActions kind={{ ...entries[0]!, code }} resource={resource} />
      )}
      {list.error && <FailureNote error={list.error} onRetry={() => list.refetch()} />}
      {list.isPending && <Lines count={8} height={28} />}
      {list.data && entries.length === 0 && !list.hasNextPage && (
        <div className="panel">
          <EmptyNote
            icon="check"
            title={t('attention.none')}
            text={code || resource ? t('attention.noneFilter') : t('attention.noneText')}
          />
        </div>
      )}
      {entries.length > 0 && (
        <ul className={`panel ${classes.list}`}>
          {entries.map((entry) => (
            <Entry key={`${entry.resource} ${entry.id} ${entry.field} ${entry.code}`} entry={entry} />
          ))}
        </ul>
      )}
      {entries.length >= wanted && list.hasNextPage && (
        <Center mt="md">
          <Button
            variant="default"
            loading={list.isFetching}
            onClick={() => setWanted(entries.length + pageSize)}
          >
            {t('actions.more')}
          </Button>
        </Center>
      )}
      {list.data && entries.length < wanted && list.hasNextPage && <Lines count={2} height={28} />}
    </>
  );
}

function EntryFilters({ code, resource, onChange }: OpenEntriesProps) {
  const { t } = useTranslation();
  const definitions = useDefinitions();
  const { data: counts, isPending: isCounting } = useQuery(attentionCountsQuery);
  const countOf = (wantedCode?: string) =>
    counts
      ?.filter((one) => (!wantedCode || one.code === wantedCode) && (!resource || one.resource === resource))
      .reduce((sum, one) => sum + one.count, 0);
  const withCount = (label: string, value?: string) => {
    const count = countOf(value);
    return count === undefined ? label : `${label} (${formatNumber(count)})`;
  };
  // Kinds without an entry only take room, but the chosen one stays. Before they are counted, nothing says which.
  const offered = attentionCodes.filter((value) => value === code || (!isCounting && countOf(value) !== 0));
  return (
    <Group mb="md" gap="sm" className="screen-only">
      <Chip.Group
        value={code ?? ''}
        onChange={(value) => onChange({ code: (value as AttentionCode) || undefined })}
      >
        <Group visibleFrom="sm" gap={6} role="group" aria-label={t('table.filters')}>
          <Chip value="">{withCount(t('attention.all'))}</Chip>
          {offered.map((value) => (
            <Chip key={value} value={value}>
              {withCount(t(`attention.codes.${value}`), value)}
            </Chip>
          ))}
        </Group>
      </Chip.Group>
      <Select
        hiddenFrom="sm"
        className={classes.code}
        aria-label={t('table.filters')}
        placeholder={t('attention.all')}
        clearable
        clearButtonProps={{ 'aria-label': t('actions.remove') }}
        value={code ?? null}
        onChange={(value) => onChange({ code: (value as AttentionCode) ?? undefined })}
        data={offered.map((value) => ({
          value,
          label: withCount(t(`attention.codes.${value}`), value),
        }))}
      />
      <Select
        className={classes.resource}
        aria-label={t('navigation.data')}
        placeholder={t('navigation.data')}
        clearable
        clearButtonProps={{ 'aria-label': t('actions.remove') }}
        value={resource ?? null}
        onChange={(value) => onChange({ resource: value ?? undefined })}
        data={definitions.map((definition) => ({
          value: definition.name,
          label: pluralOf(definition),
        }))}
      />
    </Group>
  );
}

function Entry({ entry }: { entry: AttentionEntry }) {
  const { t } = useTranslation();
  const mayEdit = useMayEdit();
  const [opened, setOpened] = useState<'fix' | 'leave'>();
  const { data: named } = useNamed([entry.resource], entry.id);
  const name = useEntryName(entry);
  const action = (key: 'fix' | 'leave', variant: string) => (
    <Button
      size="xs"
      variant={opened === key ? 'default' : variant}
      aria-expanded={opened === key}
      aria-label={`${t(opened === key ? 'actions.close' : `attention.${key}`)}: ${name}`}
      onClick={() => setOpened(opened === key ? undefined : key)}
    >
      {t(opened === key ? 'actions.close' : `attention.${key}`)}
    </Button>
  );
  return (
    <li>
      <div className={classes.entry}>
        <EntryWords entry={entry} />
        {mayEdit && (
          <Group gap="xs" className={classes.actions}>
            {action('leave', 'subtle')}
            {entry.duplicateIds ? (
              <ButtonLink
                size="xs"
                variant="light"
                to={`/data/${named?.definition.collection}/${entry.id}/merge`}
                search={{ with: entry.duplicateIds.join(',') }}
                aria-label={`${t('attention.merge')}: ${name}`}
              >
                {t('attention.merge')}
              </ButtonLink>
            ) : (
              action('fix', 'light')
            )}
          </Group>
        )}
      </div>
      <Collapse expanded={opened !== undefined}>
        {opened === 'fix' && named && (
          <div className={classes.entryForm}>
            <Suspense fallback={<Lines />}>
              <EntryForm
                definition={named.definition}
                entity={named.entity}
                entry={entry}
                onDone={() => setOpened(undefined)}
              />
            </Suspense>
          </div>
        )}
        {opened === 'leave' && (
          <div className={classes.entryForm}>
            <LeaveForm entry={entry} />
          </div>
        )}
      </Collapse>
    </li>
  );
}
