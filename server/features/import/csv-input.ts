// The rows of a CSV as lines of an import.
import { thousandsMarkOf } from '../../../core/cells.ts';
import { columnsOf, errorTitles, findDefinition, foldTitle, matchTitles } from '../../../core/columns.ts';
import type { CsvRow } from '../../../core/csv-file.ts';
import type { Definition as Description } from '../../../core/definition.ts';
import { type ChosenColumns, holdsData, toLine } from '../../../core/import-lines.ts';
import { buildRowSorter, type LeftOutRows } from '../../../core/table-rows.ts';
import type { Definition } from '../../engine/definition/definition.ts';
import { describeDefinition } from '../../engine/definition/description.ts';
import { keptTitles } from '../../engine/definition/titles.ts';
import type { Language } from '../../messages.ts';
import { CsvError, type CsvFile, inspectCsv, readFileRows } from './csv-file.ts';
import { type Line, maxChunkLines } from './lines.ts';

export interface CsvInput {
  file: CsvFile;
  definition: Description;
  columns: ChosenColumns;
  language: Language;
  /** Unknown titles, to report typing errors. */
  unknownTitles: string[];
}

/** Finds out what the file is; throws a CsvError where it cannot be known. */
export async function prepareCsv(
  name: string,
  definitions: readonly Definition[],
  wanted: Definition | undefined,
): Promise<CsvInput> {
  const file = await inspectCsv(name);
  const definition = wanted
    ? describeDefinition(wanted)
    : findDefinition(definitions.map(describeDefinition), file.titles);
  if (!definition) {
    throw new CsvError(
      `The titles of ${name} do not tell what the rows are. Say it with --type: ${definitions.map((one) => one.name).join(', ')}.`,
    );
  }
  const columns = matchTitles(definition, file.titles);
  const named = columns.map((column) => column?.path);
  const twice = named.findIndex((path, index) => path !== undefined && named.indexOf(path) < index);
  if (twice >= 0) {
    const first = file.titles[named.indexOf(named[twice])];
    throw new CsvError(`The columns "${first}" and "${file.titles[twice]}" of ${name} mean the same.`);
  }
  if (columns.every((column) => !column)) {
    const known = columnsOf(definition).map(({ titles }) => titles.de);
    throw new CsvError(
      `No column of ${name} is one of a ${definition.name}. Known are: ${known.join(', ')}.`,
    );
  }
  const unknownTitles = file.titles.filter((title, index) => !columns[index] && !isIgnoredSilently(title));
  return { file, definition, columns, language: languageOfTitles(file.titles, columns), unknownTitles };
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

export async function* readCsvLines(
  { file, definition, columns }: CsvInput,
  maxLineBytes: number,
  onBytes?: (bytes: number) => void,
  onLeftOut?: (leftOut: LeftOutRows) => void,
): AsyncGenerator<Line[]> {
  const plan = { type: definition.name, columns, mark: thousandsMarkOf(file.separator) };
  let chunk: Line[] = [];
  for await (const { number, cells } of readDataRows(file, onBytes, onLeftOut)) {
    if (!holdsData(columns, cells)) continue;
    const bytes = Buffer.from(toLine(plan, cells));
    chunk.push({ number, bytes: bytes.length > maxLineBytes ? undefined : bytes });
    if (chunk.length === maxChunkLines) {
      yield chunk;
      chunk = [];
    }
  }
  if (chunk.length > 0) yield chunk;
}

/** Leaves out the same rows as the office's import. */
async function* readDataRows(
  file: CsvFile,
  onBytes?: (bytes: number) => void,
  onLeftOut?: (leftOut: LeftOutRows) => void,
): AsyncGenerator<CsvRow> {
  const sorter = buildRowSorter([{ number: 1, cells: file.titles }]);
  for await (const rows of readFileRows(file, onBytes)) {
    for (const row of rows) {
      const data = row.number > 1 && sorter.push(row);
      if (data) yield data;
    }
  }
  yield* sorter.end();
  onLeftOut?.(sorter.leftOut);
}
