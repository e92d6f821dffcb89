// What columns are called by people: the titles of exports, import templates and forms.
import type { Language } from '../messages.ts';
import type { Definition } from './definition.ts';
import type { Fields } from './fields.ts';

/** What the service itself keeps of every object. An import ignores these columns. */
export const keptTitles: Readonly<Record<string, Record<Language, string>>> = {
  id: { en: 'Id', de: 'Id' },
  version: { en: 'Version', de: 'Version' },
  createdAt: { en: 'Created at', de: 'Angelegt am' },
  updatedAt: { en: 'Updated at', de: 'Geändert am' },
};

/** The titles by path ("address.city"), in the order of the definition: the id first, what else is kept last. */
export function titlesOf(definition: Definition, language: Language): Map<string, string> {
  const { id, ...rest } = keptTitles;
  return new Map([
    ['id', id![language]],
    ...fieldTitles(definition.fields, language, [], []),
    ...Object.entries(rest).map(([name, titles]): [string, string] => [name, titles[language]]),
  ]);
}

function fieldTitles(
  fields: Fields,
  language: Language,
  parents: readonly string[],
  parentTitles: readonly string[],
): [path: string, title: string][] {
  return Object.entries(fields).flatMap(([name, { de, fields: members }]): [string, string][] => {
    const path = [...parents, name];
    if (language === 'en')
      return members ? fieldTitles(members, language, path, []) : [[path.join('.'), englishTitle(path)]];
    const titles = [...parentTitles, de];
    return members ? fieldTitles(members, language, path, titles) : [[path.join('.'), titles.join(' ')]];
  });
}

const abbreviations = new Set(['gtin', 'vat']);

/** address.zipCode is "Address zip code". */
export function englishTitle(path: readonly string[]): string {
  const words = path.flatMap((step) =>
    step.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`).split(' '),
  );
  const written = words.map((word) => (abbreviations.has(word) ? word.toUpperCase() : word)).join(' ');
  return written[0]!.toUpperCase() + written.slice(1);
}
