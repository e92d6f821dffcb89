// Renders visible rows only: a hundred thousand cost no more than fifty.
import { Checkbox, Skeleton, UnstyledButton } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { Link, useNavigate } from '@tanstack/react-router';
import { type KeyboardEvent, type PointerEvent, useEffect, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import {
  type Definition,
  type Entity,
  hintOf,
  labelOf,
  leavesOf,
  titleOf,
  valueAt,
} from '../api/definitions.ts';
import { useOwner } from '../api/named.ts';
import { useIsPrinting } from '../frame/printing.ts';
import { Icon } from '../icons.tsx';
import { Value } from '../records/value.tsx';
import { describeMatches, findOwnMatches } from '../search/matches.ts';
import { formatNumber, formatTime } from '../texts/format.ts';
import { addressText, type Column, type Columns, useDensity } from './columns.ts';
import classes from './table.module.css';
import { useVisibleRows } from './visible-rows.ts';

interface EntityTableProps {
  definition: Definition;
  entities: Entity[];
  /** What was searched for: rows then say what matched where it is not the name. */
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
}

export interface Ticks {
  has: (id: string) => boolean;
  toggle: (id: string, withRange: boolean) => void;
  /** Of all rows that are loaded. */
  state: 'all' | 'some' | 'none';
  toggleAll: () => void;
}

const rowHeights = { normal: 46, compact: 34 };
const tallRowHeight = 64;
/** The line below the name that says what a search matched. */
const matchHeight = 18;
const narrowest = 60;

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
  const { active, onKeyDown } = useRowKeys(entities.length, rows.scrollTo);
  const before = rows.first * height;
  const after = (entities.length - rows.end) * height;

  // biome-ignore lint/correctness/useExhaustiveDependencies: asked again whenever the end comes near, not when the question is new.
  useEffect(() => {
    if (!isEnd && !isPrinting && rows.end >= entities.length - 30) onEnd();
  }, [rows.end, entities.length, isEnd]);

  return (
    <div ref={box} className={isNarrow ? 'panel' : `panel ${classes.box}`}>
      <table
        className={classes.table}
        data-stale={props.isStale || undefined}
        aria-busy={isLoading || props.isStale}
        aria-rowcount={props.total ?? -1}
        aria-label={titleOf(definition)}
      >
        <Head {...props} shown={columns} widths={widths} ticks={ticks} isHidden={isNarrow} />
        <tbody onKeyDown={onKeyDown}>
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
              isActive={rows.first + place === active}
              isNarrow={isNarrow}
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
    </div>
  );
}

interface RowProps {
  definition: Definition;
  entity: Entity;
  q: string | undefined;
  columns: readonly Column[];
  widths: Record<string, number>;
  ticks: Ticks | undefined;
  index: number;
  isActive: boolean;
  isNarrow: boolean;
  height: number | undefined;
}

function Row({ definition, entity, q, columns, widths, ticks, index, isActive, isNarrow, height }: RowProps) {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const params = { collection: definition.collection, id: entity.id };
  return (
    <tr
      aria-rowindex={index + 2}
      aria-selected={ticks?.has(entity.id)}
      className={classes.row}
      style={{ height }}
      onClick={(event) => {
        const isOnLink = (event.target as HTMLElement).closest('a, button, input, label');
        const isSelecting = window.getSelection()?.toString();
        if (!isOnLink && !isSelecting) navigate({ to: '/data/$collection/$id', params });
      }}
    >
      {ticks && (
        <td className={classes.tick}>
          <Checkbox
            size="xs"
            aria-label={t('table.tick', { name: labelOf(definition, entity) })}
            checked={ticks.has(entity.id)}
            onChange={({ nativeEvent }) => ticks.toggle(entity.id, (nativeEvent as MouseEvent).shiftKey)}
            tabIndex={isActive ? 0 : -1}
          />
        </td>
      )}
      <th scope="row" style={widthOf(widths, definition.nameField)}>
        <Link
          to="/data/$collection/$id"
          params={params}
          className={classes.name}
          data-row={index}
          tabIndex={isActive ? 0 : -1}
        >
          {labelOf(definition, entity)}
        </Link>
        {q && <Matches definition={definition} entity={entity} q={q} />}
        {isNarrow && <Hint definition={definition} entity={entity} />}
      </th>
      {columns.map((column) => (
        <td
          key={column.id}
          data-number={isNumber(column) || undefined}
          data-named={column.field?.reference !== undefined || undefined}
          style={widthOf(widths, column.id)}
        >
          <Cell column={column} entity={entity} />
        </td>
      ))}
    </tr>
  );
}

function widthOf(widths: Record<string, number>, id: string) {
  const width = widths[id];
  return width === undefined ? undefined : { minWidth: width, maxWidth: width, width };
}

function Matches({ definition, entity, q }: { definition: Definition; entity: Entity; q: string }) {
  const matched = findOwnMatches(definition, entity, q);
  const text = describeMatches(definition, matched, '').join(' · ');
  return text === '' ? null : <span className={classes.hint}>{text}</span>;
}

/** Instead of columns: to whom it belongs, and what tells it apart. */
function Hint({ definition, entity }: { definition: Definition; entity: Entity }) {
  const owner = useOwner(definition, entity);
  const words = [owner && labelOf(owner.definition, owner.entity), hintOf(definition, entity)];
  return <span className={classes.hint}>{words.filter(Boolean).join(' · ') || '\u00a0'}</span>;
}

