// The rows of a CSV as lines of an import.
import type { Definition } from '../crud/definition.ts';
import type { Language } from '../messages.ts';
import { type Cell, thousandsMarkOf, toFieldValue } from './csv-cells.ts';
import {
  type CsvColumn,
  csvColumnsOf,
  guessResource,
  isIgnoredSilently,
  languageOfTitles,
  matchTitles,
} from './csv-columns.ts';
import { CsvError, type CsvFile, inspectCsv, readRows } from './csv-file.ts';
import { type Line, maxChunkLines } from './lines.ts';

export interface CsvInput {
  file: CsvFile;
  definition: Definition;
  /** One for each title; undefined where the column is ignored. */
  columns: (CsvColumn | undefined)[];
  language: Language;
  /** Titles that mean nothing here, for whoever mistyped them. */
  unknownTitles: string[];
}

/** Finds out what the file is; throws a CsvError where it cannot be known. */
export async function prepareCsv(
  name: string,
  definitions: readonly Definition[],
  wanted: Definition | undefined,
): Promise<CsvInput> {
  const file = await inspectCsv(name);
  const definition = wanted ?? guessResource(definitions, file.titles);
  if (!definition) {
    throw new CsvError(
      `The titles of ${name} do not tell what the rows are. Say it with --type: ${definitions.map((one) => one.name).join(', ')}.`,
    );
  }
  const columns = matchTitles(definition, file.titles);
  const named = columns.map((column) => column?.path.join('.'));
  const twice = named.findIndex((path, index) => path !== undefined && named.indexOf(path) < index);
  if (twice >= 0) {
    const first = file.titles[named.indexOf(named[twice])];
    throw new CsvError(`The columns "${first}" and "${file.titles[twice]}" of ${name} mean the same.`);
  }
  if (columns.every((column) => !column)) {
    const known = csvColumnsOf(definition).map(({ titles }) => titles.de);
    throw new CsvError(
      `No column of ${name} is one of a ${definition.name}. Known are: ${known.join(', ')}.`,
    );
  }
  const unknownTitles = file.titles.filter((title, index) => !columns[index] && !isIgnoredSilently(title));
  return { file, definition, columns, language: languageOfTitles(file.titles, columns), unknownTitles };
}

/** Rows that hold nothing are left out, as spreadsheets have them at their end. */
export async function* readCsvLines(
  { file, definition, columns }: CsvInput,
  maxLineBytes: number,
  onBytes?: (bytes: number) => void,
): AsyncGenerator<Line[]> {
  const thousandsMark = thousandsMarkOf(file.separator);

  function toData(cells: readonly Cell[]): object {
    const data: Record<string, unknown> = {};
    columns.forEach((column, index) => {
      if (!column) return;
      const value = toFieldValue(column.field, cells[index] ?? null, thousandsMark);
      if (value !== undefined) putAt(data, column.path, value);
    });
    return data;
  }

  let chunk: Line[] = [];
  for await (const { number, cells } of readRows(file, onBytes)) {
    const isEmpty = columns.every((column, index) => !column || !(cells[index] ?? '').trim());
    if (number === 1 || isEmpty) continue;
    const bytes = Buffer.from(JSON.stringify({ type: definition.name, data: toData(cells) }));
    chunk.push({ number, bytes: bytes.length > maxLineBytes ? undefined : bytes });
    if (chunk.length === maxChunkLines) {
      yield chunk;
      chunk = [];
    }
  }
  if (chunk.length > 0) yield chunk;
}

function putAt(target: Record<string, unknown>, path: readonly string[], value: unknown): void {
  const [name, ...rest] = path;
  if (rest.length === 0) target[name!] = value;
  else {
    target[name!] ??= {};
    putAt(target[name!] as Record<string, unknown>, rest, value);
  }
}
