// Former ids and external ids: names of objects that were merged into others. (Decision 67.)
import type pg from 'pg';
import { type Definition, type Reference, referencesOf, tableOf } from '../definition/definition.ts';
import { isUuid } from '../definition/formats.ts';
import type { Row } from '../definition/validation.ts';

/** An SQL expression: the id that answers for this one now. */
export function currentId(id: string, tenantId = 'sent.tenant_id'): string {
  return `coalesce((SELECT former.id FROM former_id AS former
    WHERE former.tenant_id = ${tenantId} AND former.former_id = ${id}), ${id})`;
}

/** An SQL query: the existing object that answers for a former name. */
export function formerHolder(
  resource: string,
  column: 'id' | 'external_id',
  name: string,
  tenantId: string,
): string {
  const isNamed =
    column === 'id'
      ? `former.former_id = ${name}`
      : `former.resource = '${resource}' AND former.external_id = ${name}`;
  return `SELECT holder.id FROM ${column === 'id' ? 'former_id' : 'former_external_id'} AS former
    JOIN ${tableOf(resource)} AS holder ON holder.tenant_id = former.tenant_id AND holder.id = former.id
    WHERE former.tenant_id = ${tenantId} AND ${isNamed}`;
}

/** The current ids of those names that are former ones. The object may be gone. */
export async function findCurrentIds(
  client: pg.ClientBase,
  tenantId: string,
  resource: string,
  column: 'id' | 'external_id',
  names: readonly string[],
): Promise<Map<string, string>> {
  if (names.length === 0) return new Map();
  const { rows } = await client.query<{ name: string; id: string }>(
    column === 'id'
      ? 'SELECT former_id AS name, id FROM former_id WHERE tenant_id = $1 AND former_id = ANY ($2)'
      : `SELECT external_id AS name, id FROM former_external_id
         WHERE tenant_id = $1 AND resource = '${resource}' AND external_id = ANY ($2)`,
    [tenantId, names],
  );
  return new Map(rows.map(({ name, id }) => [name, id]));
}

/** Puts current ids in place of former ones that rows of any tenants refer to. */
export function buildRedirection(definition: Definition) {
  const columns = referencesOf(definition).map(({ column }: Reference) => column.name);

  return async function redirectReferences(client: pg.ClientBase, rows: readonly Row[]): Promise<void> {
    // An invalid row is looked up too, to report its missing owners with its other errors.
    const named = rows.flatMap((row) =>
      columns
        .filter((name) => typeof row[name] === 'string' && isUuid(row[name]))
        .map((name) => ({ row, name })),
    );
    if (named.length === 0) return;
    const { rows: found } = await client.query<{ place: string; id: string }>(
      `SELECT sought.place, current.id
       FROM unnest($1::uuid[], $2::uuid[]) WITH ORDINALITY AS sought (tenant_id, name, place),
         LATERAL (SELECT former.id FROM former_id AS former
           WHERE former.tenant_id = sought.tenant_id AND former.former_id = sought.name LIMIT 1) AS current`,
      [named.map(({ row }) => row.tenant_id), named.map(({ row, name }) => row[name])],
    );
    for (const { place, id } of found) {
      const { row, name } = named[Number(place) - 1]!;
      row[name] = id;
    }
  };
}
