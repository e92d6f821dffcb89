// Between a right password and a session: a person with passkeys still owes one of them, or a code.
import { randomUUIDv7 } from 'node:crypto';
import type pg from 'pg';
import { hashToken, isToken, makeToken } from '../../access/secrets.ts';
import type { Database } from '../../database/database.ts';
import { ApiError } from '../../errors.ts';
import { countPasskeys } from './passkeys.ts';
import { ceremonySeconds } from './webauthn.ts';

const maxTries = 5;

export interface PendingSignIn {
  id: string;
  tenantId: string;
  personId: string;
}

export interface SecondFactor extends PendingSignIn {
  /** Handed out once; only its hash is stored. */
  token: string;
}

/** In the transaction that checked the password. Undefined for a person without passkeys. */
export async function beginSecondFactor(
  client: pg.ClientBase,
  tenantId: string,
  personId: string,
): Promise<SecondFactor | undefined> {
  if ((await countPasskeys(client, tenantId, personId)) === 0) return undefined;
  const [id, token] = [randomUUIDv7(), makeToken()];
  await client.query(
    'DELETE FROM pending_sign_in WHERE tenant_id = $1 AND person_id = $2 AND expires_at < now()',
    [tenantId, personId],
  );
  await client.query(
    `INSERT INTO pending_sign_in (tenant_id, id, person_id, token_hash, expires_at)
     VALUES ($1, $2, $3, $4, now() + make_interval(secs => ${ceremonySeconds}))`,
    [tenantId, id, personId, hashToken(token)],
  );
  return { id, token, tenantId, personId };
}

/** Counts a try; throws `sign_in_expired` for a token that is unknown, too old or tried too often. */
export async function tryPendingSignIn(database: Database, token: string): Promise<PendingSignIn> {
  if (!isToken(token)) throw new ApiError('sign_in_expired');
  const { rows } = await database.pool.query<{ tenant_id: string; id: string; person_id: string }>(
    'SELECT * FROM try_pending_sign_in($1, $2)',
    [hashToken(token), maxTries],
  );
  const [found] = rows;
  if (!found) throw new ApiError('sign_in_expired');
  return { id: found.id, tenantId: found.tenant_id, personId: found.person_id };
}

/** In the transaction that begins the session: of two that complete the same sign-in one succeeds. */
export async function endPendingSignIn(
  client: pg.ClientBase,
  { tenantId, id }: PendingSignIn,
): Promise<void> {
  const { rowCount } = await client.query(
    'DELETE FROM pending_sign_in WHERE tenant_id = $1 AND id = $2 AND expires_at > now()',
    [tenantId, id],
  );
  if (rowCount === 0) throw new ApiError('sign_in_expired');
}
