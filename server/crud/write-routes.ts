// Creating, changing and deleting, from a definition.
import { randomUUIDv7 } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type pg from 'pg';
import type { Database } from '../database/database.ts';
import { toApiFailure } from '../database/failures.ts';
import { ApiError, type Fault, validationError } from '../errors.ts';
import type { JsonBody } from '../http/json-body.ts';
import { type AttentionCheck, findAttentionOf } from './attention.ts';
import type { Definition } from './definition.ts';
import { isUuid } from './formats.ts';
import { readClaim } from './idempotency.ts';
import { mergePatch, parseStored } from './merge-patch.ts';
import { writeDocs } from './openapi-routes.ts';
import { buildReplacement } from './replacement.ts';
import {
  authorOf,
  demandVersion,
  etagOf,
  isRehearsal,
  languageOf,
  nameIgnoredFields,
  refuseUnknownParameters,
  sendJson,
} from './requests.ts';
import { buildCheck, isObject } from './validation.ts';
import { buildWriteQueue, createClaimed } from './write-queue.ts';
import { buildWrites, isRace, type NewRow, type Stored } from './writes.ts';

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
  const { canResolveOwners, replace } = buildReplacement(definition, check, writes);
  const queue = buildWriteQueue(database, writes);

  api.post<{ Body: JsonBody }>(definition.path, { schema: docs.create }, async (request, reply) => {
    const { row, ignoredFields } = await checkNew(request.body, request, reply);
    const author = authorOf(request);
    if (isRehearsal(request)) {
      return inTransaction(request, async (client) => {
        await insertOne(client, request, row);
        return {
          dryRun: true,
          attention: await findAttentionOf(client, attentionChecks, row, languageOf(request)),
          ignoredFields,
        };
      });
    }
    const claim = readClaim(request.headers['idempotency-key'], definition.path, request.body.bytes);
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
      const { row } = await checkNew(body, request, reply);
      const { id, isNew } = await inTransaction(request, async (client) => {
        const current = await writes.find(client, request.tenantId, { externalId }, 'FOR UPDATE');
        demandVersion(request, current);
        if (!current) {
          await insertOne(client, request, row);
          return { id: row.id, isNew: true };
        }
        const { id } = await replace(client, current, check(body), request.tenantId, authorOf(request));
        return { id, isNew: false };
      });
      reply.code(isNew && !isRehearsal(request) ? 201 : 200);
      return { id };
    },
  );

  api.patch<{ Params: { id: string }; Body: JsonBody }>(
    `/${definition.collection}/:id`,
    { schema: docs.patch },
    async (request, reply) => {
      refuseUnknownParameters(request, ['dryRun']);
      const patched = await inTransaction(request, async (client) => {
        const current = await findForChange(client, request, request.params.id);
        const merged = check(mergePatch(definition, parseStored(current.json), request.body));
        nameIgnoredFields(reply, merged.ignoredFields);
        return replace(client, current, merged, request.tenantId, authorOf(request));
      });
      reply.header('ETag', etagOf(patched.version));
      return sendJson(reply, patched.json);
    },
  );

  api.delete<{ Params: { id: string } }>(
    `/${definition.collection}/:id`,
    { schema: docs.delete },
    async (request, reply) => {
      refuseUnknownParameters(request, ['dryRun']);
      await inTransaction(request, async (client) => {
        const { id } = await findForChange(client, request, request.params.id);
        await writes.deleteRow(client, request.tenantId, id, authorOf(request));
      });
      reply.code(204);
    },
  );

  /** The row of a new object; throws everything that is wrong with it at once, the owners included. */
  async function checkNew(body: JsonBody, request: FastifyRequest, reply: FastifyReply) {
    const { faults, ignoredFields, row: checkedRow } = check(body);
    nameIgnoredFields(reply, ignoredFields);
    const row: NewRow = { ...checkedRow, tenant_id: request.tenantId, id: randomUUIDv7() };
    if (faults.length > 0) {
      const found = canResolveOwners(faults)
        ? await inTransaction(request, (client) => writes.resolveOwners(client, row))
        : [];
      throw validationError([...faults, ...found]);
    }
    return { row, ignoredFields };
  }

  async function insertOne(client: pg.ClientBase, request: FastifyRequest, row: NewRow): Promise<void> {
    const [outcome] = await createClaimed(client, writes, [{ row, author: authorOf(request) }]);
    if (outcome instanceof ApiError) throw outcome;
  }

  async function findForChange(client: pg.ClientBase, request: FastifyRequest, id: string): Promise<Stored> {
    const current = isUuid(id)
      ? await writes.find(client, request.tenantId, { id }, 'FOR UPDATE')
      : undefined;
    if (!current) throw new ApiError('not_found');
    demandVersion(request, current);
    return current;
  }

  /** One transaction, and once more if two writers crossed each other: the second look sees what the other did. */
  async function inTransaction<Result>(
    request: FastifyRequest,
    work: (client: pg.ClientBase) => Promise<Result>,
  ): Promise<Result> {
    const attempt = () => database.inTenants([request.tenantId], work, { isRehearsal: isRehearsal(request) });
    return attempt()
      .catch((error) => {
        if (isRace(error)) return attempt();
        throw error;
      })
      .catch((error) => {
        throw toApiFailure(error);
      });
  }
}

/** The path names the object; a body that names another one is a mistake. */
function withExternalId(body: JsonBody, externalId: string): JsonBody {
  if (!isObject(body.value)) return body;
  const isOther = Object.hasOwn(body.value, 'externalId') && body.value.externalId !== externalId;
  const fault: Fault = { path: ['externalId'], code: 'differs_from_path' };
  return {
    ...body,
    value: { ...body.value, externalId },
    faults: isOther ? [...body.faults, fault] : body.faults,
  };
}
