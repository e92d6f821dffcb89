// The people of the business, invitations to it, and its name: for Verwaltung.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type pg from 'pg';
import { countAttempt, hashSubject } from '../../access/attempts.ts';
import { recordAudit } from '../../access/audit-log.ts';
import { emailAddress, nullable, oneOf, optional, readForm, uuid, words } from '../../access/form.ts';
import { sessionOf } from '../../access/office-access.ts';
import { linkTo, makeInvitation } from '../../access/one-time-links.ts';
import {
  changePerson,
  demandEmployee,
  findEmployees,
  type PersonState,
  type Role,
  removePerson,
  roles,
} from '../../access/people.ts';
import { endSessionsOf } from '../../access/sessions.ts';
import type { Database } from '../../database/database.ts';
import { type IdRoute, idOf, inTenantOf } from '../../engine/http/route-conventions.ts';
import { ApiError } from '../../errors.ts';
import type { Notices, Recipient } from '../../mail/notices.ts';

const withProof = { config: { needsRecentProof: true } } as const;
const maxNameLength = 100;
/** In 15 minutes and for each business: Stamm must not be a way to send mail to strangers. */
const mostMailedInvitations = 30;

interface Options {
  database: Database;
  notices: Notices;
  publicUrl: string | undefined;
}

export async function peopleRoutes(app: FastifyInstance, options: Options): Promise<void> {
  addPersonRoutes(app, options);
  addInvitationRoutes(app, options);
  addBusinessRoute(app, options);
}

function addPersonRoutes(app: FastifyInstance, { database, notices }: Options): void {
  app.get('/people', async (request) => ({
    data: await inTenantOf(request, database, (client) => readPeople(client, request)),
  }));

  app.patch<IdRoute>('/people/:id', withProof, async (request) => {
    const { tenantId, person } = sessionOf(request);
    const changes = readForm(request, {
      name: optional(words(maxNameLength)),
      role: optional(oneOf(roles)),
      employeeId: optional(nullable(uuid)),
    });
    const id = idOf(request);
    const after = await inTenantOf(request, database, async (client) => {
      const before = await changePerson(client, tenantId, id, changes);
      const [changed] = await readPeople(client, request, id);
      const details = await differencesOf(client, tenantId, before, changed!);
      const subject = { id, name: nameAndEmail(changed!) };
      if (details)
        await recordAudit(client, tenantId, request, { event: 'PERSON_CHANGED', subject, details });
      return changed;
    });
    if (changes.role)
      notices.toPerson(tenantId, id, 'roleChanged', { actor: person.name, role: changes.role });
    return after;
  });

  app.delete<IdRoute>('/people/:id', withProof, async (request, reply) => {
    const { tenantId, person } = sessionOf(request);
    const id = idOf(request);
    const recipient = await inTenantOf(request, database, async (client) => {
      const { rows } = await client.query<Recipient>(
        'SELECT email, language FROM person WHERE tenant_id = $1 AND id = $2',
        [tenantId, id],
      );
      const subject = { id, name: nameAndEmail(await removePerson(client, tenantId, id)) };
      await recordAudit(client, tenantId, request, { event: 'PERSON_REMOVED', subject });
      return rows[0];
    });
    if (recipient) notices.toAddress(tenantId, recipient, 'personRemoved', { actor: person.name });
    reply.code(204);
  });

  app.delete<IdRoute>('/people/:id/sessions', withProof, async (request, reply) => {
    const { tenantId } = sessionOf(request);
    const id = idOf(request);
    await inTenantOf(request, database, async (client) => {
      const [person] = await readPeople(client, request, id);
      if (!person) throw new ApiError('not_found');
      await endSessionsOf(client, tenantId, id);
      const subject = { id, name: person.name };
      await recordAudit(client, tenantId, request, { event: 'SIGNED_OUT_EVERYWHERE', subject });
    });
    reply.code(204);
  });
}

