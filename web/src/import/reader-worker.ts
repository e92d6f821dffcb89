// Reads a file in a worker: a large one must not block the page.
import { type ComparedRow, comparedRow, type RowChoices } from '../../../core/table/compared-rows.ts';
import { CsvFormatError, guardText } from '../../../core/table/csv/csv.ts';
import type { CsvRow } from '../../../core/table/csv/csv-file.ts';
import { buildFactSearch, buildGuessSearch, type ColumnGuess } from '../../../core/table/file-guesses.ts';
import {
  type ChosenColumns,
  contradictionsIn,
  guessesIn,
  holdsData,
  isLeftOut,
  type LinePlan,
  toLine,
} from '../../../core/table/import-lines.ts';
import { writeReport } from '../../../core/table/report.ts';
import { type OpenTable, openTable, TableFileError } from '../../../core/table/table-file.ts';
import { buildNameSearch, dataRows } from '../../../core/table/table-import.ts';
import type { Answer, Chunk, Inspection, Part, Question } from './reader.ts';

/** Small enough that a browser can send a request before it reads the answer, as it has to. */
const chunkLines = 1000;
const chunkCharacters = 2_000_000;

let opened: OpenTable | undefined;
/** Texts that a person wrote into cells, by row and place. */
let edits = new Map<number, Map<number, string>>();
const chunks = new Map<number, AsyncGenerator<Chunk>>();

function edit({ number, cells }: CsvRow): CsvRow {
  const changes = edits.get(number);
  if (!changes) return { number, cells };
  const next = [...cells];
  for (const [index, text] of changes) next[index] = text === '' ? null : guardText(text);
  return { number, cells: Array.from(next, (cell) => cell ?? null) };
}

async function* rowsOf(part: Part = {}): AsyncGenerator<CsvRow> {
  let left = part.first ?? Number.POSITIVE_INFINITY;
  const wanted = part.numbers && new Set(part.numbers);
  for await (const row of dataRows(opened!)) {
    left -= 1;
    if (left < 0 && !part.withEdits && !wanted) return;
    if (wanted ? wanted.has(row.number) : left >= 0 || edits.has(row.number)) yield edit(row);
  }
}

async function* readChunks(plan: LinePlan, choices: RowChoices, part: Part | undefined) {
  const next = (read: number): Chunk => ({
    ...{ body: '', rows: [], leftOut: [], hinted: [], contradictions: new Map() },
    read,
  });
  let chunk = next(0);
  for await (const row of rowsOf(part)) {
    const { number, cells } = row;
    chunk.read += 1;
    const choice = choices.get(number);
    if (choice === 'skip' || !holdsData(plan.columns, cells) || isLeftOut(plan, cells)) {
      chunk.leftOut.push(number);
      continue;
    }
    chunk.body += `${toLine(plan, cells, choice)}\n`;
    chunk.rows.push(number);
    if (guessesIn(plan, cells).size > 0) chunk.hinted.push(number);
    const contradictions = contradictionsIn(plan, cells);
    if (contradictions.length > 0) chunk.contradictions.set(number, contradictions);
    if (chunk.rows.length < chunkLines && chunk.body.length < chunkCharacters) continue;
    yield chunk;
    chunk = next(chunk.read);
  }
  yield chunk;
}

async function compareRows(plan: LinePlan, part: Part | undefined): Promise<ComparedRow[]> {
  const compared: ComparedRow[] = [];
  for await (const { number, cells } of rowsOf(part)) {
    if (!holdsData(plan.columns, cells) || isLeftOut(plan, cells)) continue;
    const row = comparedRow(number, JSON.parse(toLine(plan, cells)));
    if (row) compared.push(row);
  }
  return compared;
}

/** Collects what only the whole file reveals. */
async function inspectRows(columns: ChosenColumns): Promise<Inspection> {
  const [names, facts] = [buildNameSearch(columns), buildFactSearch(columns)];
  for await (const { cells } of rowsOf()) {
    names.push(cells);
    facts.push(cells);
  }
  return { names: names.end(), facts: facts.end() };
}

async function findGuesses(plan: LinePlan): Promise<ColumnGuess[]> {
  const guesses = buildGuessSearch(plan);
  for await (const { cells } of rowsOf())
    if (holdsData(plan.columns, cells) && !isLeftOut(plan, cells)) guesses.push(cells);
  return guesses.end();
}

async function collect<T>(rows: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const row of rows) all.push(row);
  return all;
}

async function open(next: Promise<OpenTable>) {
  opened = await next;
  edits = new Map();
  return opened.table;
}

let lastReading = 0;

async function answer(question: Question): Promise<unknown> {
  switch (question.kind) {
    case 'open':
      return open(openTable(question.file, question));
    case 'sheet':
      return open(opened!.chooseSheet!(question.name));
    case 'titleRow': {
      // The sheets stay open for another choice.
      const { chooseSheet, chooseTitleRow } = opened!;
      return open(
        chooseTitleRow(question.row).then((next) => ({ ...next, ...(chooseSheet && { chooseSheet }) })),
      );
    }
    case 'rows':
      return collect(rowsOf(question.part));
    case 'edit':
      edits.set(question.row, new Map(edits.get(question.row)).set(question.index, question.text));
      return undefined;
    case 'inspect':
      return inspectRows(question.columns);
    case 'guesses':
      return findGuesses(question.plan);
    case 'compare':
      return compareRows(question.plan, question.part);
    case 'start':
      lastReading += 1;
      chunks.set(lastReading, readChunks(question.plan, question.choices, question.part));
      return lastReading;
    case 'next': {
      const { value, done } = await chunks.get(question.reading)!.next();
      if (done) chunks.delete(question.reading);
      return done ? undefined : value;
    }
    case 'report': {
      const { plan, sentences, language } = question;
      const rows = await collect(rowsOf({ numbers: [...sentences.keys()] }));
      return writeReport({ plan, titles: opened!.table.titles, rows, sentences, language });
    }
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
