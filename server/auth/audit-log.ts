// Security events of a business. The service can add them and read them, never change or delete one.
import { randomUUIDv7 } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import type pg from 'pg';
import { maskKeys } from '../http/key-mask.ts';

export const auditEvents = [
  'SIGNED_IN',
  'SIGN_IN_FAILED',
  'SIGNED_OUT',
  'SIGNED_OUT_EVERYWHERE',
  'PASSWORD_CHANGED',
  'PASSWORD_RESET_REQUESTED',
  'PASSWORD_RESET',
  'PASSKEY_ADDED',
  'PASSKEY_REMOVED',
  'RECOVERY_CODES_CREATED',
  'RECOVERY_CODE_USED',
  'PERSON_INVITED',
  'INVITATION_WITHDRAWN',
  'PERSON_ADDED',
  'PERSON_CHANGED',
  'PERSON_REMOVED',
  'KEY_CREATED',
  'KEY_DELETED',
  'DATA_EXPORTED',
  'DATA_ERASED',
  'SETTINGS_CHANGED',
] as const;

export type AuditEvent = (typeof auditEvents)[number];

export interface AuditEntry {
  event: AuditEvent;
  /** The signed-in person unless named: at sign-in there is no session yet. */
  actor?: { id: string | undefined; name: string };
  subject?: { id?: string | undefined; name?: string | undefined };
  details?: Record<string, unknown>;
}

const maxUserAgentLength = 200;

/** Belongs in the transaction that did what it records: both are stored, or neither. */
export async function recordAudit(
  client: pg.ClientBase,
  tenantId: string,
  request: FastifyRequest,
  { event, actor, subject, details }: AuditEntry,
): Promise<void> {
  const { session } = request;
  const who = actor ?? { id: session?.person.id, name: session?.person.name ?? request.actor };
  await client.query(
    `INSERT INTO audit_entry
       (tenant_id, id, event, actor_id, actor, subject_id, subject, address, user_agent, request_id, details)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
    [
      tenantId,
      randomUUIDv7(),
      event,
      who.id,
      who.name,
      subject?.id,
      subject?.name,
      request.ip,
      maskKeys(request.headers['user-agent'] ?? '').slice(0, maxUserAgentLength),
      request.id,
      details && JSON.stringify(details),
    ],
  );
}
