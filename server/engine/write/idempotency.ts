// Writes with the same Idempotency-Key and body happen once. For a day they get the same answer, on any node.
import { createHash, hash } from 'node:crypto';
import type pg from 'pg';
import type { Database } from '../../database/database.ts';
import { ApiError, validationError } from '../../errors.ts';
import type { Claim, Intent, Outcome } from './intent.ts';
import { RaceError } from './races.ts';

export const maxKeyLength = 255;

export function buildClaim(key: string, path: string, body: Buffer): Claim {
  return {
    key: hash('sha256', key),
    fingerprint: createHash('sha256').update(path).update('\n').update(body).digest('hex'),
  };
}

/** An intent, or a request that creates something else. */
type Claimed = Pick<Intent, 'tenantId' | 'claim'>;

/** The claim of a request's header, if it has one. */
export function readClaim(key: string | string[] | undefined, path: string, body: Buffer): Claim | undefined {
  if (key === undefined) return undefined;
  const text = String(key);
  if (text.trim() === '') throw validationError([{ path: ['Idempotency-Key'], code: 'blank' }]);
  if (text.length > maxKeyLength) {
    throw validationError([{ path: ['Idempotency-Key'], code: 'too_long', params: { max: maxKeyLength } }]);
  }
  return buildClaim(text, path, body);
}

/**
 * The outcomes of intents that are not written: repeated, in progress elsewhere, or with a key that was used for another
 * body. An advisory lock detects "in progress" without waiting; it ends with the transaction.
 */
export async function answerRepeated<One extends Claimed>(
  client: pg.ClientBase,
  intents: readonly One[],
): Promise<Map<One, Outcome>> {
  const outcomes = new Map<One, Outcome>();
  const claimed = new Map<string, One>();
  for (const intent of intents) {
    if (!intent.claim) continue;
    const name = `${intent.tenantId} ${intent.claim.key}`;
    if (claimed.has(name)) outcomes.set(intent, new ApiError('request_in_progress'));
    else claimed.set(name, intent);
  }
  if (claimed.size === 0) return outcomes;
  const asked = [...claimed].map(([name, { tenantId, claim }]) => ({
    name,
    tenant_id: tenantId,
    key: claim!.key,
    is_alone: claim!.isAlone,
  }));
  const { rows } = await client.query<Known>(findKeys, [JSON.stringify(asked)]);
  for (const { name, is_free: isFree, fingerprint, resource_id: id } of rows) {
    const intent = claimed.get(name)!;
    if (!isFree) outcomes.set(intent, new ApiError('request_in_progress'));
    else if (fingerprint === intent.claim!.fingerprint)
      outcomes.set(intent, { what: 'repeated', id, version: 0 });
    else if (fingerprint !== null) outcomes.set(intent, new ApiError('idempotency_key_reused'));
  }
  return outcomes;
}

interface Known {
  name: string;
  is_free: boolean;
  fingerprint: string | null;
  resource_id: string;
}

const findKeys = `
  WITH asked AS MATERIALIZED (
    SELECT *, is_alone IS TRUE OR pg_try_advisory_xact_lock(hashtextextended(name, 7882002)) AS is_free
    FROM json_to_recordset($1) AS asked (name text, tenant_id uuid, key text, is_alone boolean)
  )
  SELECT asked.name, asked.is_free, known.fingerprint, known.resource_id FROM asked LEFT JOIN LATERAL (
    SELECT earlier.fingerprint, earlier.resource_id FROM idempotent_request AS earlier
    WHERE earlier.tenant_id = asked.tenant_id AND earlier.key = asked.key
      AND earlier.created_at >= now() - interval '24 hours' LIMIT 1) AS known ON true`;

/** Takes the keys of what was written. A rejected body can be corrected and sent again under the same key. */
export async function keepKeys(
  client: pg.ClientBase,
  outcomes: ReadonlyMap<Claimed, Outcome>,
): Promise<void> {
  const kept = [...outcomes].flatMap(([{ tenantId, claim }, outcome]) =>
    !claim || outcome instanceof ApiError || outcome.what === 'repeated'
      ? []
      : [{ tenant_id: tenantId, key: claim.key, fingerprint: claim.fingerprint, resource_id: outcome.id }],
  );
  if (kept.length === 0) return;
  const { rowCount } = await client.query(
    `INSERT INTO idempotent_request AS known (tenant_id, key, fingerprint, resource_id)
     SELECT tenant_id, key, fingerprint, resource_id
     FROM json_to_recordset($1) AS taken (tenant_id uuid, key text, fingerprint text, resource_id uuid)
     ORDER BY tenant_id, key
     ON CONFLICT (tenant_id, key) DO UPDATE SET
       fingerprint = excluded.fingerprint, resource_id = excluded.resource_id, created_at = now()
       WHERE known.created_at < now() - interval '24 hours'`,
    [JSON.stringify(kept)],
  );
  if (rowCount !== kept.length) throw new RaceError('Another request took a key meanwhile.');
}

/** Keys are free again after a day. If the database is away, the next run removes them. */
export async function forgetOldRequests(database: Database): Promise<void> {
  await database.pool.query('SELECT forget_old_requests()');
}
