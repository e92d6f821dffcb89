import type { FastifyRequest } from 'fastify';
import type pg from 'pg';
import { type AuditEvent, recordAudit } from '../../access/audit-log.ts';
import { readTarget } from './endpoints.ts';

/** Names the endpoint by its host: a path may hold a token. */
export async function record(
  client: pg.ClientBase,
  request: FastifyRequest,
  event: AuditEvent,
  id: string,
  details?: Record<string, unknown>,
): Promise<void> {
  const { url } = await readTarget(client, request.tenantId, id);
  const subject = { id, name: new URL(url).host };
  await recordAudit(client, request.tenantId, request, { event, subject, ...(details && { details }) });
}
