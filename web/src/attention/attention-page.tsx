// What should be looked at, with a way to mend each entry in place.
import { Badge, Button, Collapse, Group, SegmentedControl, Select, Stack, Text } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { type AttentionCode, attentionCodes } from '../../../core/codes.ts';
import { call, queryString } from '../api/client.ts';
import {
  type Definition,
  labelOf,
  leavesOf,
  pluralOf,
  titleOf,
  useDefinitions,
  valueAt,
} from '../api/definitions.ts';
import { useNamed } from '../api/named.ts';
import type { AttentionEntry, Page } from '../api/records.ts';
import { useIsAdministrator } from '../api/session.ts';
import { EmptyNote, FailureNote } from '../frame/failure.tsx';
import { AnchorLink, toSearch } from '../frame/links.tsx';
import { Lines } from '../frame/loading.tsx';
import { MoreButton } from '../frame/more-button.tsx';
import { PageHead } from '../frame/page-head.tsx';
import { Icon, resourceIcon } from '../icons.tsx';
import classes from './attention.module.css';
import { Mending } from './mending.tsx';

export function AttentionPage() {
  const { t } = useTranslation();
  const search = useSearch({ strict: false }) as { code?: string; resource?: string };
  const navigate = useNavigate();
  const definitions = useDefinitions();
  const code = attentionCodes.find((known) => known === search.code);
  const resource = definitions.find(({ name }) => name === search.resource)?.name;
  const list = useInfiniteQuery({
    queryKey: ['attention', code, resource],
    queryFn: ({ pageParam, signal }) =>
      call<Page<AttentionEntry>>(
        'GET',
        `/attention${queryString({ code, resource, cursor: pageParam, limit: 50, count: pageParam ? undefined : true })}`,
        { signal },
      ),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.nextCursor ?? undefined,
  });
  const entries = list.data?.pages.flatMap((page) => page.data) ?? [];
  const change = (changes: object) =>
    navigate({ to: '/attention', search: toSearch({ ...search, ...changes }), replace: true });
  return (
    <div className={classes.page}>
      <PageHead title={t('attention.title')} text={t('attention.text')} />
      <Group mb="md" gap="sm">
        <SegmentedControl
          visibleFrom="lg"
          aria-label={t('table.filters')}
          value={code ?? ''}
          onChange={(value) => change({ code: value || undefined })}
          data={[
            { value: '', label: t('attention.all') },
            ...attentionCodes.map((value) => ({ value, label: t(`attention.codes.${value}`) })),
          ]}
        />
        <Select
          hiddenFrom="lg"
          aria-label={t('table.filters')}
          placeholder={t('attention.all')}
          clearable
          clearButtonProps={{ 'aria-label': t('actions.remove') }}
          value={code ?? null}
          onChange={(value) => change({ code: value ?? undefined })}
          data={attentionCodes.map((value) => ({ value, label: t(`attention.codes.${value}`) }))}
        />
        <Select
          w={180}
          aria-label={t('navigation.data')}
          placeholder={t('navigation.data')}
          clearable
          clearButtonProps={{ 'aria-label': t('actions.remove') }}
          value={resource ?? null}
          onChange={(value) => change({ resource: value ?? undefined })}
          data={definitions.map((definition) => ({ value: definition.name, label: pluralOf(definition) }))}
        />
      </Group>
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
      <MoreButton list={list} />
    </div>
  );
}

function Entry({ entry }: { entry: AttentionEntry }) {
  const { t } = useTranslation();
  const isAdministrator = useIsAdministrator();
  const [isOpen, setIsOpen] = useState(false);
  const definition = useDefinitions().find(({ name }) => name === entry.resource);
  const { data: named } = useNamed([entry.resource], entry.id);
  if (!definition) return null;
  const code = entry.code as AttentionCode;
  const name = named ? labelOf(definition, named.entity) : '…';
  return (
    <li>
      <Group gap="md" wrap="nowrap" align="flex-start">
        <span className={classes.icon}>
          <Icon name={resourceIcon(entry.resource)} />
        </span>
        <Stack gap={4} className={classes.words}>
          <Group gap="xs">
            <AnchorLink to={`/data/${definition.collection}/${entry.id}`} fw={550} c="var(--stamm-ink)">
              {name}
            </AnchorLink>
            <Badge color="yellow">{t(`attention.codes.${code}`)}</Badge>
          </Group>
          <Text size="sm" c="dimmed">
            {t(`attention.explain.${code}`, {
              field: fieldTitle(definition, entry.field),
              externalId: named ? valueAt(named.entity, entry.field) : '…',
            })}
          </Text>
        </Stack>
        {isAdministrator && (
          <Button
            size="xs"
            variant={isOpen ? 'default' : 'light'}
            aria-expanded={isOpen}
            aria-label={`${t(isOpen ? 'actions.close' : 'attention.fix')}: ${name}`}
            onClick={() => setIsOpen(!isOpen)}
          >
            {t(isOpen ? 'actions.close' : 'attention.fix')}
          </Button>
        )}
      </Group>
      <Collapse expanded={isOpen}>
        {isOpen && named && (
          <div className={classes.mending}>
            <Mending
              definition={definition}
              entity={named.entity}
              entry={entry}
              onDone={() => setIsOpen(false)}
            />
          </div>
        )}
      </Collapse>
    </li>
  );
}

function fieldTitle(definition: Definition, path: string): string {
  const field = [...definition.fields, ...leavesOf(definition.fields)].find(
    (candidate) => candidate.path === path,
  );
  return field ? titleOf(field) : path;
}
