// Rows of which only the visible ones exist, so that a hundred thousand are no more work than fifty.
import { Skeleton, UnstyledButton } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { Link, useNavigate } from '@tanstack/react-router';
import { type KeyboardEvent, useEffect, useRef, useState } from 'react';
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
import { Icon } from '../icons.tsx';
import { formatTime } from '../texts/format.ts';
import { addressText, type Column } from './columns.ts';
import classes from './table.module.css';
import { Value } from './value.tsx';
import { useVisibleRows } from './visible-rows.ts';

interface EntityTableProps {
  definition: Definition;
  entities: Entity[];
  total: number | undefined;
  columns: Column[];
  sort: string;
  onSort: (sort: string) => void;
  isLoading: boolean;
  /** What is shown is still what was found before. */
  isStale: boolean;
  isEnd: boolean;
  onEnd: () => void;
}

const rowHeight = 46;
const tallRowHeight = 64;

/**
 * On a wide screen the table fills what is left of it, and scrolls by itself in both directions. On a narrow one it is a
 * list that scrolls with the page.
 */
export function EntityTable(props: EntityTableProps) {
  const { t } = useTranslation();
  const { definition, entities, isLoading, isEnd, onEnd } = props;
  const isNarrow = useMediaQuery('(max-width: 48em)', window.innerWidth <= 768, {
    getInitialValueInEffect: false,
  });
  const columns = isNarrow ? [] : props.columns;
  const height = isNarrow ? tallRowHeight : rowHeight;
  const box = useRef<HTMLDivElement>(null);
  const rows = useVisibleRows({
    count: entities.length,
    rowHeight: height,
    box,
    isScrolledByPage: isNarrow,
    headHeight: isNarrow ? 0 : rowHeight,
  });
  const { active, onKeyDown } = useRowKeys(entities.length, rows.scrollTo);
  const navigate = useNavigate();
  const before = rows.first * height;
  const after = (entities.length - rows.end) * height;

  // biome-ignore lint/correctness/useExhaustiveDependencies: asked again whenever the end comes near, not when the question is new.
  useEffect(() => {
    if (!isEnd && rows.end >= entities.length - 30) onEnd();
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
        <Head {...props} columns={columns} isHidden={isNarrow} />
        <tbody onKeyDown={onKeyDown}>
          {isLoading && <LoadingRows columns={columns.length + 1} />}
          {before > 0 && (
            <tr>
              <td style={{ height: before }} colSpan={columns.length + 1} className={classes.gap} />
            </tr>
          )}
          {entities.slice(rows.first, rows.end).map((entity, place) => {
            const index = rows.first + place;
            const params = { collection: definition.collection, id: entity.id };
            return (
              <tr
                key={entity.id}
                aria-rowindex={index + 2}
                className={classes.row}
                style={{ height }}
                onClick={(event) => {
                  const isOnLink = (event.target as HTMLElement).closest('a, button');
                  const isSelecting = window.getSelection()?.toString();
                  if (!isOnLink && !isSelecting) navigate({ to: '/data/$collection/$id', params });
                }}
              >
                <th scope="row">
                  <Link
                    to="/data/$collection/$id"
                    params={params}
                    className={classes.name}
                    data-row={index}
                    tabIndex={index === active ? 0 : -1}
                  >
                    {labelOf(definition, entity)}
                  </Link>
                  {isNarrow && <span className={classes.hint}>{hintOf(definition, entity)}</span>}
                </th>
                {columns.map((column) => (
                  <td key={column.id} data-number={isNumber(column) || undefined}>
                    <Cell column={column} entity={entity} />
                  </td>
                ))}
              </tr>
            );
          })}
          {after > 0 && (
            <tr>
              <td style={{ height: after }} colSpan={columns.length + 1} className={classes.gap} />
            </tr>
          )}
          {!isEnd && !isLoading && (
            <tr>
              <td colSpan={columns.length + 1} className={classes.more}>
                {t('table.loadingMore')}
              </td>
            </tr>
          )}
        </tbody>
      </table>
    </div>
  );
}

function isNumber({ field }: Column): boolean {
  return field !== undefined && ['integer', 'decimal', 'double'].includes(field.kind);
}

type HeadProps = Pick<EntityTableProps, 'definition' | 'columns' | 'sort' | 'onSort'> & { isHidden: boolean };

function Head({ definition, columns, sort, onSort, isHidden }: HeadProps) {
  const name = leavesOf(definition.fields).find(({ path }) => path === definition.nameField);
  const heads: Column[] = [
    { id: definition.nameField, title: titleOf(name ?? definition), sort: 'name' },
    ...columns,
  ];
  return (
    <thead className={isHidden ? classes.hiddenHead : classes.head}>
      <tr>
        {heads.map((column) => {
          const direction =
            sort === column.sort ? 'ascending' : sort === `-${column.sort}` ? 'descending' : undefined;
          return (
            <th key={column.id} scope="col" aria-sort={direction} data-number={isNumber(column) || undefined}>
              {column.sort ? (
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
            </th>
          );
        })}
      </tr>
    </thead>
  );
}

function Cell({ column, entity }: { column: Column; entity: Entity }) {
  if (column.field) return <Value field={column.field} value={valueAt(entity, column.id)} owner={entity} />;
  const value = entity[column.id];
  return typeof value === 'object' ? addressText(value) : formatTime(String(value));
}

function LoadingRows({ columns }: { columns: number }) {
  return Array.from({ length: 12 }, (_, row) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: the rows are identical.
    <tr key={row} style={{ height: rowHeight }}>
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
