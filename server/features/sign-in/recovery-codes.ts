// One-time codes that replace a passkey in a sign-in. Everything here runs in a transaction of the business.
import type pg from 'pg';
import { hashToken, makePassword } from '../../access/secrets.ts';

const codeCount = 10;

/** Ends the earlier codes of the person. The new ones are stored as hashes only. */
export async function replaceRecoveryCodes(
  client: pg.ClientBase,
  tenantId: string,
  personId: string,
): Promise<string[]> {
  // Two replacements at the same moment follow each other: the codes of one of them are good, never both.
  await client.query('SELECT FROM person WHERE tenant_id = $1 AND id = $2 FOR UPDATE', [tenantId, personId]);
  await endRecoveryCodes(client, tenantId, personId);
  const codes = Array.from({ length: codeCount }, makePassword);
  await client.query(
    'INSERT INTO recovery_code (tenant_id, person_id, code_hash) SELECT $1, $2, unnest($3::bytea[])',
    [tenantId, personId, codes.map(hashCode)],
  );
  return codes;
}

export async function endRecoveryCodes(client: pg.ClientBase, tenantId: string, personId: string) {
  await client.query('DELETE FROM recovery_code WHERE tenant_id = $1 AND person_id = $2', [
    tenantId,
    personId,
  ]);
}

/** False for a code that is wrong or already used. Of two uses at the same moment one succeeds. */
export async function redeemRecoveryCode(
  client: pg.ClientBase,
  tenantId: string,
  personId: string,
  code: string,
): Promise<boolean> {
  const { rowCount } = await client.query(
    'DELETE FROM recovery_code WHERE tenant_id = $1 AND person_id = $2 AND code_hash = $3',
    [tenantId, personId, hashCode(code)],
  );
  return rowCount === 1;
}

export async function countRecoveryCodes(
  client: pg.ClientBase,
  tenantId: string,
  personId: string,
): Promise<number> {
  const { rows } = await client.query<{ count: number }>(
    'SELECT count(*)::integer AS count FROM recovery_code WHERE tenant_id = $1 AND person_id = $2',
    [tenantId, personId],
  );
  return rows[0]!.count;
}

/** People type codes in capitals, with spaces, or without the dashes. */
function hashCode(code: string): Buffer {
  return hashToken(code.toLowerCase().replace(/[^a-z0-9]/g, ''));
}
