// Merges objects into one: it keeps the chosen fields, gets all references, and answers to all names.
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type pg from 'pg';
import type { Database } from '../../database/database.ts';
import { longStatementMs } from '../../database/timeouts.ts';
import type { Definition } from '../../engine/definition/definition.ts';
import { isUuid } from '../../engine/definition/formats.ts';
import { buildDryRunNotes } from '../../engine/http/dry-run.ts';
import type { Intent } from '../../engine/write/intent.ts';
import { parseStored } from '../../engine/write/merge-patch.ts';
import { buildObjectLookUp, type FindObjects } from '../../engine/write/object-look-up.ts';
import { RaceError, retryRaces } from '../../engine/write/races.ts';
import { prepareWriting } from '../../engine/write/resource.ts';
import type { Stored } from '../../engine/write/rows.ts';
import { readJournalHead } from '../../engine/write/undo-log.ts';
import { writeWhole } from '../../engine/write/write.ts';
import { ApiError, validationError } from '../../errors.ts';
import {
  authorOf,
  demandVersion,
  etagOf,
  isDryRun,
  nameIgnoredFields,
  refuseUnknownParameters,
} from '../../http/conventions.ts';
import type { JsonBody } from '../../http/json-body.ts';
import { mergeDocs } from './merge-docs.ts';
import { type MergeRequest, readMergeRequest, unknownMembers } from './merge-request.ts';
import { noteMerge } from './merge-run.ts';
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
    const noteAttention = buildDryRunNotes(definition);
    api.post<MergeRoute>(
      `/${definition.collection}/:id/merge`,
      { schema: mergeDocs(definition) },
      async (request, reply) => {
        refuseUnknownParameters(request, ['dryRun']);
        if (!isUuid(request.params.id)) throw new ApiError('not_found');
        const asked = readMergeRequest(definition, request.params.id, request.body);
        // Without the deadline of other requests: there may be much to move.
        const options = { isDryRun: isDryRun(request) };
        const ignoredFields = unknownMembers(request.body);
        nameIgnoredFields(reply, ignoredFields);
        const work = async (client: pg.ClientBase) => {
          const merged = await merge(client, request, asked);
          const notes = options.isDryRun && (await noteAttention(client, request, merged.id, ignoredFields));
          return { ...merged, ...notes };
        };
        const merged = await retryRaces(() => database.inTenants([request.tenantId], work, options));
        reply.header('ETag', etagOf(merged.version));
        return merged;
      },
    );
  }
}

function buildMerge(definition: Definition, resources: readonly Definition[]) {
  const writing = prepareWriting(resources);
  const resource = writing.resources.find((one) => one.definition === definition)!;
  const findObjects = buildObjectLookUp(definition);
  const moves = buildMoves(definition, resources);

  return async function merge(
    client: pg.ClientBase,
    request: FastifyRequest,
    asked: MergeRequest,
  ): Promise<Merged> {
    const { tenantId } = request;
    const author = authorOf(request);
    await client.query(`SET LOCAL statement_timeout = ${longStatementMs}`);
    const { winner, losers, objectOf } = await lockObjects(client, definition, findObjects, tenantId, asked);
    // A repeated request: these were merged before.
    if (losers.length === 0) return { id: winner.id, version: winner.version, merged: [], moved: [] };
    demandVersion(request, winner);
    demandVersions(asked, objectOf);
    const choices = new Map([...asked.fields].map(([field, id]) => [field, objectOf(id)!] as const));
    const after = resource.check(mergeFields(definition, [winner, ...losers], choices));
    if (after.fieldErrors.length > 0) throw validationError(after.fieldErrors);

    const formerIds = losers.map(({ id }) => id);
    const head = await readJournalHead(client, tenantId);
    const referrers = await moves.lock(client, tenantId, { formerIds, id: winner.id });
    const moved = await moves.move(client, tenantId, referrers, { formerIds, id: winner.id }, author);
    const common = { resource, tenantId, author, mayRevive: true, mayWait: false };
    const change: Intent = {
      ...common,
      name: { id: winner.id },
      sent: after.row,
      // No version of a merged object may be one of the winner's: an old ETag must not fit.
      above: Math.max(...losers.map(({ version }) => version)),
      decide: () => after,
    };
    const deletions = formerIds.map(
      (id): Intent => ({
        ...common,
        name: { id },
        sent: {},
        deletion: { isCascade: false },
        decide: () => undefined,
      }),
    );
    // Their unique values are free when the winner takes them.
    const outcomes = await writeWhole(client, writing, [...deletions, change]);
    const written = outcomes.get(change)!;
    if (deletions.some((deletion) => outcomes.get(deletion) instanceof ApiError))
      throw new RaceError('Something new belongs to a merged object.');
    if (written instanceof ApiError) throw written;
    const own = after.row.external_id;
    const movedCount = moved.reduce((sum, { count }) => sum + count, 0);
    const run = { tenantId, resource: definition.name, id: winner.id, formerIds, head, author, movedCount };
    await noteMerge(client, run);
    await keepNames(client, tenantId, definition, { id: winner.id, formerIds }, [winner, ...losers], own);
    return { id: winner.id, version: written.version, merged: formerIds, moved };
  };
}

/** Locked in one order, to avoid deadlocks. A former id names the object that it was merged into. */
async function lockObjects(
  client: pg.ClientBase,
  { name: resource }: Definition,
  findObjects: FindObjects,
  tenantId: string,
  { id, ids }: MergeRequest,
) {
  const found = await findObjects(client, tenantId, [...new Set([id, ...ids])], 'FOR UPDATE');
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
  ownExternalId: unknown,
): Promise<void> {
  const values = [tenantId, formerIds, id];
  for (const table of ['former_id', 'former_external_id'])
    await client.query(`UPDATE ${table} SET id = $3 WHERE tenant_id = $1 AND id = ANY ($2)`, values);
  await client.query(
    `INSERT INTO former_id (tenant_id, former_id, id) SELECT $1, former, $3::uuid FROM unnest($2::uuid[]) AS former`,
    values,
  );
  const externalIdOf = ({ json }: Stored) => (parseStored(json).value as { externalId?: string }).externalId;
  const former = new Set(before.flatMap((object) => externalIdOf(object) ?? []));
  former.delete(String(ownExternalId));
  await client.query(
    `INSERT INTO former_external_id (tenant_id, resource, external_id, id)
     SELECT $1, $4, former, $3::uuid FROM unnest($2::text[]) AS former
     ON CONFLICT (tenant_id, resource, external_id) DO UPDATE SET id = excluded.id`,
    [tenantId, [...former], id, name],
  );
}
