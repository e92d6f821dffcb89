// Routes that create, change and delete the objects of a definition.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Database } from '../../database/database.ts';
import { ApiError } from '../../errors.ts';
import {
  authorOf,
  demandVersion,
  isDryRun,
  nameIgnoredFields,
  readFlag,
  refuseMisspeltDryRun,
  refuseUnknownParameters,
  sendJson,
} from '../../http/conventions.ts';
import type { JsonBody } from '../../http/json-body.ts';
import type { Definition } from '../definition/definition.ts';
import { isUuid } from '../definition/formats.ts';
import { writeDocs } from '../openapi/write-docs.ts';
import { readClaim } from '../sql/idempotency.ts';
import type { Stored } from '../sql/rows.ts';
import type { Intent } from '../write/intent.ts';
import { mergeInto } from './merge-patch.ts';
import { addMergeRoute, addPutRoute } from './upsert-routes.ts';
import {
  answerDryRun,
  checkNew,
  findForChange,
  insertOne,
  inTransaction,
  merge,
  noteChange,
  type ObjectName,
  openForWrites,
  type WritableResource,
} from './write-steps.ts';

export function addWriteRoutes(
  api: FastifyInstance,
  definition: Definition,
  all: readonly Definition[],
  database: Database,
): void {
  const docs = writeDocs(definition);
  const resource = openForWrites(definition, all, database);
  const byId = `/${definition.collection}/:id`;
  const byExternalId = `/${definition.collection}/by-external-id/:externalId`;
  addCreateRoute(api, resource, docs.create);
  addPutRoute(api, resource, byExternalId, docs.upsert);
  addPatchRoute(api, resource, byId, docs.patch);
  addMergeRoute(api, resource, byExternalId, docs.merge);
  addDeleteRoute(api, resource, byId, docs.delete);
  addDeleteRoute(api, resource, byExternalId, docs.deleteByExternalId);
}

function addCreateRoute(api: FastifyInstance, resource: WritableResource, schema: object): void {
  const { definition, creations } = resource;
  api.post<{ Body: JsonBody }>(definition.path, { schema }, async (request, reply) => {
    const { row, ignoredFields } = await checkNew(resource, request.body, request, reply);
    const author = authorOf(request);
    const claim = readClaim(request.headers['idempotency-key'], definition.path, request.body.bytes);
    refuseMisspeltDryRun(request);
    if (isDryRun(request)) {
      return inTransaction(resource, request, async (client) => {
        await insertOne(client, resource, { row, author, claim });
        return answerDryRun(client, resource, request, row, ignoredFields);
      });
    }
    const { id, isReplay } = await creations.create({ row, author, claim }, request.deadline);
    if (isReplay) reply.header('Idempotency-Replayed', 'true');
    reply.code(201);
    return { id };
  });
}

function addPatchRoute(api: FastifyInstance, resource: WritableResource, path: string, schema: object): void {
  const { careFields } = resource.definition;
  api.patch<{ Params: { id: string }; Body: JsonBody }>(
    path,
    { schema, config: { careFields } },
    async (request, reply) => {
      refuseUnknownParameters(request, ['dryRun']);
      if (!isDryRun(request)) {
        const patched = await resource.requests.write(toPatch(resource, request, reply), request.deadline);
        noteChange(reply, { version: patched.version, isNew: false, isChanged: patched.what === 'changed' });
        return sendJson(reply, patched.json!);
      }
      const patched = await inTransaction(resource, request, async (client) => {
        const current = await findForChange(client, resource, request, 'FOR NO KEY UPDATE');
        return merge(client, resource, current, request.body, request, reply);
      });
      return sendJson(reply, patched.json);
    },
  );
}

function toPatch(
  { definition, check, written }: WritableResource,
  request: FastifyRequest<{ Params: { id: string }; Body: JsonBody }>,
  reply: FastifyReply,
): Intent {
  const { params, body, tenantId } = request;
  const checkMerged = (current: Stored | undefined) => {
    const checked = check(mergeInto(definition, current, body));
    nameIgnoredFields(reply, checked.ignoredFields);
    return checked;
  };
  return {
    resource: written,
    tenantId,
    author: authorOf(request),
    name: isUuid(params.id) ? { id: params.id.toLowerCase() } : undefined,
    sent: check(mergeInto(definition, undefined, body)).row,
    mayRevive: true,
    mayWait: false,
    wantsObject: true,
    decide(current) {
      if (!current) throw new ApiError('not_found');
      demandVersion(request, current);
      return checkMerged(current);
    },
  };
}

function addDeleteRoute(
  api: FastifyInstance,
  resource: WritableResource,
  path: string,
  schema: object,
): void {
  api.delete<{ Params: ObjectName }>(path, { schema }, async (request, reply) => {
    refuseUnknownParameters(request, ['dryRun', 'cascade']);
    const isCascade = readFlag(request, 'cascade', false);
    const deleted = await inTransaction(resource, request, async (client) => {
      const { id, isFormerName } = await findForChange(client, resource, request, 'FOR UPDATE');
      if (isFormerName) throw new ApiError('merged_object', { details: { id } });
      return resource.writes.deleteRow(client, request.tenantId, id, authorOf(request), isCascade);
    });
    if (isCascade) return { deleted };
    reply.code(204);
  });
}
