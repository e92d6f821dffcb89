// A person's own password, name and email address.
import type { FastifyInstance, FastifyReply } from 'fastify';
import { attemptLimits, countAttempt, hashSubject } from '../../access/attempts.ts';
import { recordAudit } from '../../access/audit-log.ts';
import { emailAddress, optional, readForm, words } from '../../access/form.ts';
import { sessionOf } from '../../access/office-access.ts';
import { changeOwnDetails, findEmployees, setPassword } from '../../access/people.ts';
import { renewSession, type Session, sessionCookie } from '../../access/sessions.ts';
import type { Database } from '../../database/database.ts';
import { validationError } from '../../errors.ts';
import { languageOf } from '../../http/conventions.ts';
import type { Notices } from '../../mail/notices.ts';
import { rememberDevice } from './devices.ts';
import { hashNewPassword } from './new-password.ts';
import { newPassword, typedPassword } from './password-fields.ts';
import { verifyPassword } from './passwords.ts';
import { me } from './welcome.ts';

const maxNameLength = 100;

interface Options {
  database: Database;
  notices: Notices;
}

export function addPasswordRoute(app: FastifyInstance, { database, notices }: Options): void {
  app.post('/password', async (request, reply) => {
    const session = sessionOf(request);
    const { tenantId, person, businessName } = session;
    const form = readForm(request, { currentPassword: typedPassword, newPassword });
    await demandPassword(database, session, reply, form.currentPassword);
    const passwordHash = await hashNewPassword(
      { tenantId, id: person.id },
      {
        field: 'newPassword',
        password: form.newPassword,
        words: [businessName, person.name, person.email],
      },
    );
    const cookies = await database.inTenants([tenantId], async (client) => {
      await setPassword(client, tenantId, person.id, passwordHash, session.id);
      await recordAudit(client, tenantId, request, { event: 'PASSWORD_CHANGED' });
      const device = await rememberDevice(client, request, tenantId, person);
      return [sessionCookie(request, await renewSession(client, session)), device.cookie];
    });
    notices.toPerson(tenantId, person.id, 'passwordChanged');
    reply.code(204).header('Set-Cookie', cookies);
  });
}

export function addProfileRoute(app: FastifyInstance, { database, notices }: Options): void {
  app.get('/profile', async (request) => {
    const { tenantId, person } = sessionOf(request);
    return database.inTenants([tenantId], async (client) => {
      const { rows } = await client.query<{ id: string | null }>(
        'SELECT employee_id AS id FROM person WHERE tenant_id = $1 AND id = $2',
        [tenantId, person.id],
      );
      const id = rows[0]?.id ?? null;
      return { employeeId: (await findEmployees(client, tenantId, [id])).get(id)?.id ?? null };
    });
  });

  app.patch('/profile', async (request, reply) => {
    const session = sessionOf(request);
    const { tenantId, person } = session;
    const { name, email, currentPassword } = readForm(request, {
      name: optional(words(maxNameLength)),
      email: optional(emailAddress),
      currentPassword: optional(typedPassword),
    });
    const isNewEmail = email !== undefined && email !== person.email;
    if (isNewEmail) await demandPassword(database, session, reply, currentPassword);
    const changed = { name, email: isNewEmail ? email : undefined };
    const device = await database.inTenants([tenantId], async (client) => {
      await changeOwnDetails(client, tenantId, person.id, changed);
      await recordAudit(client, tenantId, request, {
        event: 'PERSON_CHANGED',
        subject: { id: person.id, name: name ?? person.name },
        details: { fields: Object.entries(changed).flatMap(([field, value]) => (value ? [field] : [])) },
      });
      return isNewEmail ? rememberDevice(client, request, tenantId, { id: person.id, email }) : undefined;
    });
    if (device) {
      notices.toAddress(tenantId, { email: person.email, language: languageOf(request) }, 'emailChanged', {
        email: email!,
      });
      reply.header('Set-Cookie', device.cookie);
    }
    return me({ ...session, person: { ...person, name: name ?? person.name, email: email ?? person.email } });
  });
}

/** Limits password guesses in a browser that somebody left open. */
async function demandPassword(
  database: Database,
  { tenantId, person }: Session,
  reply: FastifyReply,
  typed: string | undefined,
): Promise<void> {
  if (typed === undefined) throw validationError([{ path: ['currentPassword'], code: 'required' }]);
  const subject = hashSubject('password', person.id);
  await countAttempt(database, reply, subject, attemptLimits.account);
  const { rows } = await database.queryInTenants<{ password_hash: string }>([tenantId], {
    text: 'SELECT password_hash FROM person WHERE tenant_id = $1 AND id = $2',
    values: [tenantId, person.id],
  });
  if (!rows[0] || !(await verifyPassword(typed, rows[0].password_hash)))
    throw validationError([{ path: ['currentPassword'], code: 'wrong_password' }]);
  await database.pool.query('SELECT forgive_sign_in($1, $1)', [subject]);
}
