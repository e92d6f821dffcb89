// Merges objects into one: it keeps the chosen fields, gets all references, and answers to all names.
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type pg from 'pg';
import type { Database } from '../../database/database.ts';
import { longStatementMs } from '../../database/timeouts.ts';
import type { Definition } from '../../engine/definition/definition.ts';
import { isUuid } from '../../engine/definition/formats.ts';
import { buildCheck } from '../../engine/definition/validation.ts';
import { parseStored } from '../../engine/http/merge-patch.ts';
import { RaceError, retryRaces } from '../../engine/sql/races.ts';
import { buildReplacement } from '../../engine/sql/replacement.ts';
import { buildWrites, type Writes } from '../../engine/sql/row-store.ts';
import type { NewRow, Stored } from '../../engine/sql/rows.ts';
import { ApiError, validationError } from '../../errors.ts';
import {
  authorOf,
  demandVersion,
  etagOf,
  isDryRun,
  refuseUnknownParameters,
} from '../../http/conventions.ts';
import type { JsonBody } from '../../http/json-body.ts';
import { mergeDocs } from './merge-docs.ts';
import { type MergeRequest, readMergeRequest } from './merge-request.ts';
import { mergeFields } from './merged-fields.ts';
import { buildMoves, type Moved } from './moves.ts';

interface MergeRoute {
  Params: { id: string };
  Body: JsonBody;
}

interface Merged {
  id: string;
  version: number;
  merged: string[];
  moved: Moved[];
}

export async function mergeRoutes(
  api: FastifyInstance,
  { database, resources }: { database: Database; resources: readonly Definition[] },
): Promise<void> {
  for (const definition of resources) {
    const merge = buildMerge(definition, resources);
    api.post<MergeRoute>(
      `/${definition.collection}/:id/merge`,
      { schema: mergeDocs(definition) },
      async (request, reply) => {
        refuseUnknownParameters(request, ['dryRun']);
        if (!isUuid(request.params.id)) throw new ApiError('not_found');
        const asked = readMergeRequest(definition, request.params.id, request.body);
        // Without the deadline of other requests: there may be much to move.
        const options = { isDryRun: isDryRun(request) };
        const work = (client: pg.ClientBase) => merge(client, request, asked);
        const merged = await retryRaces(() => database.inTenants([request.tenantId], work, options));
        reply.header('ETag', etagOf(merged.version));
        return merged;
      },
    );
  }
}

function buildMerge(definition: Definition, resources: readonly Definition[]) {
  const writes = buildWrites(definition, resources);
  const check = buildCheck(definition);
  const { findChanges } = buildReplacement(definition, check, writes);
  const moves = buildMoves(definition, resources);

  return async function merge(
    client: pg.ClientBase,
    request: FastifyRequest,
    asked: MergeRequest,
  ): Promise<Merged> {
    const { tenantId } = request;
    const author = authorOf(request);
    await client.query(`SET LOCAL statement_timeout = ${longStatementMs}`);
    const { winner, losers, objectOf } = await lockObjects(client, definition, writes, tenantId, asked);
    // A repeated request: these were merged before.
    if (losers.length === 0) return { id: winner.id, version: winner.version, merged: [], moved: [] };
    demandVersion(request, winner);
    demandVersions(asked, objectOf);
    const choices = new Map([...asked.fields].map(([field, id]) => [field, objectOf(id)!] as const));
    const after = check(mergeFields(definition, [winner, ...losers], choices));
    const row: NewRow = { ...after.row, tenant_id: tenantId, id: winner.id };
    const missing = after.fieldErrors.length > 0 ? [] : await writes.resolveReferences(client, row);
    const fieldErrors = [...after.fieldErrors, ...missing];
    if (fieldErrors.length > 0) throw validationError(fieldErrors);

    const formerIds = losers.map(({ id }) => id);
    const referrers = await moves.lock(client, tenantId, formerIds);
    const moved = await moves.move(client, tenantId, referrers, { formerIds, id: winner.id }, author);
    const deletions = formerIds.map((id) => ({ id, isCascade: false }));
    const deleted = await writes.deleteRows(client, tenantId, deletions, author);
    // Something new refers to one of them.
    if ([...deleted.values()].some((outcome) => outcome instanceof ApiError))
      throw new RaceError('A merged object has dependants.');

    // No version of a merged object may be one of the winner's: an old ETag must not fit.
    const newest = Math.max(winner.version, ...losers.map(({ version }) => version));
    const current = { ...winner, version: newest };
    const update = { row, current, changes: findChanges(winner, after, row) };
    const [conflict] = (await writes.findUpdateConflicts(client, [update])).values();
    if (conflict) throw conflict;
    const isUntouched =
      Object.keys(update.changes).length === 0 &&
      newest === winner.version &&
      !losers.some(({ version }) => version === newest);
    const [written] = isUntouched ? [winner] : await writes.updateRows(client, [update], author);
    await keepNames(
      client,
      tenantId,
      definition,
      { id: winner.id, formerIds },
      [winner, ...losers],
      written!,
    );
    return { id: winner.id, version: written!.version, merged: formerIds, moved };
  };
}