function isNumber({ field }: Column): boolean {
  return field !== undefined && ['integer', 'decimal', 'double'].includes(field.kind);
}

type HeadProps = Pick<EntityTableProps, 'definition' | 'columns' | 'sort' | 'onSort' | 'ticks'> & {
  shown: Column[];
  widths: Record<string, number>;
  isHidden: boolean;
};

function Head({ definition, columns, shown, widths, sort, onSort, ticks, isHidden }: HeadProps) {
  const { t } = useTranslation();
  // Chromium leaves buttons out of heads that it repeats on the next sheet.
  const isPrinting = useIsPrinting();
  const name = leavesOf(definition.fields).find(({ path }) => path === definition.nameField);
  const heads: Column[] = [
    { id: definition.nameField, title: titleOf(name ?? definition), sort: 'name' },
    ...shown,
  ];
  return (
    <thead className={isHidden ? classes.hiddenHead : classes.head}>
      <tr>
        {ticks && (
          <th scope="col" className={classes.tick}>
            <Checkbox
              size="xs"
              aria-label={t('table.tickAll')}
              checked={ticks.state === 'all'}
              indeterminate={ticks.state === 'some'}
              onChange={ticks.toggleAll}
            />
          </th>
        )}
        {heads.map((column) => {
          const direction =
            sort === column.sort ? 'ascending' : sort === `-${column.sort}` ? 'descending' : undefined;
          return (
            <th
              key={column.id}
              scope="col"
              aria-sort={direction}
              data-number={isNumber(column) || undefined}
              style={widthOf(widths, column.id)}
            >
              {column.sort && !isPrinting && !isHidden ? (
                <UnstyledButton
                  className={classes.sort}
                  onClick={() => onSort(direction === 'ascending' ? `-${column.sort}` : column.sort!)}
                >
                  {column.title}
                  <Icon
                    name={
                      direction === 'ascending' ? 'up' : direction === 'descending' ? 'descending' : 'sort'
                    }
                    size={14}
                  />
                </UnstyledButton>
              ) : (
                column.title
              )}
              {!isHidden && (
                <ResizeHandle title={column.title} onResize={(width) => columns.resize(column.id, width)} />
              )}
            </th>
          );
        })}
      </tr>
    </thead>
  );
}

/** The right edge of a column's head: dragged, or moved with the arrow keys. */
function ResizeHandle({ title, onResize }: { title: string; onResize: (width: number) => void }) {
  const { t } = useTranslation();
  const begin = (event: PointerEvent<HTMLButtonElement>) => {
    const handle = event.currentTarget;
    const head = handle.parentElement!;
    const grip = head.getBoundingClientRect().right - event.clientX;
    const drag = ({ clientX }: globalThis.PointerEvent) =>
      onResize(Math.max(narrowest, Math.round(clientX + grip - head.getBoundingClientRect().left)));
    handle.setPointerCapture(event.pointerId);
    handle.addEventListener('pointermove', drag);
    handle.addEventListener('lostpointercapture', () => handle.removeEventListener('pointermove', drag), {
      once: true,
    });
  };
  return (
    <button
      type="button"
      className={classes.resize}
      aria-label={t('table.width', { title })}
      tabIndex={-1}
      onPointerDown={begin}
      onKeyDown={({ key, currentTarget }) => {
        const step = key === 'ArrowRight' ? 20 : key === 'ArrowLeft' ? -20 : 0;
        if (step !== 0)
          onResize(Math.max(narrowest, Math.round(currentTarget.parentElement!.offsetWidth + step)));
      }}
    />
  );
}

function Cell({ column, entity }: { column: Column; entity: Entity }) {
  if (column.field) return <Value field={column.field} value={valueAt(entity, column.id)} owner={entity} />;
  const value = entity[column.id];
  return typeof value === 'object' ? addressText(value) : formatTime(String(value));
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

/** Arrow keys, Page, Home and End move between rows; Tab leaves the table. Enter follows the link by itself. */
function useRowKeys(count: number, scrollTo: (index: number) => void) {
  const [active, setActive] = useState(0);
  function onKeyDown(event: KeyboardEvent<HTMLElement>) {
    const current = Number((event.target as HTMLElement).dataset.row ?? Number.NaN);
    if (Number.isNaN(current)) return;
    const moves: Record<string, number> = {
      ArrowDown: current + 1,
      ArrowUp: current - 1,
      PageDown: current + 10,
      PageUp: current - 10,
      Home: 0,
      End: count - 1,
    };
    const wanted = moves[event.key];
    if (wanted === undefined) return;
    event.preventDefault();
    const next = Math.min(Math.max(wanted, 0), count - 1);
    const body = event.currentTarget;
    setActive(next);
    scrollTo(next);
    const focus = () => {
      const link = body.querySelector<HTMLElement>(`[data-row="${next}"]`);
      link?.focus({ preventScroll: true });
      return link !== null;
    };
    // A row that is far away must be made first.
    if (!focus()) requestAnimationFrame(() => requestAnimationFrame(focus));
  }
  return { active: Math.min(active, Math.max(count - 1, 0)), onKeyDown };
}
