// Words in recorded calls that no caller has chosen.
import { type Definition, ownersOf } from '../../crud/definition.ts';
import type { Fields } from '../../crud/fields.ts';
import { searchParameters } from '../../crud/reads.ts';
import type { HarmlessWords } from '../../journal/recorded-requests.ts';

const parameters = [
  '',
  'Idempotency-Key',
  'after',
  'count',
  'cursor',
  'dryRun',
  'limit',
  'locale',
  'mode',
  'text',
];

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
