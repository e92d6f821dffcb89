// A row of a table: a tick box, the name, and a cell per column.
import { Checkbox } from '@mantine/core';
import { Link, lazyRouteComponent, useNavigate } from '@tanstack/react-router';
import { lazy, type ReactNode, Suspense } from 'react';
import { useTranslation } from 'react-i18next';
import { type Definition, type Entity, hintOf, labelOf, valueAt } from '../api/definitions.ts';
import { useOwner } from '../api/named.ts';
import { isInRange } from '../cells/cell-range.ts';
import cellClasses from '../cells/cells.module.css';
import type { Grid } from '../cells/use-grid.ts';
import { NamedLink, Value } from '../records/value.tsx';
import { formatTime } from '../texts/format.ts';
import { addressText, type Column, isNumber, widthOf } from './columns.ts';
import type { Ticks } from './selection.ts';
import classes from './table.module.css';

const CellEditor = lazyRouteComponent(() => import('../cells/cell-editor.tsx'), 'CellEditor');

const Matches = lazy(() => import('./row-matches.tsx'));

export const preloadCellEditor = () => CellEditor.preload?.();

interface RowProps {
  definition: Definition;
  entity: Entity;
  q: string | undefined;
  columns: readonly Column[];
  widths: Record<string, number>;
  ticks: Ticks | undefined;
  index: number;
  /** Missing on a narrow screen, where a row leads to its page. */
  grid: Grid | undefined;
  isPreviewed: boolean;
  height: number | undefined;
}

export function Row(props: RowProps) {
  const { definition, entity, q, columns, widths, ticks, index, grid, isPreviewed, height } = props;
  const { t } = useTranslation();
  const navigate = useNavigate();
  const params = { collection: definition.collection, id: entity.id };
  const shown = grid?.edits.shown(entity) ?? entity;
  // In a grid, the last day of an absence has a column of its own.
  const named = grid ? { ...definition, dateOrders: [] } : definition;
  const isActive = (column: number) => grid?.active.row === index && grid.active.column === column;
  return (
    <tr
      aria-rowindex={index + 2}
      aria-selected={ticks?.has(entity.id)}
      data-previewed={isPreviewed || undefined}
      className={classes.row}
      style={{ height }}
      onClick={(event) => {
        const isOnLink = (event.target as HTMLElement).closest('a, button, input, label');
        const isSelecting = window.getSelection()?.toString();
        if (!grid && !isOnLink && !isSelecting) navigate({ to: '/data/$collection/$id', params });
      }}
    >
      {ticks && (
        <td className={classes.tick}>
          <Checkbox
            size="xs"
            aria-label={t('table.tick', { name: labelOf(definition, entity) })}
            checked={ticks.has(entity.id)}
            onChange={({ nativeEvent }) => ticks.toggle(entity.id, (nativeEvent as MouseEvent).shiftKey)}
            tabIndex={grid && grid.active.row !== index ? -1 : 0}
          />
        </td>
      )}
      <CellBox {...props} id={definition.nameField} column={0} isName>
        <Link
          to="/data/$collection/$id"
          params={params}
          className={classes.name}
          data-row={index}
          data-cell={`${index}:0`}
          tabIndex={!grid || isActive(0) ? 0 : -1}
          onFocus={() => grid && !isActive(0) && grid.select({ row: index, column: 0 })}
        >
          {labelOf(named, shown)}
        </Link>
        {q && (
          <Suspense>
            <Matches definition={definition} entity={entity} q={q} />
          </Suspense>
        )}
        {!grid && <Hint definition={definition} entity={entity} />}
      </CellBox>
      {columns.map((column, place) => (
        <CellBox key={column.id} {...props} id={column.id} column={place + 1} shown={column} widths={widths}>
          <Content column={column} entity={shown} isGrid={grid !== undefined} />
        </CellBox>
      ))}
    </tr>
  );
}

interface CellBoxProps extends RowProps {
  id: string;
  column: number;
  isName?: boolean;
  shown?: Column;
  children: ReactNode;
}

/** The content of a cell: its value, a rejected text, or its editor. */
function CellBox({
  definition,
  entity,
  widths,
  index,
  grid,
  id,
  column,
  isName,
  shown,
  children,
}: CellBoxProps) {
  const place = { row: index, column };
  const pending = grid?.edits.at(entity.id, id);
  const isRefused = pending !== undefined && pending.state !== 'saving';
  const isEditing = grid?.editing?.row === index && grid.editing.column === column;
  const isActive = grid?.active.row === index && grid.active.column === column;
  const isSelected = grid !== undefined && isInRange(grid.range, place);
  const Tag = isName ? 'th' : 'td';
  const content = isRefused ? (
    <>
      <span className={cellClasses.refused}>{pending.shown || '–'}</span>
      {isName && children}
      <span className={cellClasses.why}>{pending.message}</span>
    </>
  ) : (
    children
  );
  return (
    <Tag
      {...(isName && { scope: 'row' })}
      className={grid && cellClasses.cell}
      data-place={`${index}:${column}`}
      {...(grid && !isName && { 'data-cell': `${index}:${column}`, tabIndex: isActive ? 0 : -1 })}
      aria-selected={grid && isSelected ? true : undefined}
      aria-readonly={grid && !grid.canEdit(id) ? true : undefined}
      aria-invalid={isRefused || undefined}
      data-selected={(isSelected && (!isActive || grid.range.top !== grid.range.bottom)) || undefined}
      data-pending={pending?.state}
      data-refused={isRefused || undefined}
      data-editing={isEditing || undefined}
      data-number={(shown && isNumber(shown)) || undefined}
      data-named={shown?.field?.reference !== undefined || undefined}
      style={widthOf(widths, id)}
    >
      {content}
      {isEditing && (
        <Suspense>
          <CellEditor
            definition={definition}
            entity={entity}
            column={id}
            fields={grid.fieldsOf(id)}
            typed={grid.editing?.typed}
            pending={pending}
            onFinish={grid.finish}
          />
        </Suspense>
      )}
    </Tag>
  );
}

/** Replaces the columns: shows the owner, and what distinguishes the record. */
function Hint({ definition, entity }: { definition: Definition; entity: Entity }) {
  const owner = useOwner(definition, entity);
  const words = [owner && labelOf(owner.definition, owner.entity), hintOf(definition, entity)];
  return <span className={classes.hint}>{words.filter(Boolean).join(' · ') || '\u00a0'}</span>;
}

/** In a grid, a click on a number is for the cell. Links to other records are reached with the pointer. */
function Content({ column, entity, isGrid }: { column: Column; entity: Entity; isGrid: boolean }) {
  const { field, id } = column;
  const value = field ? valueAt(entity, id) : entity[id];
  if (field?.reference && typeof value === 'string' && value !== '')
    return <NamedLink resources={field.reference.resources} id={value} {...(isGrid && { tabIndex: -1 })} />;
  if (field) return <Value field={field} value={value} owner={entity} isWithoutLinks={isGrid} />;
  return typeof value === 'object' ? addressText(value) : formatTime(String(value));
}