/** Locked in one order, to avoid deadlocks. A former id names the object that it was merged into. */
async function lockObjects(
  client: pg.ClientBase,
  { name: resource }: Definition,
  writes: Writes,
  tenantId: string,
  { id, ids }: MergeRequest,
) {
  const found = await writes.findAllCurrent(client, tenantId, 'id', [...new Set([id, ...ids])]);
  const winner = found.get(id);
  if (!winner) throw new ApiError('not_found');
  const unknown = ids.flatMap((one, place) => (found.has(one) ? [] : [place]));
  if (unknown.length > 0) {
    throw validationError(
      unknown.map((place) => ({
        path: ['ids', place],
        code: 'reference_not_found' as const,
        params: { resource },
      })),
    );
  }
  const losers = new Map(ids.map((one) => found.get(one)!).map((object) => [object.id, object]));
  losers.delete(winner.id);
  const byId = new Map([winner, ...losers.values()].map((object) => [object.id, object]));
  const objectOf = (one: string): Stored | undefined => byId.get(found.get(one)?.id ?? one);
  return { winner, losers: [...losers.values()], objectOf };
}

function demandVersions({ versions }: MergeRequest, objectOf: (id: string) => Stored | undefined): void {
  for (const [id, version] of versions) {
    if (objectOf(id)?.version !== version) throw new ApiError('version_mismatch');
  }
}

/** Ids and external ids of the merged objects find the winner from now on. Chains never form. */
async function keepNames(
  client: pg.ClientBase,
  tenantId: string,
  { name }: Definition,
  { id, formerIds }: { id: string; formerIds: readonly string[] },
  before: readonly Stored[],
  after: Stored,
): Promise<void> {
  const values = [tenantId, formerIds, id];
  for (const table of ['former_id', 'former_external_id'])
    await client.query(`UPDATE ${table} SET id = $3 WHERE tenant_id = $1 AND id = ANY ($2)`, values);
  await client.query(
    `INSERT INTO former_id (tenant_id, former_id, id) SELECT $1, former, $3::uuid FROM unnest($2::uuid[]) AS former`,
    values,
  );
  const externalIdOf = ({ json }: Stored) => (parseStored(json).value as { externalId?: string }).externalId;
  const own = externalIdOf(after);
  const former = new Set(before.flatMap((object) => externalIdOf(object) ?? []).filter((one) => one !== own));
  await client.query(
    `INSERT INTO former_external_id (tenant_id, resource, external_id, id)
     SELECT $1, $4, former, $3::uuid FROM unnest($2::text[]) AS former
     ON CONFLICT (tenant_id, resource, external_id) DO UPDATE SET id = excluded.id`,
    [tenantId, [...former], id, name],
  );
}
