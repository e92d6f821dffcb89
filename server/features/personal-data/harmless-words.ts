// Words in recorded calls that no caller has chosen.
import { type Definition, ownersOf } from '../../engine/definition/definition.ts';
import type { Fields } from '../../engine/definition/fields.ts';
import { searchParameters } from '../../engine/read/list-query.ts';

const parameters = [
  '',
  'Idempotency-Key',
  'after',
  'count',
  'cursor',
  'dryRun',
  'fields',
  'limit',
  'locale',
  'mode',
  'text',
];

/** Words that callers cannot have chosen: they stay when a person is erased. */
export interface HarmlessWords {
  /** Paths in field errors: "address.city". */
  fields: readonly string[];
  /** Paths in the first call that the checklist remembers. */
  paths: readonly string[];
}

export function harmlessWordsOf(resources: readonly Definition[]): HarmlessWords {
  const fields = resources.flatMap((definition) => [
    ...pathsOf(definition.fields),
    ...ownersOf(definition).map(({ externalName }) => externalName),
  ]);
  // A filter is named by the last step of a field's path.
  const filters = fields.map((path) => path.split('.').at(-1)!);
  return {
    fields: [...new Set([...fields, ...filters, ...searchParameters, ...parameters])],
    paths: resources.flatMap(({ path, collection }) => [`/api/v1${path}`, `/api/v1/${collection}`]),
  };
}

function pathsOf(fields: Fields, parent = ''): string[] {
  return Object.entries(fields).flatMap(([name, { fields: members }]) => [
    parent + name,
    ...(members ? pathsOf(members, `${parent}${name}.`) : []),
  ]);
}
