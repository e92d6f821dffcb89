// A cell as it was written, as it is read, and what is wrong with it. Enter, F2 or a double click edits it.
import { type KeyboardEvent, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import { type CellReading, showGuess } from '../../../../core/table/cell-guesses.ts';
import type { ImportColumn } from '../../../../core/table/columns.ts';
import { type Cell, unguardText } from '../../../../core/table/csv/csv.ts';
import { Value } from '../../records/value.tsx';
import { formatDay, isDay } from '../../texts/format.ts';
import { currentLanguage } from '../../texts/language.ts';
import classes from '../import.module.css';
import type { RowChanges } from './changes.ts';
import type { CellPlace } from './use-grid-keys.ts';

interface ImportCellProps extends CellPlace {
  number: number;
  title: string;
  cell: Cell;
  target: ImportColumn | undefined;
  isOfWorkbook: boolean;
  guess: CellReading | undefined;
  before: ReturnType<RowChanges['cells']['get']>;
  errors: readonly string[];
  isActive: boolean;
  isEditable: boolean;
  editing: { text?: string } | undefined;
  onBegin: () => void;
  onFocus: () => void;
  /** Called without a text if nothing was changed. */
  onEnd: (text: string | undefined, step?: CellPlace) => void;
}

export function ImportCell(props: ImportCellProps) {
  const { row, column, target, guess, before, errors, isActive, isEditable, editing } = props;
  const { t } = useTranslation();
  const text = shownText(props);
  const read = guess && target && showGuess(target, guess.shown ?? '', currentLanguage());
  return (
    <td
      // biome-ignore lint/a11y/noNoninteractiveElementToInteractiveRole: a cell of a grid has the focus.
      role="gridcell"
      tabIndex={isActive && !editing ? 0 : -1}
      data-place={`${row} ${column}`}
      data-invalid={errors.length > 0 || undefined}
      data-changed={before ? true : undefined}
      data-ignored={target ? undefined : true}
      aria-invalid={errors.length > 0 || undefined}
      aria-readonly={!isEditable || undefined}
      onFocus={props.onFocus}
      onDoubleClick={() => isEditable && props.onBegin()}
    >
      {editing && isEditable ? (
        <CellInput
          label={t('import.editCell', { title: props.title, number: props.number })}
          start={editing.text ?? text}
          before={text}
          onEnd={props.onEnd}
        />
      ) : (
        <span className={classes.cell}>
          {before && target ? (
            <>
              <s className={classes.before}>
                {before.map(({ path, before: value }) => (
                  <span key={path}>
                    <Value field={target.field} value={value} isWithoutLinks />{' '}
                  </span>
                ))}
              </s>
              {read || text || t('changes.empty')}
            </>
          ) : (
            <>
              {read !== undefined && text ? <s className={classes.before}>{text}</s> : text}
              {read !== undefined && ` ${read || t('changes.empty')}`}
            </>
          )}
          {!text && errors.length > 0 && <em className={classes.emptyCell}>{t('changes.empty')}</em>}
        </span>
      )}
      {errors.map((message) => (
        <span key={message} className={classes.error}>
          {message}
        </span>
      ))}
    </td>
  );
}

/** A workbook has days, not texts. The cell of a text field shows what will be stored. */
function shownText({ cell, target, isOfWorkbook }: ImportCellProps): string {
  const text = unguardText(cell ?? '');
  const [, day = '', time = ''] = /^(\d{4}-\d\d-\d\d)( \d\d:\d\d)?$/.exec(text) ?? [];
  const isShownAsDay = isOfWorkbook && isDay(day) && (!target || target.field.kind === 'date');
  return isShownAsDay ? formatDay(day) + time : text;
}

interface CellInputProps {
  label: string;
  start: string;
  before: string;
  onEnd: ImportCellProps['onEnd'];
}

function CellInput({ label, start, before, onEnd }: CellInputProps) {
  const isOver = useRef(false);

  function end(input: HTMLInputElement, step?: CellPlace): void {
    if (isOver.current) return;
    isOver.current = true;
    onEnd(input.value === before ? undefined : input.value, step);
  }

  function onKeyDown(event: KeyboardEvent<HTMLInputElement>): void {
    const steps: Record<string, CellPlace> = {
      Enter: { row: event.shiftKey ? -1 : 1, column: 0 },
      Tab: { row: 0, column: event.shiftKey ? -1 : 1 },
    };
    const step = steps[event.key];
    event.stopPropagation();
    if (event.key === 'Escape') {
      isOver.current = true;
      onEnd(undefined, { row: 0, column: 0 });
    } else if (step) {
      event.preventDefault();
      end(event.currentTarget, step);
    }
  }

  return (
    <input
      className={classes.cellInput}
      aria-label={label}
      defaultValue={start}
      // biome-ignore lint/a11y/noAutofocus: the person has just opened this cell.
      autoFocus
      onFocus={(event) => event.currentTarget.setSelectionRange(start.length, start.length)}
      onKeyDown={onKeyDown}
      // A cell keeps the focus that nothing else takes.
      onBlur={(event) => end(event.currentTarget, event.relatedTarget ? undefined : { row: 0, column: 0 })}
    />
  );
}
