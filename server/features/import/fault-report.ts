// The faulty rows of an import in a file of their own, which can be corrected and imported again.
import { createReadStream, createWriteStream } from 'node:fs';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { isNumberCell, thousandsMarkOf } from '../../../core/cells.ts';
import { columnsOf, faultTitles, type ImportColumn } from '../../../core/columns.ts';
import {
  byteOrderMark,
  type Cell,
  guardText,
  type Separator,
  toCsvLine,
  unguardText,
} from '../../../core/csv.ts';
import { isObject } from '../../engine/definition/validation.ts';
import { parseJson } from '../../http/json-body.ts';
import { readFileRows } from './csv-file.ts';
import type { CsvInput } from './csv-input.ts';
import { readLines } from './lines.ts';
import type { LineResult } from './results.ts';

/** What was answered for each faulty line. */
export type Faults = ReadonlyMap<number, LineResult['answer']>;

export function reportName(name: string): string {
  const { dir, name: stem, ext } = path.parse(name);
  return path.join(dir, `${stem}.faults${ext}`);
}

/** The same columns and separator, and what is wrong in a last column, which the next import ignores. */
export async function writeCsvReport({ file, columns, definition, language }: CsvInput, faults: Faults) {
  const { separator } = file;
  // The report of a report has one column of faults, not two.
  const kept = file.titles.map((title) => !Object.values(faultTitles).includes(title));
  const keep = (cells: readonly Cell[]) =>
    file.titles.map((_, index) => cells[index] ?? null).filter((_, index) => kept[index]);
  const titleOf = new Map(columnsOf(definition).map(({ path, titles }) => [path, titles[language]]));

  async function* lines(): AsyncGenerator<string> {
    yield byteOrderMark + toCsvLine([...keep(file.titles), faultTitles[language]], separator);
    for await (const rows of readFileRows(file)) {
      for (const { number, cells } of rows) {
        const answer = faults.get(number);
        if (!answer) continue;
        const guarded = file.titles.map((_, index) =>
          guardCell(columns[index], cells[index] ?? null, separator),
        );
        yield toCsvLine([...keep(guarded), sentencesOf(answer, titleOf)], separator);
      }
    }
  }
  await pipeline(lines, createWriteStream(reportName(file.name)));
}

/** A negative number stays one. Any other cell that a spreadsheet would calculate is kept a text. */
function guardCell(column: ImportColumn | undefined, cell: Cell, separator: Separator): Cell {
  if (cell === null) return null;
  const isNumber = column && isNumberCell(column.field, cell, thousandsMarkOf(separator));
  return isNumber ? cell : guardText(unguardText(cell));
}

interface ToldFault {
  field: string;
  message: string;
}

function sentencesOf(answer: LineResult['answer'], titleOf: ReadonlyMap<string, string>): string {
  const { errors, field, message } = answer as { errors?: ToldFault[]; field?: string; message?: string };
  const told = errors ?? [{ field: field ?? '', message: message ?? '' }];
  return told
    .map(({ field, message }) => `${field && `${titleOf.get(field) ?? field}: `}${message}`)
    .join(' ');
}

/** The lines as they are, with what is wrong beside type and data, where the next import ignores it. */
export async function writeLinesReport(name: string, maxLineBytes: number, faults: Faults): Promise<void> {
  async function* lines(): AsyncGenerator<string> {
    for await (const chunk of readLines(createReadStream(name), maxLineBytes)) {
      for (const { number, bytes } of chunk) {
        const answer = faults.get(number);
        if (answer && bytes) yield `${withErrors(bytes, answer)}\n`;
      }
    }
  }
  await pipeline(lines, createWriteStream(reportName(name)));
}

function withErrors(bytes: Buffer, answer: LineResult['answer']): string {
  const { line: _line, status: _status, ...told } = answer;
  try {
    const { value, exact } = parseJson(bytes);
    if (isObject(value)) return JSON.stringify({ ...(exact ?? value), errors: answer.errors ?? [told] });
  } catch {
    // What is no JSON is reported as it is.
  }
  return bytes.toString('utf8').trimEnd();
}
