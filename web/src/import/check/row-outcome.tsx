// The outcome of a row, with the errors that belong to no shown cell.
import { Badge } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { columnAt, type ImportColumn } from '../../../../core/table/columns.ts';
import { Value } from '../../records/value.tsx';
import { currentLanguage } from '../../texts/language.ts';
import classes from '../import.module.css';
import type { RowError, RowResult } from '../sending.ts';
import type { RowChanges } from './changes.ts';

const colors = {
  created: 'leaf',
  changed: 'blue',
  unchanged: 'gray',
  known: 'gray',
  duplicate: 'yellow',
  failed: 'red',
  leftOut: 'gray',
} as const;

interface RowOutcomeProps {
  result: RowResult | undefined;
  isDuplicate: boolean;
  /** Undefined while what is stored has not been read. */
  changes: RowChanges | undefined;
  known: readonly ImportColumn[];
  errors: readonly RowError[];
}

export function RowOutcome({ result, isDuplicate, changes, known: columns, errors }: RowOutcomeProps) {
  const { t } = useTranslation();
  if (!result) return '…';
  const { outcome } = result;
  const isChanged = changes && changes.cells.size + changes.others.length > 0;
  const known = isChanged === undefined ? 'known' : isChanged ? 'changed' : 'unchanged';
  const shown = outcome === 'known' ? known : outcome === 'created' && isDuplicate ? 'duplicate' : outcome;
  return (
    <>
      <Badge miw="max-content" color={colors[shown]}>
        {t(`import.outcomes.${shown}`)}
      </Badge>
      {changes?.others.map(({ path, before, after }) => {
        const column = columnAt(columns, path);
        return (
          column && (
            <span key={path} className={classes.otherChange} data-changed>
              {column.titles[currentLanguage()]}:{' '}
              <s>
                <Value field={column.field} value={before} isWithoutLinks />
              </s>{' '}
              <Value field={column.field} value={after} isWithoutLinks />
            </span>
          )
        );
      })}
      {errors.map(({ field, message }) => (
        <span key={`${field}${message}`} className={classes.error}>
          {field && `${field}: `}
          {message}
        </span>
      ))}
    </>
  );
}

export function errorsElsewhere(
  result: RowResult | undefined,
  columns: readonly (ImportColumn | undefined)[],
  known: readonly ImportColumn[],
): RowError[] {
  const chosen = columns.filter((column) => column !== undefined);
  return (result?.errors ?? [])
    .filter(({ field }) => !columnAt(chosen, field))
    .map((error) => ({
      ...error,
      field: columnAt(known, error.field)?.titles[currentLanguage()] ?? error.field,
    }));
}
