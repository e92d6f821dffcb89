// The one API key of a tenant: its form, its making and ending, and finding a tenant by it with every request.
import { hash, randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type pg from 'pg';

export const keyPrefix = 'stamm_';
const randomLength = 30;
const checksumLength = 6;
const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const form = new RegExp(`^${keyPrefix}([0-9A-Za-z]{${randomLength}})([0-9A-Za-z]{${checksumLength}})$`);

export function makeApiKey(): string {
  const random = Array.from({ length: randomLength }, () => alphabet[randomInt(alphabet.length)]).join('');
  return keyPrefix + random + checksum(random);
}

/** Whether a text can be a key at all. A typing error is found here and costs the database nothing. */
export function isWellFormedKey(text: string): boolean {
  const match = form.exec(text);
  return match !== null && checksum(match[1]!) === match[2];
}

/** In hexadecimal digits. */
export function hashApiKey(key: string): string {
  return hash('sha256', key);
}

/** The CRC32 of the random part, written in base 62. */
function checksum(random: string): string {
  let rest = crc32(random);
  let digits = '';
  for (let index = 0; index < checksumLength; index++) {
    digits = alphabet[rest % alphabet.length] + digits;
    rest = Math.floor(rest / alphabet.length);
  }
  return digits;
}

/** Makes a tenant's key and ends the one before it; undefined if there is no such tenant. The key is kept nowhere. */
export async function createApiKey(client: pg.ClientBase, tenantId: string): Promise<string | undefined> {
  await client.query('BEGIN');
  const key = await replaceApiKey(client, tenantId, 'command line');
  await client.query('COMMIT');
  return key;
}

/** The same within a transaction that somebody else began. */
export async function replaceApiKey(
  client: pg.ClientBase,
  tenantId: string,
  createdBy: string,
): Promise<string | undefined> {
  const key = makeApiKey();
  // The lock on the tenant makes two creations at once follow each other, so that one key stays live.
  const tenant = await client.query('SELECT FROM tenant WHERE tenant_id = $1 FOR UPDATE', [tenantId]);
  if (tenant.rowCount === 0) return undefined;
  await endLiveKey(client, tenantId, 'REPLACED');
  await client.query(
    `INSERT INTO api_key (tenant_id, key_hash, last_four, created_by) VALUES ($1, decode($2, 'hex'), $3, $4)`,
    [tenantId, hashApiKey(key), key.slice(-4), createdBy],
  );
  return key;
}

/** Ends a tenant's key; false if it had none. */
export async function deleteApiKey(client: pg.ClientBase, tenantId: string): Promise<boolean> {
  return endLiveKey(client, tenantId, 'DELETED');
}

async function endLiveKey(client: pg.ClientBase, tenantId: string, endedBy: 'REPLACED' | 'DELETED') {
  const { rowCount } = await client.query(
    'UPDATE api_key SET ended_at = now(), ended_by = $2 WHERE tenant_id = $1 AND ended_at IS NULL',
    [tenantId, endedBy],
  );
  return rowCount === 1;
}
