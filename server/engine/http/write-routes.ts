// Creating, changing and deleting, from a definition.
import { randomUUIDv7 } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type pg from 'pg';
import type { Database } from '../../database/database.ts';
import { ApiError, validationError } from '../../errors.ts';
import {
  authorOf,
  demandVersion,
  etagOf,
  isDryRun,
  languageOf,
  nameIgnoredFields,
  refuseMisspeltDryRun,
  refuseUnknownParameters,
  sendJson,
} from '../../http/conventions.ts';
import { isStorableText, type JsonBody } from '../../http/json-body.ts';
import type { Definition } from '../definition/definition.ts';
import { isUuid } from '../definition/formats.ts';
import { buildCheck, isObject } from '../definition/validation.ts';
import { writeDocs } from '../openapi/routes.ts';
import { type AttentionCheck, findAttentionOf } from '../sql/attention-checks.ts';
import { buildCreationBatches, createClaimed } from '../sql/creation-batches.ts';
import type { Creation } from '../sql/idempotency.ts';
import { readClaim } from '../sql/idempotency.ts';
import { buildReplacement } from '../sql/replacement.ts';
import {
  buildWrites,
  isExternalIdTaken,
  type NewRow,
  RaceError,
  retryRaces,
  type Stored,
} from '../sql/row-store.ts';
import { buildUpsertBatches } from '../sql/upsert-batches.ts';
import { mergePatch, parseStored } from './merge-patch.ts';

export interface ResourceContext {
  database: Database;
  /** What may be owned by objects of this resource. */
  dependants: readonly Definition[];
  attentionChecks: readonly AttentionCheck[];
}

