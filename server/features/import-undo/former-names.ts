// Names that a merge took along lead to their objects again once these are back.
import type pg from 'pg';

interface Run {
  object_id: string | null;
  resource: string;
  former_names: object[] | null;
}

/** May run again: a name that was returned no longer leads to the object that stayed. */
export async function returnNames(client: pg.ClientBase, tenantId: string, runId: string): Promise<void> {
  const { rows } = await client.query<Run>(
    'SELECT object_id, resource, former_names FROM import_run WHERE tenant_id = $1 AND id = $2',
    [tenantId, runId],
  );
  const { object_id: id, resource, former_names: names } = rows[0]!;
  if (!names) return;
  // An object without a former id of its own is no merged one any more.
  const isBack = `NOT EXISTS (SELECT FROM former_id AS merged WHERE merged.tenant_id = $1 AND merged.former_id = before.id)`;
  const values = [tenantId, id, JSON.stringify(names)];
  await client.query(
    `UPDATE former_id SET id = before.id FROM json_to_recordset($3) AS before (former_id uuid, id uuid)
     WHERE former_id.tenant_id = $1 AND former_id.id = $2 AND former_id.former_id = before.former_id AND ${isBack}`,
    values,
  );
  await client.query(
    `UPDATE former_external_id SET id = before.id FROM json_to_recordset($3) AS before (external_id text, id uuid)
     WHERE former_external_id.tenant_id = $1 AND former_external_id.id = $2 AND former_external_id.resource = $4
       AND former_external_id.external_id = before.external_id AND ${isBack}`,
    [...values, resource],
  );
}
