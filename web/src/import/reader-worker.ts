// Reads a file beside the page, so that a large one does not hold it up.
import { isNumberCell, type ThousandsMark } from '../../../core/cells.ts';
import { errorTitles } from '../../../core/columns.ts';
import { byteOrderMark, CsvFormatError, guardText, toCsvLine, unguardText } from '../../../core/csv.ts';
import type { CsvRow } from '../../../core/csv-file.ts';
import { type ChosenColumns, holdsData, type KnownNames, toLine } from '../../../core/import-lines.ts';
import type { Answer, Chunk, Question } from './reader.ts';
import { isFilled, type OpenTable, openTable, TableFileError } from './table-file.ts';

/** Small enough that a browser can send a request before it reads the answer, as it has to. */
const chunkLines = 1000;
const chunkCharacters = 2_000_000;

let opened: OpenTable | undefined;
let chunks: AsyncGenerator<Chunk> | undefined;

async function* readChunks(type: string, columns: ChosenColumns, names: KnownNames): AsyncGenerator<Chunk> {
  const { table, readRows } = opened!;
  let body = '';
  let rows: number[] = [];
  let read = 0;
  for await (const some of readRows()) {
    for (const row of some) {
      if (row.number <= table.titleRow || !isFilled(row)) continue;
      read += 1;
      if (!holdsData(columns, row.cells)) continue;
      body += `${toLine(type, columns, row.cells, table.thousandsMark, names)}\n`;
      rows.push(row.number);
      if (rows.length < chunkLines && body.length < chunkCharacters) continue;
      yield { body, rows, read };
      body = '';
      rows = [];
    }
  }
  yield { body, rows, read };
}

const maxNameLength = 200;

async function findNames(columns: ChosenColumns): Promise<Map<string, string[]>> {
  const found = new Map<string, Set<string>>();
  for await (const rows of opened!.readRows()) {
    for (const { number, cells } of rows) {
      if (number <= opened!.table.titleRow) continue;
      columns.forEach((column, index) => {
        const name = unguardText(cells[index] ?? '').trim();
        if (!column?.namedPath || name === '' || name.length > maxNameLength) return;
        const names = found.get(column.path) ?? new Set();
        found.set(column.path, names.add(name));
      });
    }
  }
  return new Map([...found].map(([path, names]) => [path, [...names]]));
}

/** The rejected rows with their own columns and separator, and their errors in a last column. */
async function writeReport(
  columns: ChosenColumns,
  sentences: ReadonlyMap<number, string>,
  errorTitle: string,
): Promise<Blob> {
  const { table, readRows } = opened!;
  const { separator, titles, thousandsMark } = table;
  // The report of a report has one column of errors, not two.
  const kept = titles.map((title) => !Object.values(errorTitles).includes(title));
  const parts = [
    byteOrderMark + toCsvLine([...titles.filter((_, index) => kept[index]), errorTitle], separator),
  ];
  for await (const rows of readRows()) {
    for (const row of rows) {
      const sentence = sentences.get(row.number);
      if (sentence === undefined) continue;
      const cells = titles.map((_, index) => guardCell(columns, index, row, thousandsMark));
      parts.push(toCsvLine([...cells.filter((_, index) => kept[index]), sentence], separator));
    }
  }
  return new Blob(parts, { type: 'text/csv;charset=utf-8' });
}

/** A negative number stays one. Any other cell that a spreadsheet would calculate is kept a text. */
function guardCell(
  columns: ChosenColumns,
  index: number,
  { cells }: CsvRow,
  mark: ThousandsMark | undefined,
) {
  const cell = cells[index] ?? null;
  const field = columns[index]?.field;
  if (cell === null || (field && isNumberCell(field, cell, mark))) return cell;
  return guardText(unguardText(cell));
}

async function answer(question: Question): Promise<unknown> {
  switch (question.kind) {
    case 'open':
      opened = await openTable(question.file, question.pastedMark);
      return opened.table;
    case 'sheet':
      opened = await opened!.chooseSheet!(question.name);
      return opened.table;
    case 'names':
      return findNames(question.columns);
    case 'start':
      chunks = readChunks(question.type, question.columns, question.names);
      return undefined;
    case 'next': {
      const { value, done } = await chunks!.next();
      return done ? undefined : value;
    }
    case 'report':
      return writeReport(question.columns, question.sentences, question.errorTitle);
  }
}

self.onmessage = async ({ data: { id, question } }: MessageEvent<{ id: number; question: Question }>) => {
  let reply: Answer;
  try {
    reply = { id, value: await answer(question) };
  } catch (error) {
    const isKnown = error instanceof TableFileError || error instanceof CsvFormatError;
    reply = { id, code: isKnown ? error.code : 'unreadable' };
  }
  self.postMessage(reply);
};
