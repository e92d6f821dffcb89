// Signing in with e-mail and password. Attempts are counted in PostgreSQL, over all processes, and before the password
// is compared: parallel guesses all count. An unknown address costs the same statements and the same hashes as a known one.
//
// Strangers cannot lock an account. Guesses are limited for each network, and for each address and network. A browser
// that has signed in before is limited on its own. The count of an address over all networks only slows answers down.
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Tally } from '../../../core/tally.ts';
import { attemptLimits, countAttempt, hashSubject } from '../../access/attempts.ts';
import { recordAudit } from '../../access/audit-log.ts';
import { networkOf } from '../../access/network.ts';
import { hashEmail } from '../../access/people.ts';
import { secondsUntil } from '../../access/rate-limit.ts';
import { beginSession, endSession, readSessionCookie } from '../../access/sessions.ts';
import type { Database } from '../../database/database.ts';
import { ApiError } from '../../errors.ts';
import { findKnownDevice } from './devices.ts';
import { verifyPasswords } from './passwords.ts';
import { beginSecondFactor, type SecondFactor } from './second-factor.ts';

/** Guesses at one address over all networks: beyond `after`, each waits a little longer before it is looked at. */
const slowDown = { after: 50, stepMs: 20, mostMs: 2000 };
/** How many attempts may wait in a process: each holds a connection. */
const mostWaiting = { ofAccount: 20, inAll: 100 };

export interface Credentials {
  email: string;
  password: string;
  /** Which business, where the address and the password fit several. */
  businessId?: string | undefined;
}

interface Account {
  tenant_id: string;
  person_id: string;
  password_hash: string;
}

/**
 * Answers with the token of a new session, or with the missing second factor. Throws `sign_in_failed`,
 * `too_many_sign_ins` or `several_businesses`.
 */
export async function signIn(
  database: Database,
  request: FastifyRequest,
  reply: FastifyReply,
  { email, password, businessId }: Credentials,
): Promise<string | SecondFactor> {
  const guess = await countGuess(database, request, reply, email);
  const accounts = await findAccounts(database, email);
  const matching = await filterMatching(accounts, password);
  if (matching.length === 0) {
    // Not awaited: an answer that took longer would tell that the address is known.
    if (guess.isWorthRecording) void recordFailures(database, request, accounts);
    throw new ApiError('sign_in_failed');
  }
  const account = await chooseAccount(database, matching, businessId);
  // The browser's earlier session ends: what somebody else may have put there is worth nothing afterwards.
  await endSession(database, readSessionCookie(request));
  const outcome = await database.inTenants([account.tenant_id], async (client) => {
    const { tenant_id: tenantId, person_id: id } = account;
    // A sign-in with the old password must not survive a change of the password.
    const { rows } = await client.query<{ name: string }>(
      'SELECT name FROM person WHERE tenant_id = $1 AND id = $2 AND password_hash = $3 FOR UPDATE',
      [tenantId, id, account.password_hash],
    );
    if (!rows[0]) throw new ApiError('sign_in_failed');
    const secondFactor = await beginSecondFactor(client, tenantId, id);
    if (secondFactor) return secondFactor;
    await recordAudit(client, tenantId, request, { event: 'SIGNED_IN', actor: { id, name: rows[0].name } });
    return beginSession(client, tenantId, id, request);
  });
  await guess.forgive();
  return outcome;
}

interface Guess {
  /** False for most of a flood, which would fill the record. */
  isWorthRecording: boolean;
  /** It was none: the password was right. */
  forgive(): Promise<void>;
}

