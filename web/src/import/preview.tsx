// The first rows as the service would take them, with the errors in the cells.
import { Badge, Loader, Text } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useId } from 'react';
import { useTranslation } from 'react-i18next';
import { columnAt, type ImportColumn } from '../../../core/columns.ts';
import type { CsvRow } from '../../../core/csv-file.ts';
import {
  type ChosenColumns,
  holdsData,
  isLeftOut,
  type LinePlan,
  toLine,
} from '../../../core/import-lines.ts';
import { Card } from '../frame/card.tsx';
import { FailureNote } from '../frame/failure.tsx';
import { currentLanguage } from '../texts/language.ts';
import classes from './import.module.css';
import { type RowError, type RowResult, sendLines } from './sending.ts';
import type { TableFile } from './table-file.ts';

interface PreviewProps {
  table: TableFile;
  plan: LinePlan;
  known: readonly ImportColumn[];
}

export function Preview({ table, plan, known }: PreviewProps) {
  const { columns } = plan;
  const { t } = useTranslation();
  const id = useId();
  const rows = table.head.filter(({ cells }) => holdsData(columns, cells) && !isLeftOut(plan, cells));
  const lines = rows.map(({ cells }) => toLine(plan, cells));
  const check = useQuery({
    queryKey: ['import preview', id, lines, currentLanguage()],
    queryFn: async ({ signal }) => {
      const body = lines.map((line) => `${line}\n`).join('');
      const numbers = rows.map(({ number }) => number);
      const { results } = await sendLines(body, numbers, { columns, isDryRun: true, signal });
      return new Map(results.map((result) => [result.row, result]));
    },
    enabled: rows.length > 0,
    placeholderData: keepPreviousData,
    retry: false,
  });
  const shown = columns.flatMap((column, index) => (column ? [{ column, index }] : []));
  const invalid = [...(check.data?.values() ?? [])].filter(({ outcome }) => outcome === 'failed').length;
  return (
    <Card
      title={t('import.preview')}
      icon="search"
      actions={check.isFetching ? <Loader size="xs" role="img" aria-label={t('import.checking')} /> : null}
    >
      <Text size="sm" c="dimmed" mb="sm" role="status">
        {check.data
          ? invalid > 0
            ? t('import.previewInvalid', { count: invalid, total: rows.length })
            : t('import.previewFine', { count: rows.length })
          : t('import.checking')}
      </Text>
      {check.error && <FailureNote error={check.error} onRetry={() => check.refetch()} />}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard. */}
      <section className={classes.tableBox} tabIndex={0} aria-label={t('import.previewRows')}>
        <table className={classes.table}>
          <thead>
            <tr>
              <th scope="col">{t('import.row')}</th>
              <th scope="col">{t('import.result')}</th>
              {shown.map(({ column, index }) => (
                <th key={index} scope="col">
                  {column.titles[currentLanguage()]}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => {
              const result = check.data?.get(row.number);
              return (
                <tr key={row.number}>
                  <th scope="row" className="numbers">
                    {row.number}
                  </th>
                  <td>
                    <RowState result={result} elsewhere={elsewhere(result, columns, known)} />
                  </td>
                  {shown.map(({ column, index }) => (
                    <PreviewCell
                      key={index}
                      row={row}
                      index={index}
                      errors={result?.errors.filter(({ field }) => columnAt([column], field)) ?? []}
                    />
                  ))}
                </tr>
              );
            })}
          </tbody>
        </table>
      </section>
    </Card>
  );
}

/** Errors that no shown cell is to blame for, such as a field that no column brings. */
function elsewhere(
  result: RowResult | undefined,
  columns: ChosenColumns,
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

function RowState({ result, elsewhere }: { result: RowResult | undefined; elsewhere: RowError[] }) {
  const { t } = useTranslation();
  if (!result) return '…';
  return (
    <>
      <Badge miw="max-content" color={{ created: 'leaf', known: 'gray', failed: 'red' }[result.outcome]}>
        {t(`import.outcomes.${result.outcome}`)}
      </Badge>
      {elsewhere.map(({ field, message }) => (
        <span key={`${field}${message}`} className={classes.error}>
          {field && `${field}: `}
          {message}
        </span>
      ))}
    </>
  );
}

function PreviewCell({ row, index, errors }: { row: CsvRow; index: number; errors: RowError[] }) {
  const { t } = useTranslation();
  const cell = row.cells[index];
  return (
    <td data-invalid={errors.length > 0 || undefined}>
      <span className={classes.cell}>
        {cell || (errors.length > 0 ? <em className={classes.emptyCell}>{t('changes.empty')}</em> : '')}
      </span>
      {errors.map(({ message }) => (
        <span key={message} className={classes.error}>
          {message}
        </span>
      ))}
    </td>
  );
}
