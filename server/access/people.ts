// The people of a business. Everything here runs in a transaction of that business.
import { createHash, randomUUIDv7 } from 'node:crypto';
import type pg from 'pg';
import { ApiError, validationError } from '../errors.ts';

export const roles = ['VERWALTUNG', 'BUERO', 'PFLEGE'] as const;
export type Role = (typeof roles)[number];

/** Addresses are compared without case; the database knows this hash where it does not yet know the tenant. */
export function hashEmail(email: string): Buffer {
  return createHash('sha256').update(email.trim().normalize('NFC').toLowerCase()).digest();
}

export interface NewPerson {
  name: string;
  email: string;
  role: Role;
  passwordHash: string;
  employeeId?: string | null;
}

/** Those who an account may stand for, by the id that it has stored. One that was merged is the one that it went into. */
export async function findEmployees(
  client: pg.ClientBase,
  tenantId: string,
  ids: readonly (string | null)[],
): Promise<Map<string | null, { id: string; name: string }>> {
  const { rows } = await client.query<{ asked: string; id: string; name: string }>(
    `SELECT asked.id AS asked, employee.id, employee.first_name || ' ' || employee.last_name AS name
     FROM unnest($2::uuid[]) AS asked (id)
     LEFT JOIN former_id AS former ON former.tenant_id = $1 AND former.former_id = asked.id
     JOIN employee ON employee.tenant_id = $1 AND employee.id = coalesce(former.id, asked.id)`,
    [tenantId, ids.filter((id) => id !== null)],
  );
  return new Map(rows.map(({ asked, ...employee }) => [asked, employee]));
}

/** Throws where there is no such employee. */
export async function demandEmployee(client: pg.ClientBase, tenantId: string, id: string): Promise<void> {
  if ((await findEmployees(client, tenantId, [id])).has(id)) return;
  throw validationError([
    { path: ['employeeId'], code: 'reference_not_found', params: { resource: 'employee' } },
  ]);
}

/** Answers with the id; throws `email_taken` where somebody of the business signs in with this address. */
export async function addPerson(client: pg.ClientBase, tenantId: string, person: NewPerson): Promise<string> {
  const id = randomUUIDv7();
  const { rows } = await client.query<{ claimed: boolean }>('SELECT claim_email($1, $2, $3) AS claimed', [
    hashEmail(person.email),
    tenantId,
    id,
  ]);
  if (!rows[0]!.claimed) throw new ApiError('email_taken', { details: { field: 'email' } });
  await client.query(
    `INSERT INTO person (tenant_id, id, name, email, role, password_hash, employee_id)
     VALUES ($1, $2, $3, $4, $5, $6, $7)`,
    [
      tenantId,
      id,
      person.name.trim(),
      person.email.trim(),
      person.role,
      person.passwordHash,
      person.employeeId ?? null,
    ],
  );
  return id;
}

export interface PersonState {
  name: string;
  role: Role;
  /** As it is stored. */
  employeeId: string | null;
}

/** Changes a person and returns what was there before; an employee of null is none. A business keeps at least one administrator. */
export async function changePerson(
  client: pg.ClientBase,
  tenantId: string,
  id: string,
  { name, role, employeeId }: { name?: string; role?: Role; employeeId?: string | null },
): Promise<PersonState> {
  await demandAnotherAdministrator(client, tenantId, id, role);
  if (employeeId) await demandEmployee(client, tenantId, employeeId);
  const { rows } = await client.query<PersonState>(
    `WITH before AS (
       SELECT name, role, employee_id FROM person
       WHERE tenant_id = $1 AND id = $2 FOR UPDATE)
     UPDATE person SET name = coalesce($3, person.name), role = coalesce($4, person.role),
       employee_id = CASE WHEN $5 THEN $6::uuid ELSE person.employee_id END FROM before
     WHERE tenant_id = $1 AND id = $2 RETURNING before.name, before.role, before.employee_id AS "employeeId"`,
    [tenantId, id, name?.trim(), role, employeeId !== undefined, employeeId ?? null],
  );
  if (!rows[0]) throw new ApiError('not_found');
  return rows[0];
}

/** Their sessions end with them. Answers with who it was. */
export async function removePerson(
  client: pg.ClientBase,
  tenantId: string,
  id: string,
): Promise<{ name: string; email: string }> {
  await demandAnotherAdministrator(client, tenantId, id, undefined, true);
  await client.query('SELECT release_email($1, $2)', [tenantId, id]);
  const { rows } = await client.query<{ name: string; email: string }>(
    'DELETE FROM person WHERE tenant_id = $1 AND id = $2 RETURNING name, email',
    [tenantId, id],
  );
  if (!rows[0]) throw new ApiError('not_found');
  return rows[0];
}

async function demandAnotherAdministrator(
  client: pg.ClientBase,
  tenantId: string,
  id: string,
  newRole: Role | undefined,
  isRemoval = false,
): Promise<void> {
  if (!isRemoval && (newRole === undefined || newRole === 'VERWALTUNG')) return;
  // Two administrators who demote each other at the same time must not both succeed.
  await client.query('SELECT FROM tenant WHERE tenant_id = $1 FOR UPDATE', [tenantId]);
  const { rows } = await client.query<{ id: string }>(
    `SELECT id FROM person WHERE tenant_id = $1 AND role = 'VERWALTUNG' LIMIT 2`,
    [tenantId],
  );
  if (rows.length === 1 && rows[0]!.id === id) throw new ApiError('last_administrator');
}

/** Changes one's own name or address; throws `email_taken` where somebody of the business has the address. */
export async function changeOwnDetails(
  client: pg.ClientBase,
  tenantId: string,
  id: string,
  { name, email }: { name?: string | undefined; email?: string | undefined },
): Promise<void> {
  if (email !== undefined) {
    await client.query('SELECT release_email($1, $2)', [tenantId, id]);
    const { rows } = await client.query<{ claimed: boolean }>('SELECT claim_email($1, $2, $3) AS claimed', [
      hashEmail(email),
      tenantId,
      id,
    ]);
    if (!rows[0]!.claimed) throw new ApiError('email_taken', { details: { field: 'email' } });
  }
  await client.query(
    'UPDATE person SET name = coalesce($3, name), email = coalesce($4, email) WHERE tenant_id = $1 AND id = $2',
    [tenantId, id, name, email],
  );
}

/** Sets a password; every session of the person ends, except the one that is named. Devices and reset links end too. */
export async function setPassword(
  client: pg.ClientBase,
  tenantId: string,
  id: string,
  passwordHash: string,
  keptSessionId?: string,
): Promise<void> {
  await client.query('UPDATE person SET password_hash = $3 WHERE tenant_id = $1 AND id = $2', [
    tenantId,
    id,
    passwordHash,
  ]);
  await client.query('DELETE FROM pending_sign_in WHERE tenant_id = $1 AND person_id = $2', [tenantId, id]);
  await client.query(
    'DELETE FROM session WHERE tenant_id = $1 AND person_id = $2 AND id IS DISTINCT FROM $3',
    [tenantId, id, keptSessionId],
  );
  await client.query('DELETE FROM known_device WHERE tenant_id = $1 AND person_id = $2', [tenantId, id]);
  await client.query('DELETE FROM password_reset WHERE tenant_id = $1 AND person_id = $2', [tenantId, id]);
}
