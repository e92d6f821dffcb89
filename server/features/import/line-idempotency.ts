// The Idempotency-Key of an import: line n takes the key "<key>:<n>", in the transaction that writes it. Lines come by
// the hundred and the whole import holds a lock of its own, so that they need no lock each.
import { createHash } from 'node:crypto';
import type pg from 'pg';
import { hashKey } from '../../engine/sql/idempotency.ts';
import { ApiError } from '../../errors.ts';
import type { Line } from './lines.ts';

export interface LineClaim {
  key: string;
  fingerprint: string;
  resourceId: string;
}

export function claimLine(key: string, line: Line & { bytes: Buffer }, resourceId: string): LineClaim {
  return {
    key: hashKey(`${key}:${line.number}`),
    fingerprint: createHash('sha256').update('/import\n').update(line.bytes).digest('hex'),
    resourceId,
  };
}

/** Takes the keys that are free, and answers for the others: with the id of what they made, or that they were reused. */
export async function takeKeys(
  client: pg.ClientBase,
  tenantId: string,
  claims: readonly LineClaim[],
): Promise<Map<string, { id: string } | ApiError>> {
  const { rows } = await client.query<{ key: string; is_same: boolean; resource_id: string }>(
    `
      WITH asked AS MATERIALIZED (
        SELECT * FROM json_to_recordset($2) AS asked (key text, fingerprint text, "resourceId" uuid)
      ), taken AS (
        INSERT INTO idempotent_request AS known (tenant_id, key, fingerprint, resource_id)
        SELECT $1, key, fingerprint, "resourceId" FROM asked ORDER BY key
        ON CONFLICT (tenant_id, key) DO UPDATE SET
          fingerprint = excluded.fingerprint, resource_id = excluded.resource_id, created_at = now()
          WHERE known.created_at < now() - interval '24 hours'
        RETURNING key
      )
      SELECT key, known.fingerprint = asked.fingerprint AS is_same, known.resource_id
      FROM asked JOIN idempotent_request AS known USING (key)
      WHERE known.tenant_id = $1 AND key NOT IN (SELECT taken.key FROM taken)`,
    [tenantId, JSON.stringify(claims)],
  );
  return new Map(
    rows.map(({ key, is_same: isSame, resource_id: id }) => [
      key,
      isSame ? { id } : new ApiError('idempotency_key_reused'),
    ]),
  );
}

/** What made no row may be corrected and sent again under the same key. */
export async function releaseKeys(
  client: pg.ClientBase,
  tenantId: string,
  keys: readonly string[],
): Promise<void> {
  if (keys.length === 0) return;
  await client.query('DELETE FROM idempotent_request WHERE tenant_id = $1 AND key = ANY ($2)', [
    tenantId,
    keys,
  ]);
}
