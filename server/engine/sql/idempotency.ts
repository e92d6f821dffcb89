// Requests with the same Idempotency-Key and body create one row. For a day they get the same answer, on any node.
import { createHash, hash } from 'node:crypto';
import type pg from 'pg';
import type { Database } from '../../database/database.ts';
import { ApiError, validationError } from '../../errors.ts';
import type { Author } from '../../http/conventions.ts';
import type { NewRow } from './rows.ts';

export interface IdempotencyClaim {
  /** The hash of what was sent. */
  key: string;
  fingerprint: string;
}

/** A row to create, with its Idempotency-Key if the request has one. */
export interface Creation {
  row: NewRow;
  author: Author;
  claim?: IdempotencyClaim;
  /** Whether the new object is answered, beside its id. */
  wantsObject?: boolean;
}

const maxKeyLength = 255;

/** Only the hash is stored: a key may name a person, and must stay taken after an erasure. */
export function hashKey(key: string): string {
  return hash('sha256', key);
}

/** The claim of a request's header, if it has one. */
export function readClaim(
  key: string | string[] | undefined,
  path: string,
  body: Buffer,
): IdempotencyClaim | undefined {
  if (key === undefined) return undefined;
  const text = String(key);
  if (text.trim() === '') throw validationError([{ path: ['Idempotency-Key'], code: 'blank' }]);
  if (text.length > maxKeyLength) {
    throw validationError([{ path: ['Idempotency-Key'], code: 'too_long', params: { max: maxKeyLength } }]);
  }
  return {
    key: hashKey(text),
    fingerprint: createHash('sha256').update(path).update('\n').update(body).digest('hex'),
  };
}

type Reply = { id: string; isReplay: boolean } | ApiError;

/**
 * Claims the keys of these creations. Answers those that need no row: replayed, in progress elsewhere, or used for
 * another body. An advisory lock detects "in progress" without waiting; it ends with the transaction.
 */
export async function claimKeys(
  client: pg.ClientBase,
  creations: readonly Creation[],
): Promise<Map<Creation, Reply>> {
  const replies = new Map<Creation, Reply>();
  const claimed = new Map<string, Creation>();
  for (const creation of creations) {
    if (!creation.claim) continue;
    const name = nameOf(creation);
    if (claimed.has(name)) replies.set(creation, new ApiError('request_in_progress'));
    else claimed.set(name, creation);
  }
  if (claimed.size === 0) return replies;

  const { rows } = await client.query<{ name: string; is_free: boolean; is_taken: boolean }>(takeKeys, [
    JSON.stringify(
      [...claimed].map(([name, { row, claim }]) => ({
        name,
        tenant_id: row.tenant_id,
        key: claim!.key,
        fingerprint: claim!.fingerprint,
        resource_id: row.id,
      })),
    ),
  ]);
  const repeated: Creation[] = [];
  for (const { name, is_free: isFree, is_taken: isTaken } of rows) {
    const creation = claimed.get(name)!;
    if (!isFree) replies.set(creation, new ApiError('request_in_progress'));
    else if (!isTaken) repeated.push(creation);
  }
  for (const [creation, reply] of await replay(client, repeated)) replies.set(creation, reply);
  return replies;
}

const takeKeys = `
  WITH asked AS MATERIALIZED (
    SELECT *, pg_try_advisory_xact_lock(hashtextextended(name, 7882002)) AS is_free
    FROM json_to_recordset($1) AS asked (name text, tenant_id uuid, key text, fingerprint text, resource_id uuid)
  ), taken AS (
    INSERT INTO idempotent_request AS known (tenant_id, key, fingerprint, resource_id)
    SELECT tenant_id, key, fingerprint, resource_id FROM asked WHERE is_free ORDER BY tenant_id, key
    ON CONFLICT (tenant_id, key) DO UPDATE SET
      fingerprint = excluded.fingerprint, resource_id = excluded.resource_id, created_at = now()
      WHERE known.created_at < now() - interval '24 hours'
    RETURNING tenant_id, key
  )
  SELECT name, is_free, taken.key IS NOT NULL AS is_taken FROM asked LEFT JOIN taken USING (tenant_id, key)`;

/** The original answers that these creations replay. */
async function replay(client: pg.ClientBase, repeated: readonly Creation[]): Promise<[Creation, Reply][]> {
  if (repeated.length === 0) return [];
  const { rows } = await client.query<{ place: string; fingerprint: string; resource_id: string }>(
    `SELECT sought.place, known.fingerprint, known.resource_id
     FROM unnest($1::uuid[], $2::text[]) WITH ORDINALITY AS sought (tenant_id, key, place),
       LATERAL (SELECT fingerprint, resource_id FROM idempotent_request AS earlier
         WHERE earlier.tenant_id = sought.tenant_id AND earlier.key = sought.key LIMIT 1) AS known`,
    [repeated.map(({ row }) => row.tenant_id), repeated.map(({ claim }) => claim!.key)],
  );
  const known = new Map(rows.map((row) => [Number(row.place) - 1, row]));
  return repeated.map((creation, index) => {
    const earlier = known.get(index);
    if (!earlier) return [creation, new ApiError('request_in_progress')];
    if (earlier.fingerprint !== creation.claim!.fingerprint)
      return [creation, new ApiError('idempotency_key_reused')];
    return [creation, { id: earlier.resource_id, isReplay: true }];
  });
}

export async function releaseKeys(client: pg.ClientBase, creations: readonly Creation[]): Promise<void> {
  for (const [tenantId, own] of Map.groupBy(creations, ({ row }) => row.tenant_id)) {
    const keys = own.map(({ claim }) => claim!.key);
    await client.query('DELETE FROM idempotent_request WHERE tenant_id = $1 AND key = ANY ($2)', [
      tenantId,
      keys,
    ]);
  }
}

function nameOf({ row, claim }: Creation): string {
  return `${row.tenant_id} ${claim!.key}`;
}

/** Keys are free again after a day. If the database is away, the next run removes them. */
export async function forgetOldRequests(database: Database): Promise<void> {
  await database.pool.query('SELECT forget_old_requests()');
}
