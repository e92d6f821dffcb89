// Webhooks as an integration manages them, with the key: the office's rules, below /api/v1.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type pg from 'pg';
import { type Input, optional, readForm } from '../../access/form.ts';
import type { Database } from '../../database/database.ts';
import type { Definition } from '../../engine/definition/definition.ts';
import { isObject } from '../../engine/definition/validation.ts';
import { noteDryRun } from '../../engine/http/dry-run.ts';
import { type IdRoute, idOf, inTenantOf } from '../../engine/http/route-conventions.ts';
import { answerRepeated, keepKeys, readClaim } from '../../engine/write/idempotency.ts';
import { retryRaces } from '../../engine/write/races.ts';
import { ApiError } from '../../errors.ts';
import {
  isDryRun,
  nameIgnoredFields,
  refuseMisspeltDryRun,
  refuseUnknownParameters,
} from '../../http/conventions.ts';
import type { JsonBody } from '../../http/json-body.ts';
import { sendTest } from './deliveries.ts';
import { record } from './endpoint-audit.ts';
import { endpointDocs as docs } from './endpoint-docs.ts';
import { endpointForm } from './endpoint-form.ts';
import {
  changeEndpoint,
  createEndpoint,
  deleteEndpoint,
  listEndpoints,
  readEndpoint,
  readSecret,
} from './endpoints.ts';
import type { OutgoingConfig } from './outgoing-request.ts';

interface Options {
  config: OutgoingConfig;
  database: Database;
  resources: readonly Definition[];
}

export async function endpointRoutes(
  api: FastifyInstance,
  { config, database, resources }: Options,
): Promise<void> {
  const form = endpointForm(
    config,
    resources.map(({ name }) => name),
  );
  const write = <Result>(request: FastifyRequest, work: (client: pg.ClientBase) => Promise<Result>) => {
    const options = { isDryRun: isDryRun(request), deadline: request.deadline };
    return database.inTenants([request.tenantId], work, options);
  };

  api.get('/webhooks', { schema: docs.list }, async (request) => {
    refuseUnknownParameters(request, []);
    return {
      data: await inTenantOf(request, database, (client) => listEndpoints(client, request.tenantId)),
    };
  });

  api.get<IdRoute>('/webhooks/:id', { schema: docs.get }, async (request) => {
    refuseUnknownParameters(request, []);
    return inTenantOf(request, database, (client) => readEndpoint(client, request.tenantId, idOf(request)));
  });

  api.post<{ Body: JsonBody }>('/webhooks', { schema: docs.create }, async (request, reply) => {
    refuseMisspeltDryRun(request);
    const asked = readForm(request, form);
    const ignoredFields = nameIgnored(request, reply, form);
    const { tenantId } = request;
    const claim = readClaim(request.headers['idempotency-key'], '/webhooks', request.body.bytes);
    const creation = { tenantId, claim: isDryRun(request) ? undefined : claim };
    const create = async (client: pg.ClientBase) => {
      const repeated = (await answerRepeated(client, [creation])).get(creation);
      if (repeated instanceof ApiError) throw repeated;
      if (repeated) return { ...(await readSecret(client, tenantId, repeated.id)), isRepeated: true };
      const endpoint = await createEndpoint(client, tenantId, asked);
      await record(client, request, 'WEBHOOK_CREATED', endpoint.id);
      await keepKeys(client, new Map([[creation, { what: 'created', id: endpoint.id, version: 0 }]]));
      return { ...endpoint, isRepeated: false };
    };
    const { isRepeated, ...made } = await retryRaces(() => write(request, create));
    if (isDryRun(request)) return noteDryRun(ignoredFields);
    if (isRepeated) reply.header('Idempotency-Replayed', 'true');
    reply.code(201);
    return made;
  });

  api.patch<IdRoute>('/webhooks/:id', { schema: docs.change }, async (request, reply) => {
    refuseUnknownParameters(request, ['dryRun']);
    const changes = readForm(request, { ...form, url: optional(form.url) });
    const ignoredFields = nameIgnored(request, reply, form);
    const changed = await write(request, async (client) => {
      const id = idOf(request);
      await record(client, request, 'WEBHOOK_CHANGED', id);
      await changeEndpoint(client, request.tenantId, id, changes);
      return readEndpoint(client, request.tenantId, id);
    });
    return isDryRun(request) ? { ...changed, ...noteDryRun(ignoredFields) } : changed;
  });

  api.delete<IdRoute>('/webhooks/:id', { schema: docs.delete }, async (request, reply) => {
    refuseUnknownParameters(request, ['dryRun']);
    await write(request, async (client) => {
      await record(client, request, 'WEBHOOK_DELETED', idOf(request));
      await deleteEndpoint(client, request.tenantId, idOf(request));
    });
    if (isDryRun(request)) return noteDryRun();
    reply.code(204);
  });

  const bodiless = { schema: docs.test, config: { takesNoBody: true } };
  api.post<IdRoute>('/webhooks/:id/test', bodiless, async (request) => {
    refuseUnknownParameters(request, []);
    const { tenantId } = request;
    return sendTest({ config, database, tenantId, webhookId: idOf(request) });
  });
}

function nameIgnored(
  request: FastifyRequest,
  reply: FastifyReply,
  form: Record<string, Input<unknown>>,
): string[] {
  const { value } = request.body as JsonBody;
  const ignored = isObject(value) ? Object.keys(value).filter((name) => !(name in form)) : [];
  nameIgnoredFields(reply, ignored);
  return ignored;
}
