// Signing in with e-mail and password. Attempts are counted in PostgreSQL, so that the limits hold over all processes,
// and before the password is looked at, so that guesses sent at once are all counted. An unknown account costs the same
// statements and the same hash as a known one, and gets the same answer.
import { createHash } from 'node:crypto';
import { isIPv6 } from 'node:net';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Database } from '../database/database.ts';
import { toApiFailure } from '../database/failures.ts';
import { ApiError } from '../errors.ts';
import { verifyPassword } from './passwords.ts';
import { hashEmail } from './people.ts';
import { secondsUntil } from './rate-limit.ts';
import { beginSecondFactor, type SecondFactor } from './second-factor.ts';
import { beginSession, endSession, readSessionCookie } from './sessions.ts';

const windowSeconds = 15 * 60;
/** Failed attempts in a window. Many people of an office can share an address. */
export const attemptLimits = { account: 10, address: 100 };

/** Answers with the token of a new session, or with what is still missing; throws `sign_in_failed` or `too_many_sign_ins`. */
export async function signIn(
  database: Database,
  request: FastifyRequest,
  reply: FastifyReply,
  { email, password }: { email: string; password: string },
): Promise<string | SecondFactor> {
  const account = hashSubject('account', hashEmail(email));
  const address = hashSubject('address', networkOf(request.ip));
  // The address first: once it is refused, it can neither lock accounts nor fill the table with them.
  await countAttempt(database, reply, address, attemptLimits.address);
  await countAttempt(database, reply, account, attemptLimits.account);
  const found = await findAccount(database, email);
  const isRight = await verifyPassword(password, found?.password_hash);
  if (!isRight || !found) throw new ApiError('sign_in_failed');
  // The browser's earlier session ends: what somebody else may have put there is worth nothing afterwards.
  await endSession(database, readSessionCookie(request));
  const outcome = await database.inTenants([found.tenant_id], async (client) => {
    // Whoever changes a password because somebody else knows it must not find that one signed in afterwards.
    const { rowCount } = await client.query(
      'SELECT FROM person WHERE tenant_id = $1 AND id = $2 AND password_hash = $3 FOR UPDATE',
      [found.tenant_id, found.person_id, found.password_hash],
    );
    if (rowCount === 0) throw new ApiError('sign_in_failed');
    const secondFactor = await beginSecondFactor(client, found.tenant_id, found.person_id);
    return secondFactor ?? beginSession(client, found.tenant_id, found.person_id, request);
  });
  await database.pool.query('SELECT forgive_sign_in($1, $2)', [account, address]);
  return outcome;
}

/** Also for other places where a password is asked for, or guesses would be worth something. */
export async function countAttempt(
  database: Database,
  reply: FastifyReply,
  subject: Buffer,
  limit: number,
): Promise<void> {
  const { rows } = await database.pool
    .query<{ attempts: number; window_ends_in_ms: number }>('SELECT * FROM count_sign_in($1, $2)', [
      subject,
      windowSeconds,
    ])
    .catch((error) => {
      throw toApiFailure(error);
    });
  const { attempts, window_ends_in_ms: endsInMs } = rows[0]!;
  if (attempts <= limit) return;
  reply.header('Retry-After', secondsUntil(endsInMs));
  throw new ApiError('too_many_sign_ins');
}

export function hashSubject(kind: string, value: string | Buffer): Buffer {
  return createHash('sha256').update(`${kind} `).update(value).digest();
}

async function findAccount(database: Database, email: string) {
  const { rows } = await database.pool.query<{ tenant_id: string; person_id: string; password_hash: string }>(
    'SELECT * FROM find_account($1)',
    [hashEmail(email)],
  );
  return rows[0];
}

/** Of IPv6 everybody has a whole network of addresses: 64 bits name it. */
export function networkOf(address: string): string {
  if (!isIPv6(address) || address.includes('.')) return address;
  const [head = '', tail = ''] = address.split('::');
  const groups = head.split(':').filter(Boolean);
  const after = tail.split(':').filter(Boolean);
  const missing = address.includes('::') ? 8 - groups.length - after.length : 0;
  return [...groups, ...Array<string>(missing).fill('0'), ...after].slice(0, 4).join(':');
}
