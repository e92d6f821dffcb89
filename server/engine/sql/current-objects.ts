// Objects that entries of the journal name, as they are now.
import type { Definition } from '../definition/definition.ts';
import { sizesOf } from './list-query.ts';
import { selectWithinPage } from './page-size.ts';
import { representation } from './representation.ts';

export interface NamedObject {
  resource: string;
  resource_id: string;
}

export interface CurrentObject extends NamedObject {
  /** Null where the objects before it fill a page. */
  json: string | null;
}

/** Reads the objects of `named`, each once; deleted ones are absent. Undefined where there is nothing to read. */
export function buildObjectQuery(
  definitions: readonly Definition[],
  tenantId: string,
  named: readonly NamedObject[],
  form: { withExternalIds?: boolean } = {},
): { text: string; values: unknown[] } | undefined {
  const values: unknown[] = [tenantId];
  const selections = definitions.flatMap((definition) => {
    const own = named.filter(({ resource }) => resource === definition.name);
    if (own.length === 0) return [];
    values.push([...new Set(own.map(({ resource_id: id }) => id))]);
    return [selectObjects(definition, representation(definition, 'subject', form), `$${values.length}`)];
  });
  return selections.length > 0 ? { text: selections.join(' UNION ALL '), values } : undefined;
}

function selectObjects(definition: Definition, selection: string, ids: string): string {
  const json = selectWithinPage(selection, { sizes: sizesOf(definition), order: 'named.place' });
  return `(SELECT '${definition.name}' AS resource, subject.id AS resource_id, ${json} AS json
    FROM unnest(${ids}::uuid[]) WITH ORDINALITY AS named (id, place)
    JOIN ${definition.table} AS subject ON subject.tenant_id = $1 AND subject.id = named.id)`;
}
