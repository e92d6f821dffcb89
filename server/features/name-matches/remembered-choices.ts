// Choices that a business keeps for its next imports.
import { hash } from 'node:crypto';
import type pg from 'pg';
import type { Database } from '../../database/database.ts';

export function hashOf(key: string): string {
  return hash('sha256', key.trim());
}

/** The choice for each key, or null. */
export async function findChoices(
  database: Database,
  { tenantId, deadline }: { tenantId: string; deadline?: number },
  keys: readonly string[],
): Promise<(string | null)[]> {
  const hashes = keys.map(hashOf);
  const { rows } = await database.queryInTenants<{ key_hash: string; choice: string }>(
    [tenantId],
    {
      text: 'SELECT key_hash, choice FROM remembered_choice WHERE tenant_id = $1 AND key_hash = ANY ($2)',
      values: [tenantId, hashes],
    },
    { deadline },
  );
  const found = new Map(rows.map(({ key_hash, choice }) => [key_hash, choice]));
  return hashes.map((keyHash) => found.get(keyHash) ?? null);
}

/** A fixed value may name a person. */
export async function eraseRememberedChoices(client: pg.ClientBase, tenantId: string): Promise<void> {
  await client.query('DELETE FROM remembered_choice WHERE tenant_id = $1', [tenantId]);
}
