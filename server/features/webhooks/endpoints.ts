// The endpoints of a business: made, changed, paused and removed, in a transaction that somebody else opens.
import { randomBytes, randomUUIDv7 } from 'node:crypto';
import type pg from 'pg';
import { ApiError, type FieldError, validationError } from '../../errors.ts';
import { isReceiverAmong, type OutgoingConfig, refuseUrl } from './outgoing-request.ts';

export const maxEndpoints = 10;
export const maxUrlLength = 2000;
const secretBytes = 32;
const secretOverlap = '24 hours';

export const changeActions = ['CREATED', 'CHANGED', 'DELETED'] as const;

/** Which changes an endpoint receives. */
export interface Wanted {
  resources: readonly string[] | null;
  actions: readonly string[] | null;
  /** Leaves out what this system wrote itself. */
  excludeOrigin: string | null;
}

/** Null is all of them, and leaves nobody out. */
export const everything: Wanted = { resources: null, actions: null, excludeOrigin: null };

export interface Endpoint extends Wanted {
  id: string;
  url: string;
  createdAt: Date;
  pausedAt: Date | null;
  pausedBecause: 'ASKED' | 'GONE' | 'FAILED' | null;
  failingSince: Date | null;
  nextAttemptAt: Date | null;
  /** Entries of the journal that it has not passed yet. */
  waitingEntries: number;
  previousSecretEndsAt: Date | null;
  lastDelivery: { at: string; status: number | null; error: string | null } | null;
}

const columns = `webhook.id, webhook.url, webhook.resources, webhook.actions, webhook.exclude_origin AS "excludeOrigin",
  webhook.created_at AS "createdAt",
  webhook.paused_at AS "pausedAt", webhook.paused_because AS "pausedBecause", webhook.failing_since AS "failingSince",
  CASE WHEN webhook.failing_since IS NOT NULL AND webhook.paused_at IS NULL THEN webhook.next_attempt_at END AS "nextAttemptAt",
  greatest($2 - webhook.last_position, 0)::integer AS "waitingEntries",
  CASE WHEN webhook.previous_secret_ends_at > now() THEN webhook.previous_secret_ends_at END AS "previousSecretEndsAt",
  (SELECT json_build_object('at', latest.at, 'status', latest.status, 'error', latest.error)
   FROM webhook_delivery AS latest WHERE latest.tenant_id = webhook.tenant_id AND latest.webhook_id = webhook.id
   ORDER BY latest.id DESC LIMIT 1) AS "lastDelivery"`;

export async function listEndpoints(client: pg.ClientBase, tenantId: string): Promise<Endpoint[]> {
  const { rows } = await client.query<Endpoint>(
    `SELECT ${columns} FROM webhook WHERE webhook.tenant_id = $1 ORDER BY webhook.id`,
    [tenantId, await readLastPosition(client, tenantId)],
  );
  return rows;
}

export async function readEndpoint(client: pg.ClientBase, tenantId: string, id: string): Promise<Endpoint> {
  const found = (await listEndpoints(client, tenantId)).find((endpoint) => endpoint.id === id);
  if (!found) throw new ApiError('not_found');
  return found;
}

/** A statement of its own: journals may be on another machine than endpoints. */
async function readLastPosition(client: pg.ClientBase, tenantId: string): Promise<string> {
  const { rows } = await client.query<{ last_position: string }>(
    'SELECT last_position FROM journal_head WHERE tenant_id = $1',
    [tenantId],
  );
  return rows[0]?.last_position ?? '0';
}

/** The error of an address, as far as it shows without a request. */
export function urlError(config: OutgoingConfig, url: string): Omit<FieldError, 'path'> | undefined {
  if (url.length > maxUrlLength) return { code: 'too_long', params: { max: maxUrlLength } };
  if (!URL.canParse(url)) return { code: 'invalid_url' };
  const { protocol, username, password, hash } = new URL(url);
  const isWeb = protocol === 'https:' || protocol === 'http:';
  if (!isWeb || username || password || hash) return { code: 'invalid_url' };
  return {
    https_required: { code: 'https_required' },
    address_refused: { code: 'private_address' },
    none: undefined,
  }[refuseUrl(config, url) ?? 'none'] as Omit<FieldError, 'path'> | undefined;
}

/** A test business must not send to a receiver of its real business. Sending checks it again, as that may change. */
async function demandOwnReceiver(client: pg.ClientBase, tenantId: string, url: string): Promise<void> {
  const { rows } = await client.query<{ url: string }>('SELECT real_webhook_urls($1) AS url', [tenantId]);
  const realUrls = rows.map((row) => row.url);
  if (isReceiverAmong(url, realUrls))
    throw validationError([{ path: ['url'], code: 'address_of_real_business' }]);
}

