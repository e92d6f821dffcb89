// The table of a resource. The service searches, filters, sorts and pages; the address says how, and "back" leads to the
// same rows.

import { Button, Group, Select, Stack, Text } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import type { TFunction } from 'i18next';
import { lazy, Suspense, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { queryString } from '../api/client.ts';
import { type Definition, leavesOf, nounOf, pluralOf, titleOf, useDefinition } from '../api/definitions.ts';
import { useNamingList } from '../api/naming-list.ts';
import { useMayEdit } from '../api/session.ts';
import { useCellEdits } from '../cells/use-cell-edits.ts';
import { EmptyNote, FailureNote, NotFoundPage } from '../frame/failure.tsx';
import { ButtonLink } from '../frame/links.tsx';
import { PageHead } from '../frame/page-head.tsx';
import { Icon, resourceIcon } from '../icons.tsx';
import { searchedTitles } from '../search/matches.ts';
import { formatNumber } from '../texts/format.ts';
import { withTexts } from '../texts/language.ts';
import { ColumnMenu } from './column-menu.tsx';
import { useColumns } from './columns.ts';
import { EntityTable } from './entity-table.tsx';
import { ExportMenu } from './export-menu.tsx';
import { type Filters, filterParametersOf, singleValuesOf } from './filter-fields.ts';
import { ActiveFilters, FilterMenu } from './filters.tsx';
import { PrintButton } from './print-button.tsx';
import { SearchInput } from './search-input.tsx';
import { countSelected, type Ticks, useSelection } from './selection.ts';
import classes from './table.module.css';
import { usePreview } from './use-preview.ts';
import { ViewMenu } from './view-menu.tsx';
import type { SavedView } from './views.ts';

const UnsavedCells = lazy(withTexts(['tables'], () => import('../cells/unsaved-cells.tsx')));

const BulkBar = lazy(withTexts(['tables'], () => import('../bulk/bulk-bar.tsx')));
const PreviewPanel = lazy(withTexts(['visits'], () => import('./preview-panel.tsx')));

export function TablePage() {
  const { collection = '' } = useParams({ strict: false });
  const definition = useDefinition(collection);
  // Another resource is another table, with its own search text and place.
  return definition ? <ResourceTable key={collection} definition={definition} /> : <NotFoundPage />;
}

const defaultSort = 'name';

function ResourceTable({ definition }: { definition: Definition }) {
  const { t } = useTranslation();
  const { collection } = definition;
  const mayEdit = useMayEdit();
  const search = useSearch({ strict: false }) as Record<string, string>;
  const navigate = useNavigate();
  const { q, sort = defaultSort } = search;
  const filters: Filters = Object.fromEntries(
    filterParametersOf(definition).flatMap((name) =>
      search[name] === undefined ? [] : [[name, search[name]]],
    ),
  );
  const change = (changes: Record<string, string | undefined>) =>
    navigate({
      to: '/data/$collection',
      params: { collection },
      search: (before: Record<string, unknown>) => ({ ...before, ...changes }),
      replace: true,
    });
  const parameters = { q, sort: definition.sorts.includes(sort) ? sort : defaultSort, ...filters };
  const edits = useCellEdits(definition);
  const columns = useColumns(definition);
  const list = useInfiniteQuery({
    ...useNamingList(definition, parameters, columns.shown),
    // A row that was edited stays under the cursor, also after a visit to Excel.
    refetchOnWindowFocus: !edits.hasEdited,
  });
  const preview = usePreview();
  const [shownCell, setShownCell] = useState<{ id: string; column: string }>();
  const entities = list.data?.pages.flatMap((page) => page.data) ?? [];
  const total = list.data?.pages[0]?.total ?? undefined;
  const isTruncated = list.data?.pages[0]?.truncated ?? false;
  const showView = (view: SavedView) => {
    columns.choose(view.columns);
    navigate({
      to: '/data/$collection',
      params: { collection },
      search: Object.fromEntries(new URLSearchParams(view.search)),
    });
  };
  const previewed = entities.find(({ id }) => id === preview.id) ?? entities[0];
  const ids = entities.map(({ id }) => id);
  /** Loads pages until there are so many rows, for a pasted text with more rows than are shown. */
  const loadRows = async (count: number) => {
    let rows = entities;
    for (let hasMore = list.hasNextPage; hasMore && rows.length < count; ) {
      const next = await list.fetchNextPage();
      if (next.error) throw next.error;
      rows = next.data?.pages.flatMap((page) => page.data) ?? rows;
      hasMore = next.hasNextPage;
    }
    return rows;
  };
  const ticked = useSelection(JSON.stringify(parameters));
  const ticks = mayEdit ? ticksOf(ticked, ids) : undefined;
  const [isFiltering, setIsFiltering] = useState(false);
  const [resets, setResets] = useState(0);
  const reset = async () => {
    await navigate({ to: '/data/$collection', params: { collection }, search: {}, replace: true });
    setResets(resets + 1);
  };
  const isNarrowed = q !== undefined || Object.keys(filters).length > 0;

  return (
    <div className={classes.page}>
      <PageHead
        title={pluralOf(definition)}
        text={countText(total, isTruncated, t)}
        actions={
          <>
            <PrintButton list={list} />
            {mayEdit && (
              <ExportMenu
                collection={collection}
                parameters={parameters}
                shown={columns.shown.map(({ id }) => id)}
                isTruncated={isTruncated}
              />
            )}
            {mayEdit && (
              <ButtonLink
                to={`/data/${collection}/new`}
                search={singleValuesOf(definition, filters)}
                leftSection={<Icon name="plus" size={16} />}
              >
                {t('table.new', { title: nounOf(definition) })}
              </ButtonLink>
            )}
          </>
        }
      />
      <Stack gap="sm" mb="md">
        <Group gap="xs" className={classes.tools}>
          <SearchInput
            key={resets}
            what={nounOf(definition, 'many')}
            searched={searchedTitles(definition)}
            value={q ?? ''}
            onChange={(text) => change({ q: text })}
          />
          <Select
            aria-label={t('table.sortBy')}
            className={classes.sorts}
            allowDeselect={false}
            data={definition.sorts.map((value) => ({ value, label: sortTitle(definition, value, t) }))}
            value={parameters.sort}
            onChange={(value) => change({ sort: value === defaultSort ? undefined : (value ?? undefined) })}
          />
          <FilterMenu
            definition={definition}
            filters={filters}
            onChange={change}
            isOpen={isFiltering}
            onToggle={setIsFiltering}
          />
          <ViewMenu
            definition={definition}
            search={queryString({ q, sort: search.sort, ...filters }).slice(1)}
            columns={columns.shown.map(({ id }) => id)}
            onChoose={showView}
          />
          <ColumnMenu columns={columns} />
          <Button
            variant="default"
            visibleFrom="sm"
            aria-pressed={preview.isOpen}
            aria-keyshortcuts="Space"
            leftSection={<Icon name="preview" size={16} />}
            onClick={() => preview.toggle()}
          >
            {t('preview.title')}
          </Button>
        </Group>
        <ActiveFilters definition={definition} filters={filters} onChange={change} />
        {isTruncated && (
          <TruncatedNote
            onFilter={() => {
              change({ q: undefined });
              setResets(resets + 1);
              setIsFiltering(true);
            }}
          />
        )}
      </Stack>
      {countSelected(ticked.selection, total) > 0 && (
        <Suspense>
          <BulkBar
            definition={definition}
            selection={ticked.selection}
            parameters={parameters}
            loaded={ids.length}
            total={total}
            isTruncated={isTruncated}
            shown={columns.shown.map(({ id }) => id)}
            onSelectAll={ticked.selectAll}
            onClear={ticked.clear}
          />
        </Suspense>
      )}
      {edits.open.length > 0 && (
        <Suspense>
          <UnsavedCells
            definition={definition}
            edits={edits}
            onShow={({ entity, column }) => setShownCell({ id: entity.id, column })}
          />
        </Suspense>
      )}
      {list.error ? (
        <FailureNote error={list.error} onRetry={() => list.refetch()} />
      ) : list.data && entities.length === 0 ? (
        <NoRows definition={definition} onReset={isNarrowed ? reset : undefined} />
      ) : (
        <div className={classes.split}>
          <EntityTable
            definition={definition}
            entities={entities}
            q={q}
            total={total}
            columns={columns}
            ticks={ticks}
            sort={parameters.sort}
            onSort={(value) => change({ sort: value === defaultSort ? undefined : value })}
            isLoading={list.isPending}
            isStale={list.isPlaceholderData}
            isEnd={!list.hasNextPage}
            onEnd={() => {
              if (list.hasNextPage && !list.isFetching) list.fetchNextPage();
            }}
            edits={edits}
            loadRows={loadRows}
            preview={preview}
            shownCell={shownCell}
          />
          {preview.isOpen && previewed && (
            <Suspense>
              <PreviewPanel definition={definition} entity={previewed} onClose={preview.close} />
            </Suspense>
          )}
        </div>
      )}
    </div>
  );
}

/** The service returns as many matches of a search that has too many. */
const truncatedMatches = 1000;

function countText(total: number | undefined, isTruncated: boolean, t: TFunction): string {
  if (isTruncated) return t('table.first', { formatted: formatNumber(truncatedMatches) });
  return total === undefined ? '\u00a0' : t('table.count', { count: total, formatted: formatNumber(total) });
}

function TruncatedNote({ onFilter }: { onFilter: () => void }) {
  const { t } = useTranslation();
  return (
    <Group gap="xs" role="status">
      <Icon name="warning" size={16} />
      <Text size="sm">{t('table.truncated')}</Text>
      <Button size="compact-sm" variant="default" onClick={onFilter}>
        {t('table.filterInstead')}
      </Button>
    </Group>
  );
}

/** The tick boxes of the rows that are loaded. */
function ticksOf(ticked: ReturnType<typeof useSelection>, ids: readonly string[]): Ticks {
  const count = ids.filter(ticked.has).length;
  return {
    has: ticked.has,
    toggle: (id, withRange) => ticked.toggle(id, withRange, ids),
    state: count === 0 ? 'none' : count === ids.length ? 'all' : 'some',
    toggleAll: () => (count === 0 ? ticked.select(ids) : ticked.clear()),
  };
}

interface NoRowsProps {
  definition: Definition;
  /** Set if a search or filters leave nothing. */
  onReset: (() => void) | undefined;
}

function NoRows({ definition, onReset }: NoRowsProps) {
  const { t } = useTranslation();
  const mayEdit = useMayEdit();
  return (
    <div className="panel">
      {onReset ? (
        <EmptyNote icon="search" title={t('table.none')} text={t('table.noneText')}>
          <Button variant="default" mt="xs" onClick={onReset}>
            {t('table.reset')}
          </Button>
        </EmptyNote>
      ) : (
        <EmptyNote
          icon={resourceIcon(definition.name)}
          title={t('table.empty', { what: nounOf(definition, 'many') })}
          text={mayEdit ? t('table.emptyText') : undefined}
        >
          {mayEdit && (
            <Group gap="xs" mt="xs" justify="center">
              <ButtonLink to={`/data/${definition.collection}/new`} variant="light">
                {t('table.createFirst')}
              </ButtonLink>
              <ButtonLink to="/import" variant="default">
                {t('table.importFile')}
              </ButtonLink>
            </Group>
          )}
        </EmptyNote>
      )}
    </div>
  );
}

const commonSorts = ['name', 'createdAt', 'updatedAt'];

function sortTitle(definition: Definition, sort: string, t: TFunction): string {
  const name = sort.replace('-', '');
  if (commonSorts.includes(name)) return t(`table.sorts.${sort as 'name'}`);
  const path = definition.filters.find((filter) => filter.name === name)?.path;
  const field = leavesOf(definition.fields).find((leaf) => leaf.path === path);
  const title = field ? titleOf(field) : name;
  return t(sort.startsWith('-') ? 'table.sortDown' : 'table.sortUp', { title });
}
