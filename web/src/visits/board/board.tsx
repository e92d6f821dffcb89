// The week: a row for each person, folded to sums or with the visits of each day below them. Only visible rows exist.
import { Button, Group } from '@mantine/core';
import { lazyRouteComponent } from '@tanstack/react-router';
import { type CSSProperties, type MouseEvent, Suspense, useCallback, useMemo, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { toDayNumber, weekdayOf } from '../../../../core/calendar/calendar-days.ts';
import { useMayEdit } from '../../api/session.ts';
import { FailureNote } from '../../frame/failure.tsx';
import { formatDay } from '../../texts/format.ts';
import { keyOf } from '../visit-groups.ts';
import type { Visit, VisitFilters } from '../visits-query.ts';
import classes from './board.module.css';
import { useSumText } from './board-cells.tsx';
import { addSums, type Sums, sumOn, useBoardVisits } from './board-data.ts';
import { BoardHead } from './board-head.tsx';
import { BoardRowView } from './board-row.tsx';
import { heightOf, type Person, toRows } from './board-rows.ts';
import type { Target } from './moves.ts';
import { type Place, useBoardKeys } from './use-board-keys.ts';
import { useBoardRows } from './use-board-rows.ts';
import { useDrag } from './use-drag.ts';

const MoveDialog = lazyRouteComponent(() => import('./move-dialog.tsx'), 'MoveDialog');
const VisitMenu = lazyRouteComponent(() => import('./visit-menu.tsx'), 'VisitMenu');
const ExceptionDialog = lazyRouteComponent(() => import('../exception-dialog.tsx'), 'ExceptionDialog');

const headHeight = 44;
/** A week that is read at a glance is not folded. */
const fewVisits = 150;

interface BoardProps {
  filters: VisitFilters;
  days: readonly string[];
  today: string;
  sums: Sums;
  people: readonly Person[];
  isAbsent: (employeeId: string, day: string) => boolean;
}

/** A weekend without visits leaves its room to the other days. */
function columnsOf(days: readonly string[], listedOn: (day: string) => number): CSSProperties {
  const isNarrow = (day: string) => weekdayOf(toDayNumber(day)) > 4 && !listedOn(day);
  const columns = days.map((day) => (isNarrow(day) ? '5.5rem' : 'minmax(6.25rem,1fr)'));
  return { '--columns': columns.join(' ') } as CSSProperties;
}

interface OpenMenu {
  visit: Visit;
  place: DOMRect;
}

type OpenDialog =
  | { kind: 'move'; visits: readonly Visit[]; target?: Target }
  | { kind: 'once'; visit: Visit };

export function Board({ filters, days, today, sums, people, isAbsent }: BoardProps) {
  const { t } = useTranslation();
  const textOf = useSumText();
  const mayMove = useMayEdit();
  const box = useRef<HTMLDivElement>(null);
  const ghost = useRef<HTMLDivElement>(null);
  const [folds, setFolds] = useState<ReadonlyMap<string, boolean>>(new Map());
  const [selected, setSelected] = useState<ReadonlyMap<string, Visit>>(new Map());
  const [menu, setMenu] = useState<OpenMenu>();
  const [dialog, setDialog] = useState<OpenDialog>();
  const total = useMemo(() => addSums([...sums.byDay.values()]), [sums]);
  const isOpen = useCallback(
    (id: string) => folds.get(id) ?? total.listed <= fewVisits,
    [folds, total.listed],
  );
  const open = people.filter(({ id }) => isOpen(id)).map(({ id }) => id);
  const rows = useMemo(() => toRows(people, sums, days, isOpen), [people, sums, days, isOpen]);
  const loaded = useBoardVisits(filters, sums, days, open);
  const visible = useBoardRows(box, rows, headHeight);

  const visitAt = ({ row, column }: Place): Visit | undefined => {
    const { person, line } = rows[row] ?? {};
    const day = days[column - 1];
    return person && day && line !== undefined ? loaded.of(person.id, day)[line] : undefined;
  };
  const visitsFor = (visit: Visit) => (selected.has(keyOf(visit)) ? [...selected.values()] : [visit]);
  const toggle = (visit: Visit) => {
    const next = new Map(selected);
    if (!next.delete(keyOf(visit))) next.set(keyOf(visit), visit);
    setSelected(next);
  };
  const selectBetween = (from: Place, to: Place) => {
    const found = new Map<string, Visit>();
    for (let row = Math.min(from.row, to.row); row <= Math.max(from.row, to.row); row += 1)
      for (
        let column = Math.min(from.column, to.column);
        column <= Math.max(from.column, to.column);
        column += 1
      ) {
        const visit = visitAt({ row, column });
        if (visit) found.set(keyOf(visit), visit);
      }
    setSelected(found);
  };
  const clear = () => setSelected(new Map());
  const fold = ({ id }: Person) => setFolds(new Map(folds).set(id, !isOpen(id)));
  const drop = (visits: readonly Visit[], target: Target) => setDialog({ kind: 'move', visits, target });
  const openMenu = (visit: Visit, element: Element) =>
    setMenu({ visit, place: element.getBoundingClientRect() });
  const { drag, hasDragged, press, handlers } = useDrag(box, ghost, drop);
  const keys = useBoardKeys({
    ...{ box, rows, people, days, mayMove, scrollTo: visible.scrollTo, visitAt, visitsFor },
    ...{
      onSelect: selectBetween,
      onToggle: toggle,
      onClear: clear,
      onFold: fold,
      onMenu: openMenu,
      onDrop: drop,
    },
  });
  const movingTarget = keys.moving && {
    employeeId: people[keys.moving.person]!.id || null,
    day: days[keys.moving.column - 1],
  };
  const target = drag?.target ?? movingTarget;

  function clickVisit(event: MouseEvent, place: Place, visit: Visit): void {
    if (hasDragged.current) return;
    keys.setActive(place, event.shiftKey);
    if (event.shiftKey) return;
    if (event.ctrlKey || event.metaKey) toggle(visit);
    else {
      if (!selected.has(keyOf(visit))) clear();
      openMenu(visit, event.currentTarget);
    }
  }

  const closeMenu = () => {
    setMenu(undefined);
    keys.focusActive();
  };
  const closeDialog = () => {
    setDialog(undefined);
    clear();
    keys.focusActive();
  };
  const tabStop =
    keys.active.row >= visible.first && keys.active.row < visible.end
      ? keys.active
      : { row: visible.first, column: 1 };
  const isAllOpen = open.length === people.length;
  return (
    <div className="screen-only">
      {loaded.error && <FailureNote error={loaded.error} />}
      <Group justify="space-between" mb="xs" gap="xs">
        <span data-week-sum>{textOf(total)}</span>
        <Button
          size="compact-sm"
          variant="subtle"
          onClick={() => setFolds(new Map(people.map(({ id }) => [id, !isAllOpen])))}
        >
          {t(isAllOpen ? 'visits.board.foldAll' : 'visits.board.unfoldAll')}
        </Button>
      </Group>
      <div
        ref={box}
        role="grid"
        tabIndex={-1}
        aria-label={t('visits.week')}
        aria-rowcount={rows.length + 1}
        aria-colcount={days.length + 1}
        aria-multiselectable
        className={`panel ${classes.board}`}
        data-dragging={drag ? true : undefined}
        style={columnsOf(days, (day) => addSums(people.map(({ id }) => sumOn(sums, id, day))).listed)}
        onKeyDown={keys.onKeyDown}
        {...handlers}
      >
        <BoardHead days={days} today={today} people={people} sums={sums} />
        <div role="rowgroup" className={classes.rows} style={{ height: heightOf(rows) }}>
          {rows.slice(visible.first, visible.end).map((row, index) => (
            <BoardRowView
              key={`${row.person.id} ${row.line ?? 'sum'}`}
              row={row}
              index={visible.first + index}
              days={days}
              today={today}
              isOpen={isOpen(row.person.id)}
              sumOf={(day) => sumOn(sums, row.person.id, day)}
              visitOf={(day) => loaded.of(row.person.id, day)[row.line ?? 0]}
              isAbsent={isAbsent}
              target={target}
              tabColumn={tabStop.row === visible.first + index ? tabStop.column : undefined}
              isSelected={(visit) => selected.has(keyOf(visit))}
              onFold={fold}
              onFocus={keys.onFocus}
              onPress={(event, visit) => mayMove && press(event, visitsFor(visit))}
              onClick={clickVisit}
            />
          ))}
        </div>
      </div>
      <div className={classes.status} role="status">
        {keys.moving
          ? t('visits.move.mode', {
              count: keys.moving.visits.length,
              who: people[keys.moving.person]!.name,
              day: movingTarget?.day
                ? formatDay(movingTarget.day, { weekday: 'long', day: 'numeric', month: 'long' })
                : t('visits.move.sameDay'),
            })
          : selected.size > 0
            ? t('visits.move.selected', { count: selected.size })
            : mayMove && t('visits.move.hint')}
      </div>
      <div ref={ghost} className={classes.ghost} hidden={!drag}>
        {drag &&
          (drag.visits.length > 1
            ? t('visits.count', { count: drag.visits.length })
            : drag.visits[0]!.site?.name)}
      </div>
      <Suspense>
        {menu && (
          <VisitMenu
            visit={menu.visit}
            count={visitsFor(menu.visit).length}
            place={{
              left: menu.place.left,
              top: menu.place.top,
              width: menu.place.width,
              height: menu.place.height,
            }}
            onMove={() => setDialog({ kind: 'move', visits: visitsFor(menu.visit) })}
            onChange={() => setDialog({ kind: 'once', visit: menu.visit })}
            onClose={closeMenu}
          />
        )}
        {dialog?.kind === 'move' && <MoveDialog {...dialog} onClose={closeDialog} />}
        {dialog?.kind === 'once' && <ExceptionDialog visit={dialog.visit} onClose={closeDialog} />}
      </Suspense>
    </div>
  );
}
