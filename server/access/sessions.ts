// Who is signed in: a random token in a cookie, whose hash is a row. Like keys, sessions are looked up with every
// request: an ended session ends on every node immediately.
import { randomUUIDv7 } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import type pg from 'pg';
import { Batcher } from '../database/batcher.ts';
import type { Database } from '../database/database.ts';
import { ApiError } from '../errors.ts';
import { maskKeys } from '../http/log.ts';
import { preferredLanguage } from '../messages.ts';
import { cookie, readCookie } from './cookies.ts';
import type { Role } from './people.ts';
import { hashToken, isToken, makeToken } from './secrets.ts';

export interface Session {
  id: string;
  /** The business of the person. */
  tenantId: string;
  /** Its test business, while the person works there. */
  testTenantId: string | undefined;
  hasTestBusiness: boolean;
  person: { id: string; name: string; email: string; role: Role };
  businessName: string;
  /** The business requires a passkey and this person has none. */
  needsPasskey: boolean;
  proofAgeSeconds: number;
}

const cookieName = 'stamm_session';

/** An idle session ends after a day and a half: daily users stay signed in. */
const idle = '36 hours';
/** However it is used, it ends after this. */
const lifetime = '14 days';
const lifetimeSeconds = 14 * 24 * 3600;
const maxUserAgentLength = 200;
/** More than anybody has browsers; what signs in again and again ends its own oldest ones. */
const maxSessionsOfPerson = 50;

/** Begins a session of a person, in a transaction of the business, and answers with its token. */
export async function beginSession(
  client: pg.ClientBase,
  tenantId: string,
  personId: string,
  request: FastifyRequest,
): Promise<string> {
  const token = makeToken();
  await client.query(
    `INSERT INTO session (tenant_id, id, person_id, token_hash, address, user_agent) VALUES ($1, $2, $3, $4, $5, $6)`,
    [
      tenantId,
      randomUUIDv7(),
      personId,
      hashToken(token),
      request.ip,
      maskKeys(request.headers['user-agent'] ?? '').slice(0, maxUserAgentLength),
    ],
  );
  await client.query(
    `DELETE FROM session WHERE tenant_id = $1 AND person_id = $2 AND id IN (
       SELECT id FROM session WHERE tenant_id = $1 AND person_id = $2
       ORDER BY last_used_at DESC, id DESC OFFSET ${maxSessionsOfPerson})`,
    [tenantId, personId],
  );
  const wanted = request.headers['accept-language'];
  await client.query(
    `UPDATE person SET last_sign_in_at = now(), language = coalesce($3, language) WHERE tenant_id = $1 AND id = $2`,
    [tenantId, personId, wanted && preferredLanguage(wanted)],
  );
  return token;
}

interface SessionRow {
  tenant_id: string;
  session_id: string;
  person_id: string;
  name: string;
  email: string;
  role: Role;
  business_name: string;
  proof_age_seconds: number;
  needs_passkey: boolean;
  test_tenant_id: string | null;
  is_in_test_business: boolean;
}

/** Like look-ups of keys: those that arrive together share one statement, and none joins a statement sent before it arrived. */
export async function findSession(
  database: Database,
  token: string | undefined,
): Promise<Session | undefined> {
  if (!isToken(token)) return undefined;
  const row = await lookUpsOf(database).add(token, performance.now() + database.requestDeadlineMs);
  return (
    row && {
      id: row.session_id,
      tenantId: row.tenant_id,
      testTenantId: row.is_in_test_business ? row.test_tenant_id! : undefined,
      hasTestBusiness: row.test_tenant_id !== null,
      person: { id: row.person_id, name: row.name, email: row.email, role: row.role },
      businessName: row.business_name,
      needsPasskey: row.needs_passkey,
      proofAgeSeconds: row.proof_age_seconds,
    }
  );
}

const knownLookUps = new WeakMap<Database, Batcher<string, SessionRow | undefined>>();

function lookUpsOf(database: Database): Batcher<string, SessionRow | undefined> {
  const lookUps =
    knownLookUps.get(database) ??
    new Batcher({
      kind: 'session look-up',
      run: (tokens) => readSessions(database, tokens),
      tenantOf: (token) => token,
      maxItems: 1000,
      paceMs: 0,
      hasAnsweredSince: database.hasAnsweredSince,
    });
  knownLookUps.set(database, lookUps);
  return lookUps;
}

async function readSessions(
  database: Database,
  tokens: readonly string[],
): Promise<(SessionRow | undefined)[]> {
  // In one order everywhere, to avoid deadlocks between processes that note the use of the same sessions.
  const hashes = [...new Set(tokens.map((token) => hashToken(token).toString('hex')))].sort();
  const { rows } = await database.pool.query<SessionRow & { hash: string }>({
    name: 'find sessions',
    text: `SELECT encode(asked.hash, 'hex') AS hash, found.*
      FROM unnest($1::bytea[]) AS asked (hash), find_session_and_business(asked.hash, $2, $3) AS found`,
    values: [hashes.map((hash) => `\\x${hash}`), idle, lifetime],
  });
  const rowByHash = new Map(rows.map((row) => [row.hash, row]));
  return tokens.map((token) => rowByHash.get(hashToken(token).toString('hex')));
}

/** Gives a session another token and answers with it; the one before it ends. */
export async function renewSession(client: pg.ClientBase, { tenantId, id }: Session): Promise<string> {
  const token = makeToken();
  const { rowCount } = await client.query(
    'UPDATE session SET token_hash = $3 WHERE tenant_id = $1 AND id = $2',
    [tenantId, id, hashToken(token)],
  );
  if (rowCount === 0) throw new ApiError('session_missing');
  return token;
}

/** Ends every session of a person and answers with their number. */
export async function endSessionsOf(
  client: pg.ClientBase,
  tenantId: string,
  personId: string,
): Promise<number> {
  const { rowCount } = await client.query('DELETE FROM session WHERE tenant_id = $1 AND person_id = $2', [
    tenantId,
    personId,
  ]);
  return rowCount ?? 0;
}

/** Moves a session to the test business of its business, or back. */
export async function moveSession(
  client: pg.ClientBase,
  { tenantId, id }: Session,
  isInTestBusiness: boolean,
): Promise<void> {
  const { rowCount } = await client.query(
    'UPDATE session SET is_in_test_business = $3 WHERE tenant_id = $1 AND id = $2',
    [tenantId, id, isInTestBusiness],
  );
  if (rowCount === 0) throw new ApiError('session_missing');
}

export async function endSession(database: Database, token: string | undefined): Promise<void> {
  if (isToken(token)) await database.pool.query('SELECT end_session($1)', [hashToken(token)]);
}

/** Removes sessions, invitations and counts that have run out; called now and then. */
export async function forgetOldSignIns(database: Database): Promise<void> {
  // While the database is away there is nothing to remove, and the next call comes.
  await database.pool.query('SELECT forget_old_sign_ins($1, $2)', [idle, lifetime]);
}

export function readSessionCookie(request: FastifyRequest): string | undefined {
  return readCookie(request, cookieName);
}

export function sessionCookie(request: FastifyRequest, token: string): string {
  return cookie(request, cookieName, token, lifetimeSeconds);
}

export function endedCookie(request: FastifyRequest): string {
  return cookie(request, cookieName, '', 0);
}
