// The rows of a table as lines of an import, read as the office's import reads them.
import { openAsBlob } from 'node:fs';
import { type Definition as Description, leavesOf } from '../../../../core/definition/definition.ts';
import type { CellRules } from '../../../../core/table/cell-guesses.ts';
import { toFieldValue } from '../../../../core/table/cells.ts';
import {
  allTitles,
  columnsOf,
  errorTitles,
  findDefinition,
  findGuessedDefinition,
  foldTitle,
  guessColumns,
  type ImportColumn,
  idColumn,
  matchTitles,
  versionColumn,
} from '../../../../core/table/columns.ts';
import { buildFactSearch, buildGuessSearch, type ColumnGuess } from '../../../../core/table/file-guesses.ts';
import {
  type ChosenColumns,
  holdsData,
  type KnownNames,
  type LinePlan,
  toLine,
} from '../../../../core/table/import-lines.ts';
import { type FileChoices, restoreChoices } from '../../../../core/table/remembered-choices.ts';
import { type OpenTable, openCsv, openTable, TableFileError } from '../../../../core/table/table-file.ts';
import {
  buildNameSearch,
  dataRows,
  type NamedCell,
  planLines,
  takenPaths,
} from '../../../../core/table/table-import.ts';
import type { Definition } from '../../../engine/definition/definition.ts';
import { describeDefinition } from '../../../engine/definition/description.ts';
import { keptTitles } from '../../../engine/definition/titles.ts';
import type { Language } from '../../../messages.ts';
import { type Line, maxChunkLines } from '../lines.ts';
import { CsvError, inspectCsv, readFileRows } from './csv-file.ts';

export interface CsvInput {
  name: string;
  opened: OpenTable;
  definition: Description;
  columns: ChosenColumns;
  language: Language;
  /** Unknown titles, to report typing errors. */
  unknownTitles: string[];
  /** What the business chose for files with these titles. */
  remembered: FileChoices | undefined;
  /** Learns how much of the file has been read. */
  onBytes?: (bytes: number) => void;
}

/** Finds out what the file is; throws a CsvError where it cannot be known. `recall` returns the choices for its titles. */
export async function prepareCsv(
  name: string,
  definitions: readonly Definition[],
  wanted: Definition | undefined,
  recall?: (titles: readonly string[]) => Promise<string | null | undefined>,
): Promise<CsvInput> {
  const described = definitions.map(describeDefinition);
  let input: CsvInput | undefined;
  const opened = await openFile(name, described, (bytes) => input?.onBytes?.(bytes));
  const { titles } = opened.table;
  const candidates = described.filter((one) => !wanted || one.name === wanted.name);
  const remembered = restoreChoices(candidates, titles, await recall?.(titles));
  const definition =
    remembered?.definition ??
    (wanted
      ? describeDefinition(wanted)
      : (findDefinition(described, titles) ?? findGuessedDefinition(described, titles)));
  if (!definition) {
    throw new CsvError(
      `The titles of ${name} do not tell what the rows are. Say it with --type: ${definitions.map((one) => one.name).join(', ')}.`,
    );
  }
  const columns = remembered?.columns.map(withoutOwn) ?? chooseColumns(name, definition, titles);
  const unknownTitles = titles.filter((title, index) => !columns[index] && !isIgnoredSilently(title));
  const language = languageOfTitles(titles, columns);
  input = { name, opened, definition, columns, language, unknownTitles, remembered };
  return input;
}

async function openFile(
  name: string,
  definitions: readonly Description[],
  onBytes: (bytes: number) => void,
): Promise<OpenTable> {
  const knownTitles = allTitles(definitions);
  try {
    if (/\.xlsx$/i.test(name)) return await openTable(await openAsBlob(name), { knownTitles });
    const file = await inspectCsv(name);
    return await openCsv(() => readFileRows(file, onBytes), file, { knownTitles });
  } catch (error) {
    if (!(error instanceof TableFileError)) throw error;
    const isEmpty = error.code === 'empty';
    throw new CsvError(isEmpty ? `${name} is empty.` : `${name} cannot be read: ${error.code}.`);
  }
}