export function addWriteRoutes(api: FastifyInstance, definition: Definition, context: ResourceContext): void {
  const { database, dependants, attentionChecks } = context;
  const docs = writeDocs(definition);
  const check = buildCheck(definition);
  const writes = buildWrites(definition, dependants);
  const replacement = buildReplacement(definition, check, writes);
  const { canResolveOwners, replace } = replacement;
  const queue = buildCreationBatches(database, writes);
  const upserts = buildUpsertBatches(database, definition, queue, replacement);

  api.post<{ Body: JsonBody }>(definition.path, { schema: docs.create }, async (request, reply) => {
    const { row, ignoredFields } = await checkNew(request.body, request, reply);
    const author = authorOf(request);
    const claim = readClaim(request.headers['idempotency-key'], definition.path, request.body.bytes);
    refuseMisspeltDryRun(request);
    if (isDryRun(request)) {
      return inTransaction(request, async (client) => {
        await insertOne(client, { row, author, claim });
        return rehearsed(client, request, row, ignoredFields);
      });
    }
    const { id, isReplay } = await queue.create({ row, author, claim }, request.deadline);
    if (isReplay) reply.header('Idempotency-Replayed', 'true');
    reply.code(201);
    return { id };
  });

  api.put<{ Params: { externalId: string }; Body: JsonBody }>(
    `/${definition.collection}/by-external-id/:externalId`,
    { schema: docs.upsert },
    async (request, reply) => {
      refuseUnknownParameters(request, ['dryRun']);
      const { externalId } = request.params;
      const body = withExternalId(request.body, externalId);
      const { checked, row, ignoredFields } = await checkNew(body, request, reply);
      const author = authorOf(request);
      const demand = (current: Stored | undefined) => demandVersion(request, current);
      const become = () => checked;
      const upsert = { row, become, isMerge: false, author, demand };
      const upserted = isDryRun(request) ? undefined : await upserts.upsert(upsert, request.deadline);
      if (upserted) {
        reply.code(upserted.isNew ? 201 : 200);
        return { id: upserted.id };
      }
      const { answer, isNew } = await inTransaction(request, async (client) => {
        const current = await writes.find(client, request.tenantId, { externalId }, 'FOR NO KEY UPDATE');
        demandVersion(request, current);
        const id = current?.id ?? row.id;
        if (current) await replace(client, current, checked, request.tenantId, author);
        else await insertOne(client, { row, author }).catch(lookAgainIfCreatedMeanwhile);
        const stored = { tenant_id: request.tenantId, id };
        const answer = isDryRun(request)
          ? { ...(await rehearsed(client, request, stored, ignoredFields)), ...(current && { id }) }
          : { id };
        return { answer, isNew: !current };
      });
      reply.code(isNew && !isDryRun(request) ? 201 : 200);
      return answer;
    },
  );

  api.patch<{ Params: { id: string }; Body: JsonBody }>(
    `/${definition.collection}/:id`,
    { schema: docs.patch },
    async (request, reply) => {
      refuseUnknownParameters(request, ['dryRun']);
      const patched = await inTransaction(request, async (client) => {
        const current = await findForChange(client, request, 'FOR NO KEY UPDATE');
        const merged = check(mergePatch(definition, parseStored(current.json), request.body));
        nameIgnoredFields(reply, merged.ignoredFields);
        return replace(client, current, merged, request.tenantId, authorOf(request));
      });
      if (!isDryRun(request)) reply.header('ETag', etagOf(patched.version));
      return sendJson(reply, patched.json);
    },
  );

  api.delete<{ Params: { id: string } }>(
    `/${definition.collection}/:id`,
    { schema: docs.delete },
    async (request, reply) => {
      refuseUnknownParameters(request, ['dryRun']);
      await inTransaction(request, async (client) => {
        const { id } = await findForChange(client, request, 'FOR UPDATE');
        await writes.deleteRow(client, request.tenantId, id, authorOf(request));
      });
      reply.code(204);
    },
  );

  /** The row of a new object; throws everything that is wrong with it at once, the owners included. */
  async function checkNew(body: JsonBody, request: FastifyRequest, reply: FastifyReply) {
    const checked = check(body);
    const { faults, ignoredFields, row: checkedRow } = checked;
    nameIgnoredFields(reply, ignoredFields);
    const row: NewRow = { ...checkedRow, tenant_id: request.tenantId, id: randomUUIDv7() };
    if (faults.length > 0) {
      const found = canResolveOwners(faults)
        ? await inTransaction(request, (client) => writes.resolveOwners(client, row))
        : [];
      throw validationError([...faults, ...found]);
    }
    return { checked, row, ignoredFields };
  }

  async function insertOne(client: pg.ClientBase, creation: Creation): Promise<void> {
    const [outcome] = await createClaimed(client, writes, [creation]);
    if (outcome instanceof ApiError) throw outcome;
  }

  /** What a dry run of a creation or replacement is answered with. */
  async function rehearsed(
    client: pg.ClientBase,
    request: FastifyRequest,
    row: { tenant_id: string; id: string },
    ignoredFields: readonly string[],
  ) {
    const attention = await findAttentionOf(client, attentionChecks, row, languageOf(request));
    return { dryRun: true, attention, ignoredFields };
  }

  async function findForChange(
    client: pg.ClientBase,
    request: FastifyRequest<{ Params: { id: string } }>,
    lock: 'FOR UPDATE' | 'FOR NO KEY UPDATE',
  ): Promise<Stored> {
    const { id } = request.params;
    const current = isUuid(id) ? await writes.find(client, request.tenantId, { id }, lock) : undefined;
    if (!current) throw new ApiError('not_found');
    demandVersion(request, current);
    return current;
  }

  async function inTransaction<Result>(
    request: FastifyRequest,
    work: (client: pg.ClientBase) => Promise<Result>,
  ): Promise<Result> {
    const options = { isDryRun: isDryRun(request), deadline: request.deadline };
    return retryRaces(() => database.inTenants([request.tenantId], work, options));
  }
}

/** The path names the object; a body that names another one is a mistake. */
function withExternalId(body: JsonBody, externalId: string): JsonBody {
  if (!isObject(body.value)) return body;
  const isOther = Object.hasOwn(body.value, 'externalId') && body.value.externalId !== externalId;
  const faults = [...body.faults];
  if (isOther) faults.push({ path: ['externalId'], code: 'differs_from_path' });
  if (!isStorableText(externalId)) faults.push({ path: ['externalId'], code: 'invalid_text' });
  return { ...body, value: { ...body.value, externalId }, faults };
}

/** Somebody else has just created the object that was not there: then it is there to be replaced. */
function lookAgainIfCreatedMeanwhile(error: unknown): never {
  throw isExternalIdTaken(error) ? new RaceError('The object was created meanwhile.') : error;
}