function addInvitationRoutes(app: FastifyInstance, { database, notices, publicUrl }: Options): void {
  app.get('/invitations', async (request) => {
    const { rows } = await inTenantOf(request, database, (client) =>
      client.query(
        `SELECT id, email, role, created_at AS "createdAt", expires_at AS "expiresAt"
         FROM invitation WHERE tenant_id = $1 AND expires_at > now() ORDER BY id DESC`,
        [request.tenantId],
      ),
    );
    return { data: rows };
  });

  app.post('/invitations', withProof, async (request, reply) => {
    const form = readForm(request, {
      email: emailAddress,
      role: oneOf(roles),
      employeeId: optional(uuid),
    });
    const { tenantId, person } = sessionOf(request);
    const { id, token } = await inTenantOf(request, database, async (client) => {
      if (form.employeeId) await demandEmployee(client, tenantId, form.employeeId);
      const made = await makeInvitation(client, tenantId, form);
      const subject = { id: made.id, name: form.email };
      const details = { role: form.role };
      await recordAudit(client, tenantId, request, { event: 'PERSON_INVITED', subject, details });
      return made;
    });
    const link = linkTo(request, publicUrl, 'invitation', token);
    const isMailed = notices.hasMail && (await mayMailInvitation(database, tenantId, reply));
    if (isMailed)
      notices.toAddress(tenantId, { email: form.email, language: null }, 'invitation', {
        actor: person.name,
        link,
      });
    reply.code(201);
    return { id, link, isMailed };
  });

  app.delete<IdRoute>('/invitations/:id', async (request, reply) => {
    const { tenantId } = request;
    const id = idOf(request);
    await inTenantOf(request, database, async (client) => {
      const { rows } = await client.query<{ email: string }>(
        'DELETE FROM invitation WHERE tenant_id = $1 AND id = $2 RETURNING email',
        [tenantId, id],
      );
      if (!rows[0]) throw new ApiError('not_found');
      const subject = { id, name: rows[0].email };
      await recordAudit(client, tenantId, request, { event: 'INVITATION_WITHDRAWN', subject });
    });
    reply.code(204);
  });
}

function addBusinessRoute(app: FastifyInstance, { database }: Options): void {
  app.patch('/business', async (request) => {
    const { name } = readForm(request, { name: words(maxNameLength) });
    const { tenantId } = request;
    await inTenantOf(request, database, async (client) => {
      const { rows } = await client.query<{ name: string }>(
        `WITH before AS (SELECT name FROM tenant WHERE tenant_id = $1 FOR UPDATE)
         UPDATE tenant SET name = $2 FROM before WHERE tenant_id = $1 RETURNING before.name`,
        [tenantId, name],
      );
      if (rows[0]!.name === name) return;
      const details = { businessName: { from: rows[0]!.name, to: name } };
      await recordAudit(client, tenantId, request, { event: 'SETTINGS_CHANGED', details });
    });
    return { id: tenantId, name };
  });
}

async function mayMailInvitation(
  database: Database,
  tenantId: string,
  reply: FastifyReply,
): Promise<boolean> {
  const subject = hashSubject('invitations', tenantId);
  const sent = await countAttempt(database, reply, subject, Number.POSITIVE_INFINITY);
  return sent <= mostMailedInvitations;
}

/** What a change of a person has changed; undefined for nothing. */
async function differencesOf(
  client: pg.ClientBase,
  tenantId: string,
  before: PersonState,
  after: PersonState,
): Promise<Record<string, object> | undefined> {
  const changed = (['name', 'role'] as const).filter((field) => before[field] !== after[field]);
  const details: Record<string, object> = Object.fromEntries(
    changed.map((field) => [field, { from: before[field], to: after[field] }]),
  );
  const employees = await findEmployees(client, tenantId, [before.employeeId, after.employeeId]);
  const [from, to] = [before.employeeId, after.employeeId].map((id) => employees.get(id)?.name ?? '–');
  if (from !== to) details.employee = { from, to };
  return Object.keys(details).length > 0 ? details : undefined;
}

function nameAndEmail({ name, email }: { name: string; email: string }): string {
  return `${name} <${email}>`;
}

interface PersonRow {
  id: string;
  name: string;
  email: string;
  role: Role;
  employeeId: string | null;
  createdAt: Date;
  lastSignInAt: Date | null;
  isSelf: boolean;
}

async function readPeople(client: pg.ClientBase, request: FastifyRequest, id?: string) {
  const { tenantId } = request;
  const { rows } = await client.query<PersonRow>(
    `SELECT id, name, email, role, employee_id AS "employeeId", created_at AS "createdAt", last_sign_in_at AS "lastSignInAt", id = $2 AS "isSelf"
     FROM person WHERE tenant_id = $1 AND ($3::uuid IS NULL OR id = $3) ORDER BY lower(name), id`,
    [tenantId, sessionOf(request).person.id, id],
  );
  const ids = rows.map(({ employeeId }) => employeeId);
  const employees = await findEmployees(client, tenantId, ids);
  return rows.map((row) => ({ ...row, employeeId: employees.get(row.employeeId)?.id ?? null }));
}