function chooseColumns(name: string, definition: Description, titles: readonly string[]): ChosenColumns {
  const named = matchTitles(definition, titles).map((column) => column?.path);
  const twice = named.findIndex((path, index) => path !== undefined && named.indexOf(path) < index);
  if (twice >= 0) {
    const first = titles[named.indexOf(named[twice])];
    throw new CsvError(`The columns "${first}" and "${titles[twice]}" of ${name} mean the same.`);
  }
  const columns = guessColumns(definition, titles).map(withoutOwn);
  if (columns.every((column) => !column)) {
    const known = columnsOf(definition).map(({ titles }) => titles.de);
    throw new CsvError(
      `No column of ${name} is one of a ${definition.name}. Known are: ${known.join(', ')}.`,
    );
  }
  return columns;
}

/** An object is found by its external id here: another database has other ids. */
function withoutOwn(column: ImportColumn | undefined): ImportColumn | undefined {
  return column?.path === idColumn.path || column?.path === versionColumn.path ? undefined : column;
}

/** Columns that the service or an error report adds are no data and need no warning. */
function isIgnoredSilently(title: string): boolean {
  const ignored = Object.entries(keptTitles).flatMap(([name, { de, en }]) => [name, de, en]);
  const folded = foldTitle(title);
  return [...ignored, ...Object.values(errorTitles), ''].some((known) => foldTitle(known) === folded);
}

/** The language that most of the titles are in. */
function languageOfTitles(titles: readonly string[], columns: ChosenColumns): Language {
  const count = (language: Language) =>
    columns.filter(
      (column, index) => column && foldTitle(column.titles[language]) === foldTitle(titles[index]!),
    ).length;
  return count('de') >= count('en') ? 'de' : 'en';
}

interface FileFindings {
  /** Names of objects. */
  names: NamedCell[];
  /** Words that are no known choice. */
  words: NamedCell[];
  facts: CellRules['facts'];
}

/** Finds what only the whole file shows. */
export async function inspectRows({ opened, columns }: CsvInput): Promise<FileFindings> {
  const [names, facts] = [buildNameSearch(columns), buildFactSearch(columns)];
  for await (const { cells } of dataRows(opened)) {
    names.push(cells);
    facts.push(cells);
  }
  const { named = [], word = [] } = Object.groupBy(names.end(), ({ column }) =>
    column.namedPath === undefined ? 'word' : 'named',
  );
  return { names: named, words: word, facts: facts.end() };
}

export function planCsv(input: CsvInput, facts: CellRules['facts'], names: KnownNames): LinePlan {
  const { definition, columns, opened, language, remembered } = input;
  const isExport = opened.table.titles.some((title) => foldTitle(title) === 'id');
  const { refused } = remembered ?? {};
  const understood = { definition, columns, table: opened.table, facts, language, names, isExport };
  return planLines({ ...understood, fixed: fixedValues(input), ...(refused && { refused }) });
}

/** Numbers and dates were entered as people write them. */
function fixedValues({ definition, columns, remembered }: CsvInput): Record<string, unknown> {
  const entered = remembered?.fixed ?? {};
  const taken = takenPaths(columns);
  const fields = leavesOf(definition.fields).filter(({ path }) => path in entered && !taken.has(path));
  return Object.fromEntries(
    fields.map((field) => {
      const value = entered[field.path];
      return [field.path, typeof value === 'string' ? toFieldValue(field, value, undefined) : value];
    }),
  );
}

export async function* readCsvLines(
  { opened, columns }: CsvInput,
  plan: LinePlan,
  maxLineBytes: number,
  onGuesses?: (guesses: ColumnGuess[]) => void,
): AsyncGenerator<Line[]> {
  const guesses = buildGuessSearch(plan);
  let chunk: Line[] = [];
  for await (const { number, cells } of dataRows(opened)) {
    if (!holdsData(columns, cells)) continue;
    guesses.push(cells);
    const bytes = Buffer.from(toLine(plan, cells));
    chunk.push({ number, bytes: bytes.length > maxLineBytes ? undefined : bytes });
    if (chunk.length === maxChunkLines) {
      yield chunk;
      chunk = [];
    }
  }
  if (chunk.length > 0) yield chunk;
  onGuesses?.(guesses.end());
}
