// How far an endpoint has got. Each statement names the lease: a sender that lost it changes nothing.
import type { Database } from '../../database/database.ts';
import { deliveryColumns, deliveryValues } from './deliveries.ts';
import type { Wanted } from './endpoints.ts';
import type { Message } from './events.ts';
import type { Result } from './outgoing-request.ts';

export interface Claim {
  tenantId: string;
  id: string;
  lease: string;
}

export interface State extends Wanted {
  url: string;
  secret: string;
  previousSecret: string | null;
  realUrls: readonly string[];
  position: string;
  failedAttempts: number;
  /** The first entry that is left after the position; null where there is none. */
  firstEntry: string | null;
}

/** Undefined once somebody else has the lease, or the endpoint is paused or deleted. */
export async function readState(
  database: Database,
  { tenantId, id, lease }: Claim,
): Promise<State | undefined> {
  const { rows } = await database.queryInTenants<Omit<State, 'firstEntry'>>([tenantId], {
    name: 'webhook state',
    text: `SELECT url, resources, actions, exclude_origin AS "excludeOrigin", secret, last_position AS position, failed_attempts AS "failedAttempts",
        CASE WHEN previous_secret_ends_at > now() THEN previous_secret END AS "previousSecret",
        ARRAY(SELECT real_webhook_urls($1)) AS "realUrls"
      FROM webhook WHERE tenant_id = $1 AND id = $2 AND lease = $3 AND paused_at IS NULL`,
    values: [tenantId, id, lease],
  });
  const [state] = rows;
  if (!state) return undefined;
  const { rows: entries } = await database.queryInTenants<{ position: string }>([tenantId], {
    name: 'entry after',
    text: 'SELECT position FROM journal WHERE tenant_id = $1 AND position > $2 ORDER BY position LIMIT 1',
    values: [tenantId, state.position],
  });
  return { ...state, firstEntry: entries[0]?.position ?? null };
}

const fence = 'tenant_id = $1 AND id = $2 AND lease = $3';

/** Moves on past a message that arrived; answers whether the endpoint goes on. */
export async function recordSuccess(
  database: Database,
  { tenantId, id, lease }: Claim,
  message: Message,
  result: Result,
): Promise<boolean> {
  const { rows } = await database.queryInTenants<{ goes_on: boolean }>([tenantId], {
    name: 'webhook success',
    text: `WITH moved AS (
        UPDATE webhook SET last_position = $6, failed_attempts = 0, failing_since = NULL
        WHERE ${fence} AND last_position < $6 RETURNING paused_at IS NULL AS goes_on
      ), logged AS (
        INSERT INTO webhook_delivery (tenant_id, webhook_id, ${deliveryColumns})
        SELECT $1, $2, $4, $5, $6, $7, $8, $9, $10 FROM moved
      )
      SELECT goes_on FROM moved`,
    values: [tenantId, id, lease, ...deliveryValues(message, result)],
  });
  return rows[0]?.goes_on ?? false;
}

export interface Failure {
  message: Message;
  result: Result;
  pauseSeconds: number;
  giveUpAfterSeconds: number;
}

/** Ends the lease until the next attempt. Answers why the endpoint is paused, if it is paused because of this failure. */
export async function recordFailure(
  database: Database,
  { tenantId, id, lease }: Claim,
  { message, result, pauseSeconds, giveUpAfterSeconds }: Failure,
): Promise<'GONE' | 'FAILED' | undefined> {
  const { rows } = await database.queryInTenants<{ because: 'GONE' | 'FAILED' | null }>([tenantId], {
    name: 'webhook failure',
    text: `WITH tried AS (
        SELECT tenant_id, id, paused_because IS NULL AND CASE
            WHEN $7 = 410 THEN true
            ELSE coalesce(failing_since, now()) <= now() - make_interval(secs => $12) END AS is_over
        FROM webhook WHERE ${fence} FOR UPDATE
      ), failed AS (
        UPDATE webhook SET lease = NULL, leased_until = NULL, failed_attempts = failed_attempts + 1,
          failing_since = coalesce(failing_since, now()), next_attempt_at = now() + make_interval(secs => $11),
          paused_at = CASE WHEN is_over THEN now() ELSE paused_at END,
          paused_because = CASE WHEN NOT is_over THEN paused_because WHEN $7 = 410 THEN 'GONE' ELSE 'FAILED' END
        FROM tried WHERE webhook.tenant_id = tried.tenant_id AND webhook.id = tried.id
        RETURNING CASE WHEN is_over THEN paused_because END AS because
      ), logged AS (
        INSERT INTO webhook_delivery (tenant_id, webhook_id, ${deliveryColumns})
        SELECT $1, $2, $4, $5, $6, $7, $8, $9, $10 FROM failed
      )
      SELECT because FROM failed`,
    values: [tenantId, id, lease, ...deliveryValues(message, result), pauseSeconds, giveUpAfterSeconds],
  });
  return rows[0]?.because ?? undefined;
}

/** Moves on past entries that the endpoint does not want. */
export async function skipTo(
  database: Database,
  { tenantId, id, lease }: Claim,
  position: string,
): Promise<void> {
  await database.queryInTenants([tenantId], {
    name: 'webhook skip',
    text: `UPDATE webhook SET last_position = $4 WHERE ${fence} AND last_position < $4`,
    values: [tenantId, id, lease, position],
  });
}

/** Moves on past entries that are gone from the journal, and says so in the log. */
export async function skipMissing(
  database: Database,
  claim: Claim,
  { position, firstEntry }: State,
): Promise<void> {
  const message = { type: 'journal.skipped', position };
  const result: Result = {
    status: undefined,
    error: 'skipped',
    durationMs: 0,
    answer: `${BigInt(firstEntry!) - BigInt(position) - 1n}`,
    retryAfterSeconds: undefined,
  };
  const { tenantId, id, lease } = claim;
  await database.queryInTenants([tenantId], {
    text: `WITH moved AS (UPDATE webhook SET last_position = $4 WHERE ${fence} AND last_position < $4 RETURNING 1)
      INSERT INTO webhook_delivery (tenant_id, webhook_id, ${deliveryColumns})
      SELECT $1, $2, $5, $6, $7, $8, $9, $10, $11 FROM moved`,
    values: [tenantId, id, lease, `${BigInt(firstEntry!) - 1n}`, ...deliveryValues(message, result)],
  });
}

/** Lets another sender have it. An endpoint with more to send takes its place behind those that wait longer. */
export async function release(
  database: Database,
  { tenantId, id, lease }: Claim,
  hasMore: boolean,
): Promise<void> {
  await database.queryInTenants([tenantId], {
    name: 'webhook release',
    text: `UPDATE webhook SET lease = NULL, leased_until = NULL,
      next_attempt_at = CASE WHEN $4 THEN now() ELSE next_attempt_at END WHERE ${fence}`,
    values: [tenantId, id, lease, hasMore],
  });
}
