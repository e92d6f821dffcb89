// Routes that create, change and delete the objects of a definition.
import type { FastifyInstance } from 'fastify';
import type { Database } from '../../database/database.ts';
import { ApiError } from '../../errors.ts';
import {
  demandVersion,
  isDryRun,
  nameIgnoredFields,
  readFlag,
  refuseMisspeltDryRun,
  refuseUnknownParameters,
} from '../../http/conventions.ts';
import type { JsonBody } from '../../http/json-body.ts';
import type { Definition } from '../definition/definition.ts';
import { writeDocs } from '../openapi/write-docs.ts';
import { readClaim } from '../write/idempotency.ts';
import type { Intent, ObjectName } from '../write/intent.ts';
import { noteDryRun } from './dry-run.ts';
import { addMergeRoute, addPatchRoute, addPutRoute } from './upsert-routes.ts';
import { intentOf, objectNameOf, openForWrites, tryOut, type WritableResource } from './write-steps.ts';

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
  const { definition, check, requests } = resource;
  api.post<{ Body: JsonBody }>(definition.path, { schema }, async (request, reply) => {
    const checked = check(request.body);
    const { ignoredFields, row } = checked;
    nameIgnoredFields(reply, ignoredFields);
    const creation: Intent = {
      ...intentOf(resource, request),
      name: undefined,
      sent: row,
      decide: () => checked,
    };
    // An invalid body is rejected before its headers and parameters are read.
    if (checked.fieldErrors.length > 0) await requests.write(creation, request.deadline);
    creation.claim = readClaim(request.headers['idempotency-key'], definition.path, request.body.bytes);
    refuseMisspeltDryRun(request);
    if (isDryRun(request)) {
      const { notes } = await tryOut(resource, request, creation);
      return { ...notes, ignoredFields };
    }
    const { what, id } = await requests.write(creation, request.deadline);
    if (what === 'repeated') reply.header('Idempotency-Replayed', 'true');
    reply.code(201);
    return { id };
  });
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
    const deletion: Intent = {
      ...intentOf(resource, request),
      name: objectNameOf(request.params),
      sent: {},
      deletion: { isCascade },
      demand(current) {
        if (!current) throw new ApiError('not_found');
        demandVersion(request, current);
      },
      decide: () => undefined,
    };
    const options = { deadline: request.deadline, isDryRun: isDryRun(request) };
    const { id, deleted = [{ resource: resource.definition.name, ids: [id] }] } =
      await resource.requests.writeAlone(deletion, options);
    if (options.isDryRun) return { deleted, ...noteDryRun() };
    if (isCascade) return { deleted };
    reply.code(204);
  });
}
