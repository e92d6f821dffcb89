// Finds objects in the bin by their external ids, for writers that must not revive them.
import type pg from 'pg';
import type { Database } from '../../database/database.ts';
import { buildTenantBatches } from '../../database/tenant-batches.ts';
import { ApiError } from '../../errors.ts';
import type { Definition } from '../definition/definition.ts';
import { isRestorable } from './bin.ts';
import type { Statement } from './statements.ts';

export interface Sought {
  tenantId: string;
  externalId: string;
}

type Found = { place: number; id: string };

/** Of several objects that had an external id one after the other, the last. */
function buildLookUp({ name }: Definition): Statement {
  return {
    name: `find deleted ${name}`,
    text: `
      SELECT sought.place, found.id
      FROM json_to_recordset($1) AS sought (place integer, tenant_id uuid, external_id text), LATERAL (
        SELECT bin.id FROM deleted_object AS bin
        WHERE bin.tenant_id = sought.tenant_id AND bin.resource = '${name}' AND bin.external_id = sought.external_id
          AND ${isRestorable('bin')}
        ORDER BY bin.deleted_at DESC LIMIT 1) AS found`,
  };
}

function queryFor(statement: Statement, sought: readonly Sought[]): pg.QueryConfig {
  const sent = sought.map(({ tenantId, externalId }, place) => ({
    place,
    tenant_id: tenantId,
    external_id: externalId,
  }));
  return { ...statement, values: [JSON.stringify(sent)] };
}

function inPlaces(sought: readonly Sought[], rows: readonly Found[]): (string | undefined)[] {
  const ids = new Map(rows.map(({ place, id }) => [place, id]));
  return sought.map((_, place) => ids.get(place));
}

/** For each, the error of a write that must not revive it; undefined where the bin has no such object. */
export async function findDeleted(
  client: pg.ClientBase,
  definition: Definition,
  sought: readonly Sought[],
): Promise<(ApiError | undefined)[]> {
  if (sought.length === 0) return [];
  const { rows } = await client.query<Found>(queryFor(buildLookUp(definition), sought));
  return inPlaces(sought, rows).map((id) =>
    id === undefined ? undefined : new ApiError('deleted', { details: { field: 'externalId', id } }),
  );
}

/** Whether the bin has the object, for requests that arrive together. */
export function buildIsDeleted(database: Database, definition: Definition) {
  const statement = buildLookUp(definition);
  const batches = buildTenantBatches<Sought, boolean>(database, {
    kind: 'bin look-up',
    async run(sought) {
      const tenantIds = [...new Set(sought.map(({ tenantId }) => tenantId))];
      const { rows } = await database.queryInTenants<Found>(tenantIds, queryFor(statement, sought), {
        isBatch: true,
      });
      return inPlaces(sought, rows).map((id) => id !== undefined);
    },
    tenantOf: ({ tenantId }) => tenantId,
    maxItems: 500,
    paceMs: 0,
  });
  return (sought: Sought, deadline: number): Promise<boolean> => batches.add(sought, deadline);
}
