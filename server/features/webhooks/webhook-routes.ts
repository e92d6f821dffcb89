// Webhooks as the office manages them: for Verwaltung, below Settings › API & interfaces.
import type { FastifyInstance } from 'fastify';
import { type Input, optional, type Reading, readForm, uuid } from '../../access/form.ts';
import type { Database } from '../../database/database.ts';
import type { Definition } from '../../engine/definition/definition.ts';
import { isUuid } from '../../engine/definition/formats.ts';
import { type IdRoute, idOf, inTenantOf } from '../../engine/http/route-conventions.ts';
import { isTimestamp } from '../../engine/read/list-query.ts';
import { validationError } from '../../errors.ts';
import { refuseUnknownParameters } from '../../http/conventions.ts';
import { listDeliveries, resendDelivery, sendTest } from './deliveries.ts';
import { record } from './endpoint-audit.ts';
import { endpointForm } from './endpoint-form.ts';
import {
  changeEndpoint,
  createEndpoint,
  deleteEndpoint,
  listEndpoints,
  maxEndpoints,
  pauseEndpoint,
  readTarget,
  replaceSecret,
  resendSince,
  resumeEndpoint,
} from './endpoints.ts';
import type { OutgoingConfig } from './outgoing-request.ts';

const withProof = { config: { needsRecentProof: true } } as const;
const bodiless = { config: { takesNoBody: true } } as const;
const bodilessWithProof = { config: { ...withProof.config, takesNoBody: true } } as const;
const deliveriesPerPage = 20;

interface Options {
  config: OutgoingConfig;
  database: Database;
  resources: readonly Definition[];
}

export async function webhookRoutes(app: FastifyInstance, options: Options): Promise<void> {
  addEndpointRoutes(app, options);
  addDeliveryRoutes(app, options);
}

function addEndpointRoutes(app: FastifyInstance, { config, database, resources }: Options): void {
  const form = endpointForm(
    config,
    resources.map(({ name }) => name),
  );

  app.get('/webhooks', async (request) => ({
    data: await inTenantOf(request, database, (client) => listEndpoints(client, request.tenantId)),
    most: maxEndpoints,
  }));

  app.post('/webhooks', withProof, async (request, reply) => {
    const asked = readForm(request, form);
    const made = await inTenantOf(request, database, async (client) => {
      const endpoint = await createEndpoint(client, request.tenantId, asked);
      await record(client, request, 'WEBHOOK_CREATED', endpoint.id);
      return endpoint;
    });
    reply.code(201);
    return made;
  });

  app.patch<IdRoute>('/webhooks/:id', withProof, async (request, reply) => {
    const changes = readForm(request, { ...form, url: optional(form.url) });
    await inTenantOf(request, database, async (client) => {
      const id = idOf(request);
      await readTarget(client, request.tenantId, id);
      await changeEndpoint(client, request.tenantId, id, changes);
      await record(client, request, 'WEBHOOK_CHANGED', id);
    });
    reply.code(204);
  });

  app.delete<IdRoute>('/webhooks/:id', withProof, async (request, reply) => {
    await inTenantOf(request, database, async (client) => {
      await record(client, request, 'WEBHOOK_DELETED', idOf(request));
      await deleteEndpoint(client, request.tenantId, idOf(request));
    });
    reply.code(204);
  });

  app.post<IdRoute>('/webhooks/:id/secret', bodilessWithProof, async (request) => {
    const secret = await inTenantOf(request, database, async (client) => {
      await record(client, request, 'WEBHOOK_CHANGED', idOf(request), { secret: 'replaced' });
      return replaceSecret(client, request.tenantId, idOf(request));
    });
    return { secret };
  });

  for (const [path, change, details] of [
    ['pause', pauseEndpoint, { paused: true }],
    ['resume', resumeEndpoint, { paused: false }],
  ] as const) {
    app.post<IdRoute>(`/webhooks/:id/${path}`, bodiless, async (request, reply) => {
      await inTenantOf(request, database, async (client) => {
        await change(client, request.tenantId, idOf(request));
        await record(client, request, 'WEBHOOK_CHANGED', idOf(request), details);
      });
      reply.code(204);
    });
  }
}

function addDeliveryRoutes(app: FastifyInstance, { config, database, resources }: Options): void {
  app.post<IdRoute>('/webhooks/:id/test', bodiless, async (request) =>
    sendTest({ config, database, tenantId: request.tenantId, webhookId: idOf(request) }),
  );

  app.get<IdRoute>('/webhooks/:id/deliveries', async (request) => {
    refuseUnknownParameters(request, ['before']);
    const { before } = request.query as { before?: unknown };
    if (before !== undefined && !(typeof before === 'string' && isUuid(before)))
      throw validationError([{ path: ['before'], code: 'invalid_cursor' }]);
    const page = { before, limit: deliveriesPerPage + 1 };
    const rows = await inTenantOf(request, database, (client) =>
      listDeliveries(client, request.tenantId, idOf(request), page),
    );
    const data = rows.slice(0, deliveriesPerPage);
    return { data, nextCursor: rows.length > data.length ? data.at(-1)!.id : null };
  });

  app.post<IdRoute>('/webhooks/:id/resend', async (request) => {
    const { since, deliveryId } = readForm(request, {
      since: optional(momentInput),
      deliveryId: optional(uuid),
    });
    const sending = { config, database, tenantId: request.tenantId, webhookId: idOf(request) };
    if (deliveryId) return resendDelivery(sending, resources, deliveryId);
    if (!since) throw validationError([{ path: ['since'], code: 'required' }]);
    return inTenantOf(request, database, async (client) => {
      await record(client, request, 'WEBHOOK_CHANGED', sending.webhookId, { resentSince: since });
      return resendSince(client, request.tenantId, sending.webhookId, since);
    });
  });
}

const momentInput: Input<Date> = {
  isRequired: true,
  read: (value): Reading<Date> =>
    typeof value === 'string' && isTimestamp(value)
      ? { value: new Date(value) }
      : { code: 'invalid_timestamp' },
};
