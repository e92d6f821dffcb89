// The people of the business, invitations to it, and its name: for Verwaltung.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type pg from 'pg';
import { recordAudit } from '../../auth/audit-log.ts';
import { emailAddress, oneOf, optional, readForm, words } from '../../auth/form.ts';
import type { Notices, Recipient } from '../../auth/notices.ts';
import { sessionOf } from '../../auth/office-access.ts';
import { linkTo, makeInvitation } from '../../auth/one-time-links.ts';
import { changePerson, type Role, removePerson, roles } from '../../auth/people.ts';
import { endSessionsOf } from '../../auth/sessions.ts';
import { countAttempt, hashSubject } from '../../auth/sign-in.ts';
import type { Database } from '../../database/database.ts';
import { type IdRoute, idOf, inTenantOf } from '../../engine/http/route-conventions.ts';
import { ApiError } from '../../errors.ts';

const forVerwaltung = { config: { access: 'VERWALTUNG' } } as const;
const withProof = { config: { ...forVerwaltung.config, needsRecentProof: true } } as const;
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
  app.get('/people', forVerwaltung, async (request) => ({
    data: await inTenantOf(request, database, (client) => readPeople(client, request)),
  }));

  app.patch<IdRoute>('/people/:id', withProof, async (request) => {
    const { tenantId, person } = sessionOf(request);
    const changes = readForm(request, {
      name: optional(words(maxNameLength)),
      role: optional(oneOf(roles)),
    });
    const id = idOf(request);
    const after = await inTenantOf(request, database, async (client) => {
      const before = await changePerson(client, tenantId, id, changes);
      const [changed] = await readPeople(client, request, id);
      const details = differencesOf(before, changed!);
      const subject = { id, name: nameAndEmail(changed!) };
      if (details)
        await recordAudit(client, tenantId, request, { event: 'PERSON_CHANGED', subject, details });
      return changed;
    });
    if (changes.role)
      notices.toPerson(tenantId, id, 'roleChanged', { actor: person.name, role: roleTitles[changes.role] });
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
  app.get('/invitations', forVerwaltung, async (request) => {
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
    const form = readForm(request, { email: emailAddress, role: oneOf(roles) });
    const { tenantId, person } = sessionOf(request);
    const { id, token } = await inTenantOf(request, database, async (client) => {
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

  app.delete<IdRoute>('/invitations/:id', forVerwaltung, async (request, reply) => {
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
  app.patch('/business', forVerwaltung, async (request) => {
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
function differencesOf(before: { name: string; role: Role }, after: { name: string; role: Role }) {
  const changed = (['name', 'role'] as const).filter((field) => before[field] !== after[field]);
  if (changed.length === 0) return undefined;
  return Object.fromEntries(changed.map((field) => [field, { from: before[field], to: after[field] }]));
}

function nameAndEmail({ name, email }: { name: string; email: string }): string {
  return `${name} <${email}>`;
}

interface PersonRow {
  id: string;
  name: string;
  email: string;
  role: Role;
  createdAt: Date;
  lastSignInAt: Date | null;
  isSelf: boolean;
}

async function readPeople(client: pg.ClientBase, request: FastifyRequest, id?: string) {
  const { rows } = await client.query<PersonRow>(
    `SELECT id, name, email, role, created_at AS "createdAt", last_sign_in_at AS "lastSignInAt", id = $2 AS "isSelf"
     FROM person WHERE tenant_id = $1 AND ($3::uuid IS NULL OR id = $3) ORDER BY lower(name), id`,
    [request.tenantId, sessionOf(request).person.id, id],
  );
  return rows;
}

/** As people read them in mails; both languages use the German words. */
const roleTitles = { VERWALTUNG: 'Verwaltung', PFLEGE: 'Pflege' };
