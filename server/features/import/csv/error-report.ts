// The rejected rows of an import in a file of their own, to be corrected and imported again.
import { createReadStream, createWriteStream } from 'node:fs';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { isNumberCell, thousandsMarkOf } from '../../../../core/table/cells.ts';
import { columnsOf, errorTitles, type ImportColumn } from '../../../../core/table/columns.ts';
import {
  byteOrderMark,
  type Cell,
  guardText,
  type Separator,
  toCsvLine,
  unguardText,
} from '../../../../core/table/csv/csv.ts';
import { isObject } from '../../../engine/definition/validation.ts';
import { parseJson } from '../../../http/json-body.ts';
import { readLines } from '../lines.ts';
import type { LineResult } from '../results.ts';
import type { CsvInput } from './csv-input.ts';

/** The answer to each rejected line, by its number. */
export type RejectedLines = ReadonlyMap<number, LineResult['answer']>;

export function reportName(name: string): string {
  const { dir, name: stem, ext } = path.parse(name);
  return path.join(dir, `${stem}.errors${ext.replace(/^\.xlsx$/i, '.csv')}`);
}

/** The same columns and separator, with the errors in a last column, which the next import ignores. */
export async function writeCsvReport(
  { name, opened, columns, definition, language }: CsvInput,
  rejected: RejectedLines,
) {
  const { separator, titles: fileTitles } = opened.table;
  // The report of a report has one column of errors, not two.
  const kept = fileTitles.map((title) => !Object.values(errorTitles).includes(title));
  const keep = (cells: readonly Cell[]) =>
    fileTitles.map((_, index) => cells[index] ?? null).filter((_, index) => kept[index]);
  const titleOf = new Map(columnsOf(definition).map(({ path, titles }) => [path, titles[language]]));

  async function* lines(): AsyncGenerator<string> {
    yield byteOrderMark + toCsvLine([...keep(fileTitles), errorTitles[language]], separator);
    for await (const rows of opened.readRows()) {
      for (const { number, cells } of rows) {
        const answer = rejected.get(number);
        if (!answer) continue;
        const guarded = fileTitles.map((_, index) =>
          guardCell(columns[index], cells[index] ?? null, separator),
        );
        yield toCsvLine([...keep(guarded), sentencesOf(answer, titleOf)], separator);
      }
    }
  }
  await pipeline(lines, createWriteStream(reportName(name)));
}

/** A negative number stays one. Any other cell that a spreadsheet would calculate is kept a text. */
function guardCell(column: ImportColumn | undefined, cell: Cell, separator: Separator): Cell {
  if (cell === null) return null;
  const isNumber = column && isNumberCell(column.field, cell, thousandsMarkOf(separator));
  return isNumber ? cell : guardText(unguardText(cell));
}

interface ReportedError {
  field: string;
  message: string;
}

function sentencesOf(answer: LineResult['answer'], titleOf: ReadonlyMap<string, string>): string {
  const { errors, field, message } = answer as { errors?: ReportedError[]; field?: string; message?: string };
  const reported = errors ?? [{ field: field ?? '', message: message ?? '' }];
  return reported
    .map(({ field, message }) => `${field && `${titleOf.get(field) ?? field}: `}${message}`)
    .join(' ');
}

/** The lines as sent, with their errors beside type and data, where the next import ignores them. */
export async function writeLinesReport(
  name: string,
  maxLineBytes: number,
  rejected: RejectedLines,
): Promise<void> {
  async function* lines(): AsyncGenerator<string> {
    for await (const chunk of readLines(createReadStream(name), maxLineBytes)) {
      for (const { number, bytes } of chunk) {
        const answer = rejected.get(number);
        if (answer && bytes) yield `${withErrors(bytes, answer)}\n`;
      }
    }
  }
  await pipeline(lines, createWriteStream(reportName(name)));
}

function withErrors(bytes: Buffer, answer: LineResult['answer']): string {
  const { line: _line, status: _status, ...error } = answer;
  try {
    const { value, exact } = parseJson(bytes);
    if (isObject(value)) return JSON.stringify({ ...(exact ?? value), errors: answer.errors ?? [error] });
  } catch {
    // Report a line that is not JSON as it is.
  }
  return bytes.toString('utf8').trimEnd();
}
