// Objects that entries of the journal name, as they are now.
import type { Definition } from '../definition/definition.ts';
import type { ObjectForm } from './object-form.ts';
import { selectWithinPage } from './page-size.ts';
import { selectObjects } from './representation.ts';

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
  forms: ReadonlyMap<string, ObjectForm> = new Map(),
): { text: string; values: unknown[] } | undefined {
  const values: unknown[] = [tenantId];
  const selections = definitions.flatMap((definition) => {
    const own = named.filter(({ resource }) => resource === definition.name);
    if (own.length === 0) return [];
    values.push([...new Set(own.map(({ resource_id: id }) => id))]);
    return [selectNamed(definition, forms.get(definition.name), `$${values.length}`)];
  });
  return selections.length > 0 ? { text: selections.join(' UNION ALL '), values } : undefined;
}

function selectNamed(definition: Definition, form: ObjectForm | undefined, ids: string): string {
  const selection = selectObjects(definition, 'subject', form);
  const json = selectWithinPage(selection.json, { sizes: selection.sizes, order: 'named.place' });
  return `(SELECT '${definition.name}' AS resource, subject.id AS resource_id, ${json} AS json
    FROM unnest(${ids}::uuid[]) WITH ORDINALITY AS named (id, place)
    JOIN ${definition.table} AS subject ON subject.tenant_id = $1 AND subject.id = named.id ${selection.joins})`;
}
