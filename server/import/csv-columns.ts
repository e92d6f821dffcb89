// Which field a column of a CSV fills, by its title: German or English, the published name, or its whole path.
import { columnsOf, type Definition, ownersOf } from '../crud/definition.ts';
import { type Field, text } from '../crud/fields.ts';
import { keptTitles, titlesOf } from '../crud/titles.ts';
import type { Language } from '../messages.ts';

export interface CsvColumn {
  path: readonly string[];
  field: Field;
  titles: Record<Language, string>;
}

/** The last column of a report: what is wrong with the row. The next import ignores it. */
export const faultTitles: Record<Language, string> = { en: 'Error', de: 'Fehler' };

const externalId = text({ de: '', description: '' });

/** All columns of a resource; what names an owner by its external id stands beside what names it by its id. */
export function csvColumnsOf(definition: Definition): CsvColumn[] {
  const german = titlesOf(definition, 'de');
  const english = titlesOf(definition, 'en');
  const owners = ownersOf(definition);
  return columnsOf(definition.fields).flatMap(({ path, field }) => {
    const name = path.join('.');
    // In German the title of a reference names the thing itself, and here an id is wanted.
    const titles = { de: `${german.get(name)}${field.reference ? ' Id' : ''}`, en: english.get(name)! };
    const owner = owners.find(({ column }) => column.path.join('.') === name);
    return [
      { path, field, titles },
      ...(owner
        ? [
            {
              path: [owner.externalName],
              field: externalId,
              titles: { de: `${german.get(name)} externe Id`, en: titles.en.replace(/ id$/, ' external id') },
            },
          ]
        : []),
    ];
  });
}

const umlauts: Record<string, string> = { ä: 'ae', ö: 'oe', ü: 'ue', ß: 'ss' };

/** "Address city", "address.city" and "ADRESSE_ORT" are compared without case and without what separates words. */
function fold(title: string): string {
  return title
    .normalize('NFC')
    .toLowerCase()
    .replace(/[äöüß]/g, (letter) => umlauts[letter]!)
    .replace(/[^\p{L}\p{N}]/gu, '');
}

/** The column of each title; titles that mean nothing here have none. */
export function matchTitles(definition: Definition, titles: readonly string[]): (CsvColumn | undefined)[] {
  const columns = csvColumnsOf(definition);
  const known = new Map<string, CsvColumn>();
  for (const column of columns) {
    const { path, field, titles } = column;
    // An export calls a reference by its plain title.
    const forms = [path.join('.'), titles.de, titles.en, ...(field.reference ? [field.de] : [])];
    for (const form of forms.map(fold)) if (!known.has(form)) known.set(form, column);
  }
  for (const column of columns.filter(({ path }) => path.length > 1)) {
    // A member goes by its own name too, where nothing else does.
    const { path, field } = column;
    for (const form of [path.at(-1)!, field.de].map(fold)) if (!known.has(form)) known.set(form, column);
  }
  return titles.map((title) => known.get(fold(title)));
}

/** What the service keeps itself and what a report says are no data, and nobody needs to be told. */
export function isIgnoredSilently(title: string): boolean {
  const ignored = [...Object.entries(keptTitles).flatMap(([name, { de, en }]) => [name, de, en])];
  return [...ignored, ...Object.values(faultTitles), ''].some((known) => fold(known) === fold(title));
}

/** The resource that most titles belong to and whose required columns are all there; undefined if several are. */
export function guessResource(
  definitions: readonly Definition[],
  titles: readonly string[],
): Definition | undefined {
  const candidates = definitions
    .map((definition) => ({ definition, matched: matchTitles(definition, titles).filter(Boolean) }))
    .filter(({ definition, matched }) => hasRequiredColumns(definition, matched as CsvColumn[]))
    .sort((one, other) => other.matched.length - one.matched.length);
  const [best, second] = candidates;
  return best && best.matched.length > (second?.matched.length ?? 0) ? best.definition : undefined;
}

function hasRequiredColumns(definition: Definition, matched: readonly CsvColumn[]): boolean {
  const names = new Set(matched.map(({ path }) => path.join('.')));
  const owners = new Map(ownersOf(definition).map(({ column, externalName }) => [column.name, externalName]));
  return (
    columnsOf(definition.fields)
      // What belongs to an optional group is required only within it.
      .filter(({ path, field }) => field.isRequired && definition.fields[path[0]!]!.isRequired)
      .every(({ name, path }) => names.has(path.join('.')) || names.has(owners.get(name) ?? '')) &&
    definition.requiredOneOf.every((alternatives) => alternatives.some((name) => names.has(name)))
  );
}

/** The language that most of the titles are in. */
export function languageOfTitles(
  titles: readonly string[],
  columns: readonly (CsvColumn | undefined)[],
): Language {
  const count = (language: Language) =>
    columns.filter((column, index) => column && fold(column.titles[language]) === fold(titles[index]!))
      .length;
  return count('de') >= count('en') ? 'de' : 'en';
}
