// The one API key of a tenant: its form, how it begins and ends, and the look-up with every request.
import { hash, randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type pg from 'pg';
import { recordCommand } from './audit-log.ts';
import { findRealBusiness } from './test-businesses.ts';

const keyPrefix = 'stamm_';
/** Says in a configuration or a log which of the two keys it is. The key's row decides what it opens. */
const testKeyPrefix = 'stamm_test_';
const randomLength = 30;
const checksumLength = 6;
const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const form = new RegExp(
  `^(?:${keyPrefix}|${testKeyPrefix})([0-9A-Za-z]{${randomLength}})([0-9A-Za-z]{${checksumLength}})$`,
);

export function makeApiKey(prefix = keyPrefix): string {
  const random = Array.from({ length: randomLength }, () => alphabet[randomInt(alphabet.length)]).join('');
  return prefix + random + checksum(random);
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

/** Makes a tenant's key at the command line; undefined if there is no such tenant. */
export async function createApiKey(client: pg.ClientBase, tenantId: string): Promise<string | undefined> {
  await client.query('BEGIN');
  const made = await replaceApiKey(client, tenantId, { name: 'command line' });
  if (made) await recordCommand(client, tenantId, { event: 'KEY_CREATED', ...describeNewKey(made) });
  await client.query('COMMIT');
  return made?.key;
}

/** Ends a tenant's key at the command line; false if it had none. */
export async function deleteApiKey(client: pg.ClientBase, tenantId: string): Promise<boolean> {
  await client.query('BEGIN');
  const lastFour = await endApiKey(client, tenantId, 'DELETED');
  if (lastFour) await recordCommand(client, tenantId, { event: 'KEY_DELETED', ...describeKey(lastFour) });
  await client.query('COMMIT');
  return lastFour !== undefined;
}

export interface NewKey {
  /** Kept nowhere. */
  key: string;
  /** The end of the key that it replaces. */
  replaced: string | undefined;
}

/** Makes a tenant's key and ends the one before it; undefined if there is no such tenant. */
export async function replaceApiKey(
  client: pg.ClientBase,
  tenantId: string,
  createdBy: { id?: string; name: string },
): Promise<NewKey | undefined> {
  // The lock on the tenant serializes concurrent creations: one key stays live.
  const tenant = await client.query('SELECT FROM tenant WHERE tenant_id = $1 FOR UPDATE', [tenantId]);
  if (tenant.rowCount === 0) return undefined;
  const key = makeApiKey(await keyPrefixOf(client, tenantId));
  const replaced = await endApiKey(client, tenantId, 'REPLACED');
  await client.query(
    `INSERT INTO api_key (tenant_id, key_hash, last_four, created_by, created_by_id)
     VALUES ($1, decode($2, 'hex'), $3, $4, $5)`,
    [tenantId, hashApiKey(key), key.slice(-4), createdBy.name, createdBy.id],
  );
  return { key, replaced };
}

/** How the keys of a tenant begin. */
export async function keyPrefixOf(client: pg.ClientBase, tenantId: string): Promise<string> {
  return (await findRealBusiness(client, tenantId)) ? testKeyPrefix : keyPrefix;
}

/** Ends a tenant's key and answers with its last four characters; undefined if it had none. */
export async function endApiKey(
  client: pg.ClientBase,
  tenantId: string,
  endedBy: 'REPLACED' | 'DELETED',
): Promise<string | undefined> {
  const { rows } = await client.query<{ last_four: string }>(
    `UPDATE api_key SET ended_at = now(), ended_by = $2 WHERE tenant_id = $1 AND ended_at IS NULL
     RETURNING last_four`,
    [tenantId, endedBy],
  );
  return rows[0]?.last_four;
}

/** How the audit record names a key: by its end, as everywhere. */
export function describeKey(lastFour: string) {
  return { subject: { name: `key …${lastFour}` } };
}

export function describeNewKey({ key, replaced }: NewKey) {
  return { ...describeKey(key.slice(-4)), details: replaced ? { replaced: `key …${replaced}` } : undefined };
}
