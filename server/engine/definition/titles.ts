// Column titles of exports, import templates and forms.

import type { Titles } from '../../../core/definition/definition.ts';
import { externalTitles, titledLeaves } from '../../../core/table/columns.ts';
import type { Language } from '../../messages.ts';
import { type Definition, ownersOf } from './definition.ts';
import { describeFields } from './description.ts';

/** Columns that the service fills. An import ignores them. */
export const keptTitles: Readonly<Record<string, Titles>> = {
  id: { en: 'Id', de: 'ID' },
  version: { en: 'Version', de: 'Version' },
  createdAt: { en: 'Created at', de: 'Angelegt am' },
  updatedAt: { en: 'Updated at', de: 'Geändert am' },
};

/** The titles by path ("address.city"), in the order of the definition: the id first, other kept columns last. */
export function titlesOf(
  definition: Definition,
  language: Language,
  { withExternalIds = false }: { withExternalIds?: boolean } = {},
): Map<string, string> {
  const { id, ...rest } = keptTitles;
  const leaves = titledLeaves(describeFields(definition.fields));
  const owners = withExternalIds ? ownersOf(definition) : [];
  return new Map([
    ['id', id![language]],
    ...leaves.map(({ path, titles }) => [path, titles[language]] as const),
    ...owners.map(({ externalName, column }) => {
      const { titles } = leaves.find(({ path }) => path === column.path.join('.'))!;
      return [externalName, externalTitles(titles)[language]] as const;
    }),
    ...Object.entries(rest).map(([name, titles]) => [name, titles[language]] as const),
  ]);
}
