// The Idempotency-Key of an import: line n takes the key "<key>:<n>", in the transaction that writes it. The import holds
// one lock, so its lines need none each.
import { createHash } from 'node:crypto';
import type pg from 'pg';
import { hashKey } from '../../engine/sql/idempotency.ts';
import { RaceError } from '../../engine/sql/races.ts';
import { ApiError } from '../../errors.ts';
import type { CheckedLine } from './line-check.ts';
import type { Outcomes, Writer } from './line-outcomes.ts';

interface LineClaim {
  key: string;
  fingerprint: string;
}

function claimOf(key: string, { line }: CheckedLine): LineClaim {
  return {
    key: hashKey(`${key}:${line.number}`),
    fingerprint: createHash('sha256').update('/import\n').update(line.bytes).digest('hex'),
  };
}

/** Sets the outcomes of lines that an earlier request with the same Idempotency-Key stored. */
export async function answerRepeated(
  client: pg.ClientBase,
  { tenantId, idempotencyKey }: Writer,
  lines: readonly CheckedLine[],
  outcomes: Outcomes,
): Promise<void> {
  if (idempotencyKey === undefined) return;
  const claims = lines.map((line) => claimOf(idempotencyKey, line));
  const { rows } = await client.query<{ key: string; fingerprint: string; resource_id: string }>(
    `SELECT key, fingerprint, resource_id FROM idempotent_request
     WHERE tenant_id = $1 AND key = ANY ($2) AND created_at >= now() - interval '24 hours'`,
    [tenantId, claims.map(({ key }) => key)],
  );
  const known = new Map(rows.map((row) => [row.key, row]));
  lines.forEach((line, index) => {
    const { key, fingerprint } = claims[index]!;
    const earlier = known.get(key);
    if (!earlier) return;
    if (earlier.fingerprint === fingerprint)
      outcomes.set(line, { outcome: 'unchanged', id: earlier.resource_id, isReplay: true });
    else if (line.checked.fieldErrors.length === 0)
      outcomes.set(line, new ApiError('idempotency_key_reused'));
  });
}

/** Takes the keys of stored lines. A rejected line may be corrected and sent again under the same key. */
export async function keepKeys(
  client: pg.ClientBase,
  { tenantId, idempotencyKey }: Writer,
  outcomes: Outcomes,
): Promise<void> {
  if (idempotencyKey === undefined) return;
  const stored = [...outcomes].flatMap(([line, outcome]) =>
    outcome instanceof ApiError || outcome.isReplay
      ? []
      : [{ ...claimOf(idempotencyKey, line), resource_id: outcome.id }],
  );
  if (stored.length === 0) return;
  const { rowCount } = await client.query(
    `INSERT INTO idempotent_request AS known (tenant_id, key, fingerprint, resource_id)
     SELECT $1, key, fingerprint, resource_id
     FROM json_to_recordset($2) AS taken (key text, fingerprint text, resource_id uuid) ORDER BY key
     ON CONFLICT (tenant_id, key) DO UPDATE SET
       fingerprint = excluded.fingerprint, resource_id = excluded.resource_id, created_at = now()
       WHERE known.created_at < now() - interval '24 hours'`,
    [tenantId, JSON.stringify(stored)],
  );
  if (rowCount !== stored.length) throw new RaceError('Another request took a key meanwhile.');
}