async function countGuess(
  database: Database,
  request: FastifyRequest,
  reply: FastifyReply,
  email: string,
): Promise<Guess> {
  const forgive = (whole: Buffer, one: Buffer) =>
    database.pool.query('SELECT forgive_sign_in($1, $2)', [whole, one]);
  const device = await findKnownDevice(database, request, email);
  if (device) {
    const subject = hashSubject('device', device);
    await countAttempt(database, reply, subject, attemptLimits.account);
    return { isWorthRecording: true, forgive: async () => void (await forgive(subject, subject)) };
  }
  const network = hashSubject('address', networkOf(request.ip));
  const account = hashSubject('account', hashEmail(email));
  const pair = hashSubject('account and address', Buffer.concat([account, network]));
  // The network first: once it is refused, it can neither slow accounts down nor fill the table with them.
  await countAttempt(database, reply, network, attemptLimits.address);
  await countAttempt(database, reply, pair, attemptLimits.account);
  const guesses = await countAttempt(database, reply, account, Number.POSITIVE_INFINITY);
  await waitInLine(reply, account, guesses);
  return {
    isWorthRecording: guesses <= slowDown.after || guesses % 100 === 0,
    async forgive() {
      await forgive(pair, network);
      await forgive(pair, account);
    },
  };
}

const waiting = new Tally();
let waitingInAll = 0;

/** Right and wrong passwords wait alike, before the hash is computed: nothing that others need is held meanwhile. */
async function waitInLine(reply: FastifyReply, account: Buffer, guesses: number): Promise<void> {
  const delayMs = Math.min(slowDown.mostMs, (guesses - slowDown.after) * slowDown.stepMs);
  if (delayMs <= 0) return;
  const key = account.toString('base64');
  if (waiting.of(key) >= mostWaiting.ofAccount || waitingInAll >= mostWaiting.inAll) {
    reply.header('Retry-After', secondsUntil(slowDown.mostMs));
    throw new ApiError('too_many_sign_ins');
  }
  waiting.add(key);
  waitingInAll++;
  try {
    await sleep(delayMs);
  } finally {
    waitingInAll--;
    waiting.remove(key);
  }
  // Nobody reads the answer: the hash would be computed for nothing.
  if (reply.raw.destroyed) throw new ApiError('request_timeout');
}

/** The people whom an address signs in: one of each business at most. */
export async function findAccounts(database: Database, email: string): Promise<Account[]> {
  const { rows } = await database.pool.query<Account>('SELECT * FROM find_account($1)', [hashEmail(email)]);
  return rows;
}

async function filterMatching(accounts: readonly Account[], password: string): Promise<Account[]> {
  const fits = await verifyPasswords(
    password,
    accounts.map(({ password_hash }) => password_hash),
  );
  return accounts.filter((_account, index) => fits[index]);
}

async function chooseAccount(
  database: Database,
  accounts: readonly Account[],
  businessId: string | undefined,
): Promise<Account> {
  const wanted = accounts.filter(({ tenant_id }) => businessId === undefined || tenant_id === businessId);
  if (wanted.length === 0) throw new ApiError('sign_in_failed');
  if (wanted.length === 1) return wanted[0]!;
  const ids = wanted.map(({ tenant_id }) => tenant_id);
  const { rows } = await database.queryInTenants(ids, {
    text: 'SELECT tenant_id AS id, name FROM tenant WHERE tenant_id = ANY ($1) ORDER BY lower(name), tenant_id',
    values: [ids],
  });
  throw new ApiError('several_businesses', { details: { businesses: rows } });
}

async function recordFailures(database: Database, request: FastifyRequest, accounts: readonly Account[]) {
  for (const { tenant_id: tenantId, person_id: id } of accounts) {
    await database
      .inTenants([tenantId], async (client) => {
        const { rows } = await client.query<{ name: string }>(
          'SELECT name FROM person WHERE tenant_id = $1 AND id = $2',
          [tenantId, id],
        );
        const subject = { id, name: rows[0]?.name };
        await recordAudit(client, tenantId, request, {
          event: 'SIGN_IN_FAILED',
          actor: { id: undefined, name: '' },
          subject,
        });
      })
      .catch((error) => request.server.log.warn({ err: error, requestId: request.id }, 'audit failed'));
  }
}
