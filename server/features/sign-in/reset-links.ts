// One-time links that set a new password. Only the hash of a link's token is stored.
import { randomUUIDv7 } from 'node:crypto';
import type pg from 'pg';
import { setPassword } from '../../access/people.ts';
import { hashToken, isToken, makeToken } from '../../access/secrets.ts';
import type { Database } from '../../database/database.ts';
import { ApiError } from '../../errors.ts';

/** Hours that a link is good for: Verwaltung hands it over in person, mail arrives within minutes. */
export const resetHours = { byVerwaltung: 24, byMail: 1 };
/** Older ones end. A stranger who asks for mail again and again must not end the link that was just read. */
const maxLinksOfPerson = 5;

/** Answers with the token, in a transaction of the business. */
export async function makeResetToken(
  client: pg.ClientBase,
  tenantId: string,
  personId: string,
  hours: number,
): Promise<string> {
  const token = makeToken();
  await client.query(
    `INSERT INTO password_reset (tenant_id, id, person_id, token_hash, expires_at)
     VALUES ($1, $2, $3, $4, now() + make_interval(hours => $5))`,
    [tenantId, randomUUIDv7(), personId, hashToken(token), hours],
  );
  await client.query(
    `DELETE FROM password_reset WHERE tenant_id = $1 AND person_id = $2 AND id IN (
       SELECT id FROM password_reset WHERE tenant_id = $1 AND person_id = $2
       ORDER BY created_at DESC, id DESC OFFSET ${maxLinksOfPerson})`,
    [tenantId, personId],
  );
  return token;
}

export interface ResetLink {
  tenant_id: string;
  id: string;
  person_id: string;
  name: string;
  email: string;
  business_name: string;
}

export async function findResetLink(database: Database, token: string): Promise<ResetLink> {
  if (!isToken(token)) throw new ApiError('not_found');
  const { rows } = await database.pool.query<ResetLink>('SELECT * FROM find_password_reset($1)', [
    hashToken(token),
  ]);
  if (!rows[0]) throw new ApiError('not_found');
  return rows[0];
}

/** Uses the link up, in a transaction of the business. All sessions, devices and other links of the person end. */
export async function useResetLink(
  client: pg.ClientBase,
  { tenant_id: tenantId, id, person_id: personId }: ResetLink,
  passwordHash: string,
): Promise<void> {
  // The second of two simultaneous uses waits here and finds the link gone.
  const { rowCount } = await client.query(
    'DELETE FROM password_reset WHERE tenant_id = $1 AND id = $2 AND expires_at > now()',
    [tenantId, id],
  );
  if (rowCount === 0) throw new ApiError('not_found');
  await setPassword(client, tenantId, personId, passwordHash);
}
