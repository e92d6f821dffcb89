// Reads a file in a worker: a large one must not block the page.
import { isNumberCell, type ThousandsMark } from '../../../core/cells.ts';
import { errorTitles } from '../../../core/columns.ts';
import { type ComparedRow, comparedRow, type RowChoices } from '../../../core/compared-rows.ts';
import { byteOrderMark, CsvFormatError, guardText, toCsvLine, unguardText } from '../../../core/csv.ts';
import type { CsvRow } from '../../../core/csv-file.ts';
import {
  type ChosenColumns,
  holdsData,
  isLeftOut,
  type LinePlan,
  toLine,
} from '../../../core/import-lines.ts';
import { foldName, isNameless } from '../../../core/names.ts';
import { isFilled } from '../../../core/table-rows.ts';
import type { Answer, Chunk, Question } from './reader.ts';
import { type OpenTable, openTable, TableFileError } from './table-file.ts';

/** Small enough that a browser can send a request before it reads the answer, as it has to. */
const chunkLines = 1000;
const chunkCharacters = 2_000_000;

let opened: OpenTable | undefined;
let chunks: AsyncGenerator<Chunk> | undefined;

async function* readChunks(plan: LinePlan, choices: RowChoices): AsyncGenerator<Chunk> {
  let body = '';
  let rows: number[] = [];
  let read = 0;
  for await (const row of filledRows()) {
    read += 1;
    const choice = choices.get(row.number);
    if (choice === 'skip' || !holdsData(plan.columns, row.cells) || isLeftOut(plan, row.cells)) continue;
    body += `${toLine(plan, row.cells, choice)}\n`;
    rows.push(row.number);
    if (rows.length < chunkLines && body.length < chunkCharacters) continue;
    yield { body, rows, read };
    body = '';
    rows = [];
  }
  yield { body, rows, read };
}

async function* filledRows(): AsyncGenerator<CsvRow> {
  const { table, readRows } = opened!;
  const { end, repeatedHead } = table.leftOut;
  const leftOut = new Set([...end.map(({ number }) => number), ...repeatedHead]);
  for await (const some of readRows()) {
    for (const row of some)
      if (row.number > table.titleRow && !leftOut.has(row.number) && isFilled(row)) yield row;
  }
}

async function compareRows(plan: LinePlan): Promise<ComparedRow[]> {
  const compared: ComparedRow[] = [];
  for await (const { number, cells } of filledRows()) {
    if (!holdsData(plan.columns, cells) || isLeftOut(plan, cells)) continue;
    const row = comparedRow(number, JSON.parse(toLine(plan, cells)));
    if (row) compared.push(row);
  }
  return compared;
}

const maxNameLength = 200;

/** Spellings of one name count as one. */
async function findNames(columns: ChosenColumns): Promise<Map<string, Map<string, number>>> {
  const found = new Map<string, Map<string, { name: string; rows: number }>>();
  for await (const { cells } of filledRows()) {
    columns.forEach((column, index) => {
      const name = unguardText(cells[index] ?? '').trim();
      if (!column?.namedPath || name === '' || isNameless(name) || name.length > maxNameLength) return;
      const names = found.get(column.path) ?? new Map();
      found.set(column.path, names);
      const known = names.get(foldName(name)) ?? { name, rows: 0 };
      names.set(foldName(name), known);
      known.rows += 1;
    });
  }
  return new Map(
    [...found].map(([path, names]) => [
      path,
      new Map([...names.values()].map(({ name, rows }) => [name, rows])),
    ]),
  );
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
      opened = await openTable(question.file, question);
      return opened.table;
    case 'sheet':
      opened = await opened!.chooseSheet!(question.name);
      return opened.table;
    case 'titleRow':
      // The sheets stay open for another choice.
      opened = { ...opened!, ...(await opened!.chooseTitleRow(question.row)) };
      return opened.table;
    case 'names':
      return findNames(question.columns);
    case 'compare':
      return compareRows(question.plan);
    case 'start':
      chunks = readChunks(question.plan, question.choices);
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
