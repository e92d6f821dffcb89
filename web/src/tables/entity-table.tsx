// Renders visible rows only: a hundred thousand cost no more than fifty.
import { Skeleton, VisuallyHidden } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { useNavigate } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import { type Definition, type Entity, titleOf } from '../api/definitions.ts';
import { useMayEdit } from '../api/session.ts';
import { fieldsOf, gridColumns } from '../cells/cell-edit.ts';
import type { CellEdits } from '../cells/use-cell-edits.ts';
import { useGrid } from '../cells/use-grid.ts';
import { useIsPrinting } from '../frame/printing.ts';
import { formatNumber } from '../texts/format.ts';
import { type Columns, useDensity } from './columns.ts';
import type { Ticks } from './selection.ts';
import classes from './table.module.css';
import { Head } from './table-head.tsx';
import { preloadCellEditor, Row } from './table-row.tsx';
import type { Preview } from './use-preview.ts';
import { useVisibleRows } from './visible-rows.ts';

interface EntityTableProps {
  definition: Definition;
  entities: Entity[];
  /** The search text. Rows show what matched, if it is not the name. */
  q: string | undefined;
  total: number | undefined;
  columns: Columns;
  /** Missing where nothing can be done to many rows. */
  ticks?: Ticks;
  sort: string;
  onSort: (sort: string) => void;
  isLoading: boolean;
  /** The page still shows the previous result. */
  isStale: boolean;
  isEnd: boolean;
  onEnd: () => void;
  edits: CellEdits;
  loadRows: (count: number) => Promise<readonly Entity[]>;
  preview: Preview;
  /** A cell that somebody wants to see. */
  shownCell: { id: string; column: string } | undefined;
}

const rowHeights = { normal: 46, compact: 34 };
const tallRowHeight = 64;
/** The line below the name that says what a search matched. */
const matchHeight = 18;

/**
 * On a wide screen the table fills the rest of the page, and scrolls by itself in both directions. On a narrow one it
 * is a list that scrolls with the page.
 */
export function EntityTable(props: EntityTableProps) {
  const { t } = useTranslation();
  const { definition, entities, isLoading, isEnd, onEnd } = props;
  const isPrinting = useIsPrinting();
  const isSmallScreen = useMediaQuery('(max-width: 48em)', window.innerWidth <= 768, {
    getInitialValueInEffect: false,
  });
  const isNarrow = isSmallScreen && !isPrinting;
  const [density] = useDensity();
  const columns = isNarrow ? [] : props.columns.shown;
  // Paper has its own widths and heights.
  const widths = isPrinting ? {} : props.columns.widths;
  const ticks = isNarrow ? undefined : props.ticks;
  const cells = columns.length + (ticks ? 2 : 1);
  const rowHeight = rowHeights[density];
  const height = (isNarrow ? tallRowHeight : rowHeight) + (props.q ? matchHeight : 0);
  const box = useRef<HTMLDivElement>(null);
  const visible = useVisibleRows({
    count: entities.length,
    rowHeight: height,
    box,
    isScrolledByPage: isNarrow,
    headHeight: isNarrow ? 0 : rowHeight,
  });
  const rows = isPrinting ? { ...visible, first: 0, end: entities.length } : visible;
  const mayEdit = useMayEdit();
  const navigate = useNavigate();
  const columnIds = gridColumns(definition, columns);
  const { preview, edits } = props;
  const grid = useGrid({
    definition,
    entities,
    columns: columnIds,
    edits,
    canEdit: (column) => {
      const fields = fieldsOf(definition, column);
      const [first] = column.split('.');
      return fields.length > 0 && (mayEdit || definition.careFields.includes(first!));
    },
    loadRows: props.loadRows,
    scrollTo: rows.scrollTo,
    onOpen: ({ id }) =>
      navigate({ to: '/data/$collection/$id', params: { collection: definition.collection, id } }),
    preview,
    onMove: preview.follow,
  });
  const before = rows.first * height;
  const after = (entities.length - rows.end) * height;

  // biome-ignore lint/correctness/useExhaustiveDependencies: asked again whenever the end comes near, not when the question is new.
  useEffect(() => {
    if (!isEnd && !isPrinting && rows.end >= entities.length - 30) onEnd();
  }, [rows.end, entities.length, isEnd]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: once for each wish.
  useEffect(() => {
    const { id, column } = props.shownCell ?? {};
    const row = entities.findIndex((entity) => entity.id === id);
    const place = { row, column: columnIds.indexOf(column ?? '') };
    if (row < 0 || place.column < 0) return;
    grid.select(place);
    grid.focusCell(place);
  }, [props.shownCell]);

  return (
    <div ref={box} className={isNarrow ? 'panel' : `panel ${classes.box}`}>
      <table
        className={classes.table}
        {...(!isNarrow && { role: 'grid', 'aria-multiselectable': true })}
        data-stale={props.isStale || undefined}
        aria-busy={isLoading || props.isStale}
        aria-rowcount={props.total ?? -1}
        aria-label={titleOf(definition)}
      >
        <Head
          definition={definition}
          columns={props.columns}
          sort={props.sort}
          onSort={props.onSort}
          shown={columns}
          widths={widths}
          ticks={ticks}
          isHidden={isNarrow}
        />
        <tbody ref={grid.body} {...(!isNarrow && grid.handlers)} onPointerEnter={preloadCellEditor}>
          {isLoading && <LoadingRows columns={cells} height={height} />}
          {before > 0 && (
            <tr>
              <td style={{ height: before }} colSpan={cells} className={classes.gap} />
            </tr>
          )}
          {entities.slice(rows.first, rows.end).map((entity, place) => (
            <Row
              key={entity.id}
              definition={definition}
              entity={entity}
              q={props.q}
              columns={columns}
              widths={widths}
              ticks={ticks}
              index={rows.first + place}
              grid={isNarrow ? undefined : grid}
              isPreviewed={preview.isOpen && entity.id === preview.id}
              height={isPrinting ? undefined : height}
            />
          ))}
          {after > 0 && (
            <tr>
              <td style={{ height: after }} colSpan={cells} className={classes.gap} />
            </tr>
          )}
          {!isEnd && !isLoading && (
            <tr>
              <td colSpan={cells} className={classes.more}>
                {isPrinting
                  ? t('print.rows', {
                      shown: formatNumber(entities.length),
                      total: formatNumber(props.total ?? entities.length),
                    })
                  : t('table.loadingMore')}
              </td>
            </tr>
          )}
        </tbody>
      </table>
      <VisuallyHidden role="status">{grid.spoken}</VisuallyHidden>
    </div>
  );
}

function LoadingRows({ columns, height }: { columns: number; height: number }) {
  return Array.from({ length: 12 }, (_, row) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: the rows are identical.
    <tr key={row} style={{ height }}>
      {Array.from({ length: columns }, (_, column) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the cells are identical.
        <td key={column}>
          <Skeleton height={12} width={`${75 - ((row * 13 + column * 29) % 45)}%`} />
        </td>
      ))}
    </tr>
  ));
}
