// The passkeys of a person. Everything here runs in a transaction of the business.
import { randomUUIDv7 } from 'node:crypto';
import type pg from 'pg';
import { ApiError } from '../../errors.ts';
import { endRecoveryCodes } from './recovery-codes.ts';
import type { KnownCredential } from './webauthn.ts';

const maxPasskeysOfPerson = 20;

export interface NewPasskey {
  credentialId: string;
  publicKey: Uint8Array;
  counter: number;
  transports: string[];
  rpId: string;
  name: string;
}

export async function addPasskey(
  client: pg.ClientBase,
  tenantId: string,
  personId: string,
  { credentialId, publicKey, counter, transports, rpId, name }: NewPasskey,
): Promise<string> {
  await lockPerson(client, tenantId, personId);
  if ((await countPasskeys(client, tenantId, personId)) >= maxPasskeysOfPerson)
    throw new ApiError('too_many_passkeys');
  const id = randomUUIDv7();
  const { rowCount } = await client.query(
    `INSERT INTO passkey (tenant_id, id, person_id, credential_id, public_key, counter, transports, rp_id, name)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT DO NOTHING`,
    [
      tenantId,
      id,
      personId,
      Buffer.from(credentialId, 'base64url'),
      Buffer.from(publicKey),
      counter,
      transports,
      rpId,
      name,
    ],
  );
  if (rowCount === 0) throw new ApiError('passkey_known');
  return id;
}

export async function listPasskeys(client: pg.ClientBase, tenantId: string, personId: string) {
  const { rows } = await client.query<{ id: string; name: string }>(
    `SELECT id, name, rp_id AS "rpId", created_at AS "createdAt", last_used_at AS "lastUsedAt"
     FROM passkey WHERE tenant_id = $1 AND person_id = $2 ORDER BY id`,
    [tenantId, personId],
  );
  return rows;
}

/** The credentials that a browser at this address can use. */
export async function listCredentials(
  client: pg.ClientBase,
  tenantId: string,
  personId: string,
  rpId: string,
): Promise<KnownCredential[]> {
  const { rows } = await client.query<{ credential_id: Buffer; transports: string[] }>(
    'SELECT credential_id, transports FROM passkey WHERE tenant_id = $1 AND person_id = $2 AND rp_id = $3',
    [tenantId, personId, rpId],
  );
  return rows.map(({ credential_id, transports }) => ({
    id: credential_id.toString('base64url'),
    transports,
  }));
}

export async function countPasskeys(
  client: pg.ClientBase,
  tenantId: string,
  personId: string,
): Promise<number> {
  const { rows } = await client.query<{ count: number }>(
    'SELECT count(*)::integer AS count FROM passkey WHERE tenant_id = $1 AND person_id = $2',
    [tenantId, personId],
  );
  return rows[0]!.count;
}

export async function renamePasskey(
  client: pg.ClientBase,
  tenantId: string,
  personId: string,
  id: string,
  name: string,
): Promise<void> {
  const { rowCount } = await client.query(
    'UPDATE passkey SET name = $4 WHERE tenant_id = $1 AND person_id = $2 AND id = $3',
    [tenantId, personId, id, name],
  );
  if (rowCount === 0) throw new ApiError('not_found');
}

/** Answers with the name. Recovery codes end with the last passkey; a required last one stays. */
export async function removePasskey(
  client: pg.ClientBase,
  tenantId: string,
  personId: string,
  id: string,
): Promise<string> {
  await lockPerson(client, tenantId, personId);
  const { rows } = await client.query<{ name: string }>(
    'DELETE FROM passkey WHERE tenant_id = $1 AND person_id = $2 AND id = $3 RETURNING name',
    [tenantId, personId, id],
  );
  if (!rows[0]) throw new ApiError('not_found');
  if ((await countPasskeys(client, tenantId, personId)) === 0) {
    if (await requiresPasskeys(client, tenantId)) throw new ApiError('last_passkey');
    await endRecoveryCodes(client, tenantId, personId);
  }
  return rows[0].name;
}

/** Removes lost passkeys, and with them codes and sessions. Returns the number of passkeys. */
export async function removeAllPasskeys(
  client: pg.ClientBase,
  tenantId: string,
  personId: string,
): Promise<number> {
  await lockPerson(client, tenantId, personId);
  const { rowCount } = await client.query('DELETE FROM passkey WHERE tenant_id = $1 AND person_id = $2', [
    tenantId,
    personId,
  ]);
  await endRecoveryCodes(client, tenantId, personId);
  for (const table of ['session', 'pending_sign_in'])
    await client.query(`DELETE FROM ${table} WHERE tenant_id = $1 AND person_id = $2`, [tenantId, personId]);
  return rowCount ?? 0;
}

/** Two assertions at the same moment may arrive in the other order: the counter never goes back. */
export async function notePasskeyUse(
  client: pg.ClientBase,
  tenantId: string,
  { passkeyId, counter }: { passkeyId: string; counter: number },
): Promise<void> {
  const { rowCount } = await client.query(
    `UPDATE passkey SET counter = greatest(counter, $3), last_used_at = now() WHERE tenant_id = $1 AND id = $2`,
    [tenantId, passkeyId, counter],
  );
  // Removed since its signature was checked.
  if (rowCount === 0) throw new ApiError('passkey_refused');
}

export async function requiresPasskeys(client: pg.ClientBase, tenantId: string): Promise<boolean> {
  const { rows } = await client.query<{ requires_passkeys: boolean }>(
    'SELECT requires_passkeys FROM tenant WHERE tenant_id = $1',
    [tenantId],
  );
  return rows[0]?.requires_passkeys ?? false;
}

/** A person who requires passkeys of others must have one. */
export async function setPasskeyRequirement(
  client: pg.ClientBase,
  tenantId: string,
  personId: string,
  isRequired: boolean,
): Promise<void> {
  await lockPerson(client, tenantId, personId);
  if (isRequired && (await countPasskeys(client, tenantId, personId)) === 0)
    throw new ApiError('passkey_missing');
  await client.query('UPDATE tenant SET requires_passkeys = $2 WHERE tenant_id = $1', [tenantId, isRequired]);
}

/** Adding, removing and requiring follow each other, so counts hold until the transaction ends. */
async function lockPerson(client: pg.ClientBase, tenantId: string, personId: string): Promise<void> {
  const { rowCount } = await client.query('SELECT FROM person WHERE tenant_id = $1 AND id = $2 FOR UPDATE', [
    tenantId,
    personId,
  ]);
  if (rowCount === 0) throw new ApiError('not_found');
}
