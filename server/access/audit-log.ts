// Security events of a business. The service can add them and read them, never change or delete one.
import { randomUUIDv7 } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import type pg from 'pg';
import { maskKeys } from '../http/log.ts';

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
  'CALENDAR_CREATED',
  'CALENDAR_REMOVED',
  'WEBHOOK_CREATED',
  'WEBHOOK_CHANGED',
  'WEBHOOK_DELETED',
  'DATA_EXPORTED',
  'DATA_ERASED',
  'SETTINGS_CHANGED',
  'BUSINESS_CREATED',
  'BUSINESS_RESTORED',
  'TEST_BUSINESS_CREATED',
  'TEST_BUSINESS_FILLED',
  'TEST_BUSINESS_RESET',
  'TEST_BUSINESS_REMOVED',
] as const;

export type AuditEvent = (typeof auditEvents)[number];

export interface AuditEntry {
  event: AuditEvent;
  /** The signed-in person or the key unless named: at sign-in there is no session yet. */
  actor?: { id: string | undefined; name: string };
  subject?: { id?: string | undefined; name?: string | undefined };
  /** Small facts. Never the content of a record: nothing here can be erased. */
  details?: Record<string, unknown>;
}

const auditActorTypes = ['PERSON', 'KEY', 'COMMAND_LINE', 'STRANGER'] as const;
type ActorType = (typeof auditActorTypes)[number];

interface Origin {
  type: ActorType;
  id?: string | undefined;
  name: string;
  address?: string;
  userAgent?: string;
  requestId?: string;
}

/** Events that happen before anybody has proved who they are; the id names the account that they are about. */
const unprovenEvents: ReadonlySet<AuditEvent> = new Set(['SIGN_IN_FAILED', 'PASSWORD_RESET_REQUESTED']);
const maxTextLength = 200;

/**
 * Belongs in the transaction that did what it records: both are stored, or neither. The log gets a line as well, by
 * which somebody who reads only the log can tell who did it.
 */
export async function recordAudit(
  client: pg.ClientBase,
  tenantId: string,
  request: FastifyRequest,
  entry: AuditEntry,
): Promise<void> {
  const origin = originOf(request, entry);
  await insertEntry(client, tenantId, origin, entry);
  request.server.log.info(
    {
      requestId: request.id,
      tenantId,
      event: entry.event,
      actorType: origin.type,
      personId: origin.id,
      subjectId: entry.subject?.id,
      address: request.ip,
    },
    'audit',
  );
}

/** The same for what the operator does at the command line. */
export async function recordCommand(
  client: pg.ClientBase,
  tenantId: string,
  entry: Omit<AuditEntry, 'actor'>,
): Promise<void> {
  await insertEntry(client, tenantId, { type: 'COMMAND_LINE', name: 'command line' }, entry);
}

function originOf(request: FastifyRequest, { event, actor }: AuditEntry): Origin {
  const { session } = request;
  const { id, name } = actor ?? { id: session?.person.id, name: session?.person.name ?? request.actor };
  const isUnproven = !session && unprovenEvents.has(event);
  const withoutId = actor ? 'STRANGER' : 'KEY';
  return {
    type: isUnproven ? 'STRANGER' : id ? 'PERSON' : withoutId,
    id,
    name,
    address: request.ip,
    userAgent: maskKeys(request.headers['user-agent'] ?? ''),
    requestId: request.id,
  };
}

async function insertEntry(
  client: pg.ClientBase,
  tenantId: string,
  origin: Origin,
  { event, subject, details }: AuditEntry,
): Promise<void> {
  await client.query(
    `INSERT INTO audit_entry (tenant_id, id, event, actor_type, actor_id, actor, subject_id, subject, address,
       user_agent, request_id, details)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`,
    [
      tenantId,
      randomUUIDv7(),
      event,
      origin.type,
      origin.id,
      storable(origin.name),
      subject?.id,
      subject?.name && storable(subject.name),
      origin.address,
      origin.userAgent && storable(origin.userAgent),
      origin.requestId,
      details && JSON.stringify(details),
    ],
  );
}

/** Strangers choose some of these texts, and PostgreSQL refuses some characters. */
function storable(text: string): string {
  return text.slice(0, maxTextLength).toWellFormed().replaceAll('\0', '\ufffd');
}
