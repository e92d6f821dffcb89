// Choices that a business keeps for its next imports, for the web app and the command line.
import type { Definition } from '../definition/definition.ts';
import { errorTitles, foldTitle, officeColumnsOf } from './columns.ts';
import { type ChosenColumns, nameKey } from './import-lines.ts';
import type { NamedCell } from './table-import.ts';

const maxKeyLength = 20_000;

export function keyOfWord(type: string, { column, name }: NamedCell): string {
  return `word ${type} ${nameKey(column.path, name)}`;
}

const ownTitles = new Set(Object.values(errorTitles));

/** A report on a file has its titles and one more. Undefined for titles that no memory can hold. */
export function keyOfTitles(titles: readonly string[]): string | undefined {
  const folded = titles.filter((title) => !ownTitles.has(title)).map(foldTitle);
  const key = `file ${JSON.stringify(folded)}`;
  return folded.some(Boolean) && key.length <= maxKeyLength ? key : undefined;
}

/** Choices for files with the same titles. */
export interface FileChoices {
  definition: Definition;
  columns: ChosenColumns;
  /** Values as entered in inputs, by the paths of fields that no column brings. */
  fixed: Readonly<Record<string, unknown>>;
  refused: ReadonlySet<string>;
}

interface StoredChoices {
  type: string;
  /** Paths in the order of the titles, without the error column. */
  paths: (string | null)[];
  fixed: Record<string, unknown>;
  refused: string[];
}

export function storeChoices(titles: readonly string[], choices: FileChoices): string {
  const stored: StoredChoices = {
    type: choices.definition.name,
    paths: titles.flatMap((title, index) =>
      ownTitles.has(title) ? [] : [choices.columns[index]?.path ?? null],
    ),
    fixed: choices.fixed,
    refused: [...choices.refused],
  };
  return JSON.stringify(stored);
}

export function restoreChoices(
  definitions: readonly Definition[],
  titles: readonly string[],
  choice: string | null | undefined,
): FileChoices | undefined {
  const stored: StoredChoices | undefined = choice ? JSON.parse(choice) : undefined;
  const definition = definitions.find(({ name }) => name === stored?.type);
  if (!stored || !definition) return undefined;
  const known = officeColumnsOf(definition);
  const paths = [...stored.paths];
  const columns = titles.map((title) => {
    const path = ownTitles.has(title) ? null : paths.shift();
    return known.find((column) => column.path === path);
  });
  return { definition, columns, fixed: stored.fixed, refused: new Set(stored.refused) };
}
