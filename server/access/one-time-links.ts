// One-time links. The token stands behind a #, which browsers keep to themselves: no log and no referrer has it.
import { randomUUIDv7 } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import type pg from 'pg';
import type { Database } from '../database/database.ts';
import { ApiError } from '../errors.ts';
import { addPerson, type NewPerson, type Role } from './people.ts';
import { hashToken, isToken, makeToken } from './secrets.ts';
import { createTenant } from './tenants.ts';

/** A link of the web app. Without PUBLIC_URL it leads to where the browser that asked found the app. */
export function linkTo(
  request: FastifyRequest,
  publicUrl: string | undefined,
  page: 'invitation' | 'reset',
  token: string,
): string {
  return `${addressOf(request, publicUrl)}/${page}#${token}`;
}

/** The published address of the service, or the one that the client used. */
export function addressOf(request: FastifyRequest, publicUrl: string | undefined): string {
  return publicUrl ?? originOf(request);
}

function originOf({ headers: { origin }, protocol, host }: FastifyRequest): string {
  return origin !== undefined && URL.canParse(origin) && origin !== 'null'
    ? new URL(origin).origin
    : `${protocol}://${host}`;
}

/** Makes a setup link, and ends those of earlier starts; undefined where there is somebody already. */
export async function makeSetupToken(database: Database): Promise<string | undefined> {
  const token = makeToken();
  const { rows } = await database.pool.query<{ made: boolean }>('SELECT make_setup_link($1) AS made', [
    hashToken(token),
  ]);
  return rows[0]!.made ? token : undefined;
}

export async function endSetupToken(database: Database, token: string): Promise<void> {
  await database.pool.query('SELECT end_setup_link($1)', [hashToken(token)]);
}

/** The business that the first person joins, if exactly one exists. Throws `not_found` for an invalid link. */
export async function findSetup(
  database: Database,
  token: string,
): Promise<{ tenantId: string | null; businessName: string | null }> {
  if (!isToken(token)) throw new ApiError('not_found');
  const { rows } = await query<{ tenant_id: string | null; business_name: string | null }>(
    database,
    'SELECT * FROM find_setup_link($1)',
    [hashToken(token)],
  );
  if (!rows[0]) throw new ApiError('not_found');
  return { tenantId: rows[0].tenant_id, businessName: rows[0].business_name };
}

/** Makes the business and its first person with a setup link, once; `then` belongs to the same transaction. */
export async function useSetup<Result>(
  database: Database,
  token: string,
  businessName: string,
  person: Omit<NewPerson, 'role'>,
  then: (client: pg.ClientBase, tenantId: string, personId: string) => Promise<Result>,
): Promise<Result> {
  const { tenantId: existing } = await findSetup(database, token);
  const tenantId = existing ?? randomUUIDv7();
  return database.inTenants([tenantId], async (client) => {
    const { rows } = await client.query<{ used: boolean }>('SELECT use_setup_link($1) AS used', [
      hashToken(token),
    ]);
    if (!rows[0]!.used) throw new ApiError('not_found');
    if (existing)
      await client.query('UPDATE tenant SET name = $2 WHERE tenant_id = $1', [tenantId, businessName]);
    else await createTenant(client, businessName, tenantId);
    const personId = await addPerson(client, tenantId, { ...person, role: 'VERWALTUNG' });
    return then(client, tenantId, personId);
  });
}

const invitationDays = 7;

/** In a transaction of the business. An address has one invitation: a new one ends the old. */
export async function makeInvitation(
  client: pg.ClientBase,
  tenantId: string,
  { email, role, employeeId }: { email: string; role: Role; employeeId?: string | undefined },
): Promise<{ id: string; token: string }> {
  const [id, token] = [randomUUIDv7(), makeToken()];
  const { rows } = await client.query<{ id: string; name: string }>(
    'SELECT id, name FROM person WHERE tenant_id = $1 AND lower(email) = lower($2)',
    [tenantId, email],
  );
  // A second invitation usually means a forgotten password. The reset link for it needs this id.
  if (rows[0]) throw new ApiError('email_taken', { details: { field: 'email', person: rows[0] } });
  await client.query('DELETE FROM invitation WHERE tenant_id = $1 AND lower(email) = lower($2)', [
    tenantId,
    email,
  ]);
  await client.query(
    `INSERT INTO invitation (tenant_id, id, email, role, employee_id, token_hash, expires_at)
     VALUES ($1, $2, $3, $4, $6, $5, now() + make_interval(days => ${invitationDays}))`,
    [tenantId, id, email, role, hashToken(token), employeeId ?? null],
  );
  return { id, token };
}

interface InvitationRow {
  tenant_id: string;
  id: string;
  email: string;
  role: Role;
  business_name: string;
}

export async function findInvitation(database: Database, token: string): Promise<InvitationRow> {
  if (!isToken(token)) throw new ApiError('not_found');
  const { rows } = await query<InvitationRow>(database, 'SELECT * FROM find_invitation($1)', [
    hashToken(token),
  ]);
  if (!rows[0]) throw new ApiError('not_found');
  return rows[0];
}

/** Makes the invited person, once; `then` belongs to the same transaction. */
export async function useInvitation<Result>(
  database: Database,
  token: string,
  { name, passwordHash }: { name: string; passwordHash: string },
  then: (client: pg.ClientBase, tenantId: string, personId: string) => Promise<Result>,
): Promise<Result> {
  const { tenant_id: tenantId, id, email, role } = await findInvitation(database, token);
  return database.inTenants([tenantId], async (client) => {
    // The second of two simultaneous uses waits here and finds the link gone.
    const { rows } = await client.query<{ employeeId: string | null }>(
      `DELETE FROM invitation WHERE tenant_id = $1 AND id = $2 AND expires_at > now()
       RETURNING employee_id AS "employeeId"`,
      [tenantId, id],
    );
    if (!rows[0]) throw new ApiError('not_found');
    const personId = await addPerson(client, tenantId, { name, email, role, passwordHash, ...rows[0] });
    return then(client, tenantId, personId);
  });
}

function query<Row extends pg.QueryResultRow>(database: Database, text: string, values: unknown[]) {
  return database.pool.query<Row>(text, values);
}
