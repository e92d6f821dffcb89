// Former ids and external ids: names of objects that were merged into others. (Decision 67.)
import type pg from 'pg';
import { tableOf } from '../definition/definition.ts';

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

/** An SQL expression: the id of the tenant's object that has this external id, or had it before a merge. */
export function findByExternalId(resource: string, externalId: string, tenantId: string): string {
  const table = tableOf(resource);
  return `coalesce((SELECT ${table}.id FROM ${table} WHERE ${table}.tenant_id = ${tenantId} AND ${table}.external_id = ${externalId}),
    (${formerHolder(resource, 'external_id', externalId, tenantId)}))`;
}

/** The object that answers for a former name now. It may be gone. */
export async function findCurrentId(
  client: pg.ClientBase,
  tenantId: string,
  resource: string,
  column: 'id' | 'external_id',
  name: string,
): Promise<string | undefined> {
  const { rows } = await client.query<{ id: string }>(
    column === 'id'
      ? 'SELECT id FROM former_id WHERE tenant_id = $1 AND former_id = $2'
      : `SELECT id FROM former_external_id WHERE tenant_id = $1 AND resource = '${resource}' AND external_id = $2`,
    [tenantId, name],
  );
  return rows[0]?.id;
}
