// A row of the board: the sums of a person, or one visit for each day.
import { UnstyledButton } from '@mantine/core';
import type { MouseEvent, PointerEvent } from 'react';
import { Icon } from '../../icons.tsx';
import type { Visit } from '../visits-query.ts';
import classes from './board.module.css';
import { SumCell, useSumText, VisitLine } from './board-cells.tsx';
import { addSums, type Sum } from './board-data.ts';
import type { BoardRow, Person } from './board-rows.ts';
import type { Target } from './moves.ts';
import type { Place } from './use-board-keys.ts';

interface BoardRowProps {
  row: BoardRow;
  index: number;
  days: readonly string[];
  today: string;
  isOpen: boolean;
  sumOf: (day: string) => Sum;
  visitOf: (day: string) => Visit | undefined;
  isAbsent: (employeeId: string, day: string) => boolean;
  target: Target | undefined;
  /** The column of this row that the tab key reaches. */
  tabColumn: number | undefined;
  isSelected: (visit: Visit) => boolean;
  onFold: (person: Person) => void;
  onFocus: (place: Place) => void;
  onPress: (event: PointerEvent, visit: Visit) => void;
  onClick: (event: MouseEvent, place: Place, visit: Visit) => void;
}

export function BoardRowView(props: BoardRowProps) {
  const { row, index, days, today, target, tabColumn, sumOf, visitOf } = props;
  const { person, line } = row;
  const isTarget = (day: string | undefined) =>
    target !== undefined && (target.employeeId ?? '') === person.id && target.day === day;

  function cellOf(day: string, column: number) {
    const place = { row: index, column };
    const cell = {
      'data-person': person.id,
      'data-day': day,
      'data-cell': `${index}-${column}`,
      'data-today': day === today || undefined,
      'data-target': isTarget(day) || undefined,
      'aria-colindex': column + 1,
    };
    if (line === undefined)
      return (
        <div
          key={day}
          {...cell}
          role="gridcell"
          tabIndex={tabColumn === column ? 0 : -1}
          className={classes.cell}
          onFocus={() => props.onFocus(place)}
        >
          <SumCell sum={sumOf(day)} isAbsent={props.isAbsent(person.id, day)} />
        </div>
      );
    const visit = visitOf(day);
    if (visit)
      return (
        <VisitLine
          key={day}
          {...cell}
          visit={visit}
          isSelected={props.isSelected(visit)}
          isActive={tabColumn === column}
          onPointerDown={(event) => props.onPress(event, visit)}
          onClick={(event) => props.onClick(event, place, visit)}
          onContextMenu={(event) => {
            event.preventDefault();
            props.onClick(event, place, visit);
          }}
        />
      );
    return (
      <div
        key={day}
        {...cell}
        role="gridcell"
        tabIndex={tabColumn === column ? 0 : -1}
        className={classes.cell}
      >
        {line < sumOf(day).listed && <span className={classes.waiting} />}
      </div>
    );
  }

  return (
    <div
      role="row"
      aria-rowindex={index + 2}
      className={classes.row}
      data-sum={line === undefined || undefined}
      style={{ top: row.top, height: row.height }}
    >
      <RowHead {...props} isTarget={isTarget(undefined)} />
      {days.map((day, place) => cellOf(day, place + 1))}
    </div>
  );
}

function RowHead(props: BoardRowProps & { isTarget: boolean }) {
  const { row, index, days, isOpen, sumOf, isTarget, tabColumn } = props;
  const textOf = useSumText();
  const { person, line } = row;
  const head = { 'data-person': person.id, 'data-target': isTarget || undefined, className: classes.first };
  if (line !== undefined) return <div role="gridcell" {...head} />;
  return (
    <div role="rowheader" {...head}>
      <UnstyledButton
        className={classes.person}
        data-cell={`${index}-0`}
        tabIndex={tabColumn === 0 ? 0 : -1}
        aria-expanded={isOpen}
        onFocus={() => props.onFocus({ row: index, column: 0 })}
        onClick={() => props.onFold(person)}
      >
        <Icon name="right" size={14} />
        <span title={person.name}>{person.name}</span>
        <small>{textOf(addSums(days.map(sumOf)))}</small>
      </UnstyledButton>
    </div>
  );
}