/** Begins with the next change. The secret is answered here and never again. */
export async function createEndpoint(
  client: pg.ClientBase,
  tenantId: string,
  { url, ...filters }: { url: string } & Partial<Wanted>,
): Promise<{ id: string; secret: string }> {
  const { resources, actions, excludeOrigin } = { ...everything, ...filters };
  // Two that are made at the same moment are counted one after the other.
  const tenant = await client.query('SELECT FROM tenant WHERE tenant_id = $1 FOR NO KEY UPDATE', [tenantId]);
  if (tenant.rowCount === 0) throw new ApiError('not_found');
  const { rows } = await client.query<{ count: number }>(
    'SELECT count(*)::integer AS count FROM webhook WHERE tenant_id = $1',
    [tenantId],
  );
  if (rows[0]!.count >= maxEndpoints) throw new ApiError('too_many_webhooks');
  await demandOwnReceiver(client, tenantId, url);
  const [id, secret] = [randomUUIDv7(), makeSecret()];
  await client.query(
    `INSERT INTO webhook (tenant_id, id, url, resources, actions, exclude_origin, secret, last_position)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
    [
      tenantId,
      id,
      new URL(url).href,
      resources,
      actions,
      excludeOrigin,
      secret,
      await readLastPosition(client, tenantId),
    ],
  );
  return { id, secret };
}

/** The creation's answer, for a retry with the same Idempotency-Key. */
export async function readSecret(
  client: pg.ClientBase,
  tenantId: string,
  id: string,
): Promise<{ id: string; secret: string }> {
  const { rows } = await client.query<{ id: string; secret: string }>(
    'SELECT id, secret FROM webhook WHERE tenant_id = $1 AND id = $2',
    [tenantId, id],
  );
  if (!rows[0]) throw new ApiError('not_found');
  return rows[0];
}

function makeSecret(): string {
  return `whsec_${randomBytes(secretBytes).toString('base64')}`;
}

/** Signs messages with both secrets for a day. */
export async function replaceSecret(client: pg.ClientBase, tenantId: string, id: string): Promise<string> {
  const secret = makeSecret();
  await change(
    client,
    tenantId,
    id,
    `previous_secret = secret, previous_secret_ends_at = now() + interval '${secretOverlap}', secret = $3`,
    [secret],
  );
  return secret;
}

export async function changeEndpoint(
  client: pg.ClientBase,
  tenantId: string,
  id: string,
  {
    url,
    resources,
    actions,
    excludeOrigin,
  }: { url?: string | undefined } & {
    [Name in keyof Wanted]?: Wanted[Name] | undefined;
  },
): Promise<void> {
  if (url !== undefined) await demandOwnReceiver(client, tenantId, url);
  const values = { url: url && new URL(url).href, resources, actions, exclude_origin: excludeOrigin };
  for (const [column, value] of Object.entries(values))
    if (value !== undefined) await change(client, tenantId, id, `${column} = $3`, [value]);
}

export async function pauseEndpoint(client: pg.ClientBase, tenantId: string, id: string): Promise<void> {
  await change(
    client,
    tenantId,
    id,
    `paused_because = coalesce(paused_because, 'ASKED'), paused_at = coalesce(paused_at, now())`,
  );
}

/** Goes on where it stopped, and immediately: also for an endpoint that waits for its next attempt. */
export async function resumeEndpoint(client: pg.ClientBase, tenantId: string, id: string): Promise<void> {
  await change(
    client,
    tenantId,
    id,
    `paused_because = NULL, paused_at = NULL, failing_since = NULL, failed_attempts = 0, next_attempt_at = now()`,
  );
}

export async function deleteEndpoint(client: pg.ClientBase, tenantId: string, id: string): Promise<void> {
  const { rowCount } = await client.query('DELETE FROM webhook WHERE tenant_id = $1 AND id = $2', [
    tenantId,
    id,
  ]);
  if (rowCount === 0) throw new ApiError('not_found');
  // The Idempotency-Key that created it is free again: there is no secret left to answer.
  await client.query('DELETE FROM idempotent_request WHERE tenant_id = $1 AND resource_id = $2', [
    tenantId,
    id,
  ]);
}

/**
 * Moves the cursor back to the first delivery since a moment: everything after it is sent again, in order. The lease
 * ends, so a sender that is at work cannot move it forward again. Answers when that first delivery was.
 */
export async function resendSince(
  client: pg.ClientBase,
  tenantId: string,
  id: string,
  since: Date,
): Promise<{ from: Date | null; entries: number }> {
  const { rows } = await client.query<{ from: Date; entries: number }>(
    `WITH sent AS (
       SELECT min(position) AS position, min(at) AS at FROM webhook_delivery
       WHERE tenant_id = $1 AND webhook_id = $2 AND at >= $3 AND position IS NOT NULL AND error IS DISTINCT FROM 'skipped'
     )
     UPDATE webhook SET last_position = sent.position - 1, lease = NULL, leased_until = NULL, failed_attempts = 0,
       failing_since = NULL, next_attempt_at = now()
     FROM sent WHERE tenant_id = $1 AND id = $2 AND sent.position IS NOT NULL AND sent.position <= last_position
     RETURNING sent.at AS from, ($4 - sent.position + 1)::integer AS entries`,
    [tenantId, id, since, await readLastPosition(client, tenantId)],
  );
  if (rows[0]) return rows[0];
  await change(client, tenantId, id, 'url = url');
  return { from: null, entries: 0 };
}

async function change(
  client: pg.ClientBase,
  tenantId: string,
  id: string,
  assignment: string,
  values: readonly unknown[] = [],
): Promise<void> {
  const { rowCount } = await client.query(
    `UPDATE webhook SET ${assignment} WHERE tenant_id = $1 AND id = $2`,
    [tenantId, id, ...values],
  );
  if (rowCount === 0) throw new ApiError('not_found');
}

/** Targets of messages, and their signatures. */
export async function readTarget(client: pg.ClientBase, tenantId: string, id: string) {
  const { rows } = await client.query<{
    url: string;
    secret: string;
    previousSecret: string | null;
    realUrls: string[];
  }>(
    `SELECT url, secret, CASE WHEN previous_secret_ends_at > now() THEN previous_secret END AS "previousSecret",
       ARRAY(SELECT real_webhook_urls($1)) AS "realUrls"
     FROM webhook WHERE tenant_id = $1 AND id = $2`,
    [tenantId, id],
  );
  if (!rows[0]) throw new ApiError('not_found');
  return rows[0];
}
