// The rejected rows of an import as a workbook, which the next import takes as it is.
import type { GuessKind } from './cell-guesses.ts';
import { isNumberCell, toFieldValue } from './cells.ts';
import { errorTitles } from './columns.ts';
import { unguardText } from './csv/csv.ts';
import type { CsvRow } from './csv/csv-file.ts';
import { guessesIn, type LinePlan } from './import-lines.ts';
import { type ReportCell, writeReportWorkbook } from './report-workbook.ts';

interface Report {
  plan: LinePlan;
  titles: readonly string[];
  rows: readonly CsvRow[];
  /** The errors of each row. */
  sentences: ReadonlyMap<number, string>;
  language: 'de' | 'en';
}

/** Writes the same columns, with the errors in a last column that the next import ignores. */
export function writeReport({ plan, titles, rows, sentences, language }: Report): Uint8Array<ArrayBuffer> {
  // The report of a report has one column of errors, not two.
  const kept = titles.flatMap((title, index) => (Object.values(errorTitles).includes(title) ? [] : [index]));
  const named = kept.map((index) => titles[index] || plan.columns[index]?.titles[language] || '');
  const errorTitle = errorTitles[language];
  return writeReportWorkbook(
    errorTitle,
    [...named, errorTitle],
    rows.map((row) => [
      ...kept.map((index) => toReportCell(plan, row, index)),
      { text: sentences.get(row.number) ?? '' },
    ]),
  );
}

/** Only the other rows of the file reveal how these cells are meant. */
const shownByFile: ReadonlySet<GuessKind> = new Set(['zipZeros', 'dates']);

/** A number depends on the marks of its file, so it is written as one. */
function toReportCell(plan: LinePlan, { cells }: CsvRow, index: number): ReportCell {
  const cell = cells[index] ?? null;
  if (cell === null) return undefined;
  const field = plan.columns[index]?.field;
  if (field && isNumberCell(field, cell, plan.mark)) {
    const number = JSON.stringify(toFieldValue(field, cell, plan.mark));
    return fitsSpreadsheet(number) ? { number } : { text: number };
  }
  const guess = guessesIn({ ...plan, columns: keepOnly(plan, index) }, cells).get(index);
  return { text: guess && shownByFile.has(guess.kind) ? (guess.shown ?? '') : unguardText(cell) };
}

/** A postcode needs its town. No other cell needs a second column. */
function keepOnly({ columns }: LinePlan, index: number): LinePlan['columns'] {
  const isTown = columns[index]?.field.name === 'zipCode';
  return columns.map((column, place) =>
    place === index || (isTown && column?.field.name === 'city') ? column : undefined,
  );
}

/** Spreadsheets keep 15 digits. */
function fitsSpreadsheet(number: string): boolean {
  return /^-?\d+(\.\d+)?$/.test(number) && number.replace(/\D/g, '').replace(/^0+/, '').length <= 15;
}
