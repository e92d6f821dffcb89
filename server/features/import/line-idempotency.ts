// The Idempotency-Key of an import: line n takes the key "<key>:<n>", in the transaction that writes it. The import holds
// one lock, so its lines need none each.
import { createHash } from 'node:crypto';
import type pg from 'pg';
import { hashKey } from '../../engine/sql/idempotency.ts';
import { newObjectId } from '../../engine/sql/object-id.ts';
import { ApiError } from '../../errors.ts';
import type { CheckedLine } from './line-check.ts';
import type { Outcomes, Writer } from './line-outcomes.ts';
import type { Line } from './lines.ts';

interface LineClaim {
  key: string;
  fingerprint: string;
  resourceId: string;
}

/** A line to write, with the id of its object if there is one. */
interface Claimable {
  line: CheckedLine;
  id: string | undefined;
}

/** Sets the outcomes of lines that an earlier request with the same Idempotency-Key stored, and returns the others. */
export async function takeLines<Item extends Claimable>(
  client: pg.ClientBase,
  { tenantId, idempotencyKey }: Writer,
  items: readonly Item[],
  outcomes: Outcomes,
): Promise<(Item & { claim: LineClaim | undefined })[]> {
  if (idempotencyKey === undefined || items.length === 0)
    return items.map((item) => ({ ...item, claim: undefined }));
  const claimed = items.map((item) => ({
    ...item,
    claim: claimLine(idempotencyKey, item.line.line, item.id ?? newObjectId()),
  }));
  const replies = await takeKeys(
    client,
    tenantId,
    claimed.map(({ claim }) => claim),
  );
  return claimed.filter(({ line, claim }) => {
    const reply = replies.get(claim.key);
    if (!reply) return true;
    outcomes.set(
      line,
      reply instanceof ApiError ? reply : { outcome: 'unchanged', id: reply.id, isReplay: true },
    );
    return false;
  });
}

/** A rejected line may be corrected and sent again under the same key. */
export async function releaseRefused(
  client: pg.ClientBase,
  tenantId: string,
  items: readonly { line: CheckedLine; claim: LineClaim | undefined }[],
  outcomes: Outcomes,
): Promise<void> {
  const refused = items.filter(({ line, claim }) => claim && outcomes.get(line) instanceof ApiError);
  await releaseKeys(
    client,
    tenantId,
    refused.map(({ claim }) => claim!.key),
  );
}

function claimLine(key: string, line: Line & { bytes: Buffer }, resourceId: string): LineClaim {
  return {
    key: hashKey(`${key}:${line.number}`),
    fingerprint: createHash('sha256').update('/import\n').update(line.bytes).digest('hex'),
    resourceId,
  };
}

/** Takes the free keys. Answers for the others: with the id of their object, or that they were reused. */
async function takeKeys(
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

async function releaseKeys(client: pg.ClientBase, tenantId: string, keys: readonly string[]): Promise<void> {
  if (keys.length === 0) return;
  await client.query('DELETE FROM idempotent_request WHERE tenant_id = $1 AND key = ANY ($2)', [
    tenantId,
    keys,
  ]);
}
