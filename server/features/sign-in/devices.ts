// Browsers that have signed a person in before (OWASP's device cookies). Each has a count of its own for wrong
// passwords, which keeps strangers from locking the owner out. A device cookie never signs anybody in.
import { randomUUIDv7 } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import type pg from 'pg';
import { cookie, readCookie } from '../../access/cookies.ts';
import { hashEmail } from '../../access/people.ts';
import { hashToken, isToken, makeToken } from '../../access/secrets.ts';
import type { Database } from '../../database/database.ts';

const lifetimeDays = 180;
const maxDevicesOfPerson = 50;

/** One cookie for each address: people who share a browser keep a device each, and none works for another address. */
function cookieNameOf(email: string): string {
  return `stamm_device_${hashEmail(email).toString('hex').slice(0, 16)}`;
}

function readDeviceToken(request: FastifyRequest, email: string): string | undefined {
  const token = readCookie(request, cookieNameOf(email));
  return isToken(token) ? token : undefined;
}

/** The token's hash if this browser has signed in with this address. Unknown addresses cost the same statement. */
export async function findKnownDevice(
  database: Database,
  request: FastifyRequest,
  email: string,
): Promise<Buffer | undefined> {
  const tokenHash = hashToken(readDeviceToken(request, email) ?? '');
  const { rows } = await database.pool.query<{ is_known: boolean }>(
    'SELECT is_known_device($1, $2) AS is_known',
    [hashEmail(email), tokenHash],
  );
  return rows[0]!.is_known ? tokenHash : undefined;
}

/** Answers with the cookie to set, in a transaction of the business. The token changes with each sign-in. */
export async function rememberDevice(
  client: pg.ClientBase,
  request: FastifyRequest,
  tenantId: string,
  person: { id: string; email: string },
): Promise<{ cookie: string; isNew: boolean }> {
  const [before, token] = [readDeviceToken(request, person.email), makeToken()];
  const { rowCount } = await client.query(
    'DELETE FROM known_device WHERE tenant_id = $1 AND person_id = $2 AND token_hash = $3',
    [tenantId, person.id, hashToken(before ?? '')],
  );
  await client.query(
    'INSERT INTO known_device (tenant_id, id, person_id, token_hash) VALUES ($1, $2, $3, $4)',
    [tenantId, randomUUIDv7(), person.id, hashToken(token)],
  );
  await client.query(
    `DELETE FROM known_device WHERE tenant_id = $1 AND person_id = $2 AND id IN (
       SELECT id FROM known_device WHERE tenant_id = $1 AND person_id = $2
       ORDER BY last_used_at DESC, id DESC OFFSET ${maxDevicesOfPerson})`,
    [tenantId, person.id],
  );
  return {
    cookie: cookie(request, cookieNameOf(person.email), token, lifetimeDays * 24 * 3600),
    isNew: rowCount === 0,
  };
}

/** Removes devices and reset links that have expired. */
export async function forgetOldDevices(database: Database): Promise<void> {
  // While the database is away there is nothing to remove, and the next call comes.
  await database.pool.query('SELECT forget_old_devices($1)', [`${lifetimeDays} days`]);
}
