// Coming in and going out: setup, invitation, sign-in, sessions, and the own password.

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type pg from 'pg';
import { recordAudit } from '../../auth/audit-log.ts';
import { rememberDevice } from '../../auth/devices.ts';
import {
  emailAddress,
  newPassword,
  optional,
  readForm,
  refuseGuessablePassword,
  typedPassword,
  uuid,
  words,
} from '../../auth/form.ts';
import type { Notices } from '../../auth/notices.ts';
import { sessionOf } from '../../auth/office-access.ts';
import { findInvitation, findSetup, useInvitation, useSetup } from '../../auth/one-time-links.ts';
import { hashPassword, verifyPassword } from '../../auth/passwords.ts';
import { changeOwnDetails, setPassword } from '../../auth/people.ts';
import {
  beginSession,
  endedCookie,
  endSession,
  endSessionsOf,
  findSession,
  readSessionCookie,
  renewSession,
  type Session,
  sessionCookie,
} from '../../auth/sessions.ts';
import { attemptLimits, countAttempt, hashSubject, signIn } from '../../auth/sign-in.ts';
import type { Database } from '../../database/database.ts';
import { isUuid } from '../../engine/definition/formats.ts';
import { ApiError, validationError } from '../../errors.ts';
import { languageOf } from '../../http/conventions.ts';
import { isRelease } from '../../program.ts';
import { version } from '../../version.ts';
import { askForSecondFactor, passkeySignInRoutes } from './passkey-sign-in-routes.ts';

const maxNameLength = 100;
const isPublic = { config: { access: 'PUBLIC' } } as const;
const isOwn = { config: { access: 'SELF' } } as const;
const isOwnWithoutPasskey = { config: { access: 'SELF', allowsMissingPasskey: true } } as const;

interface Options {
  database: Database;
  notices: Notices;
  publicUrl: string | undefined;
}

export async function sessionRoutes(app: FastifyInstance, { database, notices, publicUrl }: Options) {
  await app.register(passkeySignInRoutes, { database, publicUrl, welcome: welcomeBack });

  // The app's first question, which is no failure where nobody is signed in.
  app.get('/state', isPublic, async (request) => {
    const session = await findSession(database, readSessionCookie(request));
    const { rows } = await database.pool.query<{ has_people: boolean }>('SELECT has_people()');
    return {
      hasPeople: rows[0]!.has_people,
      hasMail: notices.hasMail,
      isRelease,
      me: session ? me(session) : null,
      ...(session && { version, publicUrl }),
    };
  });

  app.get<TokenRoute>('/setup/:token', isPublic, async ({ params }) => {
    const { businessName } = await findSetup(database, params.token);
    return { businessName };
  });

  app.post<TokenRoute>('/setup/:token', isPublic, async (request, reply) => {
    const { token } = request.params;
    await findSetup(database, token);
    const { businessName, password, ...person } = readForm(request, {
      businessName: words(maxNameLength),
      name: words(maxNameLength),
      email: emailAddress,
      password: newPassword,
    });
    await refuseGuessablePassword('password', password, [businessName, person.name, person.email]);
    const passwordHash = await hashPassword(password);
    const session = await useSetup(
      database,
      token,
      businessName,
      { ...person, passwordHash },
      begin(request, person.name),
    );
    return (await welcome(request, reply.code(201), session)).me;
  });

  app.get<TokenRoute>('/invitation/:token', isPublic, async ({ params }) => {
    const { email, role, business_name: businessName } = await findInvitation(database, params.token);
    return { businessName, email, role };
  });

  app.post<TokenRoute>('/invitation/:token', isPublic, async (request, reply) => {
    const { token } = request.params;
    const { email, business_name: businessName } = await findInvitation(database, token);
    const { name, password } = readForm(request, { name: words(maxNameLength), password: newPassword });
    await refuseGuessablePassword('password', password, [businessName, name, email]);
    const passwordHash = await hashPassword(password);
    const session = await useInvitation(database, token, { name, passwordHash }, begin(request, name));
    return (await welcome(request, reply.code(201), session)).me;
  });

  app.post('/session', isPublic, async (request, reply) => {
    const credentials = readForm(request, {
      email: emailAddress,
      password: typedPassword,
      businessId: optional(uuid),
    });
    const outcome = await signIn(database, request, reply, credentials);
    if (typeof outcome !== 'string') return askForSecondFactor({ database, publicUrl }, request, outcome);
    return welcomeBack(request, reply, outcome);
  });

  app.get('/session', isOwnWithoutPasskey, async (request) => me(sessionOf(request)));

  app.delete('/session', isOwnWithoutPasskey, async (request, reply) => {
    const { tenantId } = sessionOf(request);
    await inTenant(tenantId, (client) => recordAudit(client, tenantId, request, { event: 'SIGNED_OUT' }));
    await endSession(database, readSessionCookie(request));
    reply.code(204).header('Set-Cookie', endedCookie(request));
  });

  // Ends all sessions, this one too: a person who has lost a device may not know which session it has.
  app.delete('/sessions', isOwn, async (request, reply) => {
    const { tenantId, person } = sessionOf(request);
    await inTenant(tenantId, async (client) => {
      await endSessionsOf(client, tenantId, person.id);
      await recordAudit(client, tenantId, request, { event: 'SIGNED_OUT_EVERYWHERE' });
    });
    reply.code(204).header('Set-Cookie', endedCookie(request));
  });

  app.get('/sessions', isOwn, async (request) => {
    const { tenantId, person, id: currentId } = sessionOf(request);
    const { rows } = await database.queryInTenants([tenantId], {
      text: `SELECT id, created_at AS "createdAt", last_used_at AS "lastUsedAt", address, user_agent AS "userAgent",
          id = $3 AS "isCurrent"
        FROM session WHERE tenant_id = $1 AND person_id = $2 ORDER BY last_used_at DESC, id`,
      values: [tenantId, person.id, currentId],
    });
    return { data: rows };
  });

  app.delete<{ Params: { id: string } }>('/sessions/:id', isOwn, async (request, reply) => {
    const { tenantId, person } = sessionOf(request);
    const { id } = request.params;
    if (!isUuid(id)) throw new ApiError('not_found');
    const { rowCount } = await database.queryInTenants([tenantId], {
      text: 'DELETE FROM session WHERE tenant_id = $1 AND person_id = $2 AND id = $3',
      values: [tenantId, person.id, id],
    });
    if (rowCount === 0) throw new ApiError('not_found');
    reply.code(204);
  });

  app.post('/password', isOwn, async (request, reply) => {
    const session = sessionOf(request);
    const { tenantId, person, businessName } = session;
    const form = readForm(request, { currentPassword: typedPassword, newPassword });
    await demandPassword(session, reply, form.currentPassword);
    await refuseGuessablePassword('newPassword', form.newPassword, [businessName, person.name, person.email]);
    const passwordHash = await hashPassword(form.newPassword);
    const cookies = await inTenant(tenantId, async (client) => {
      await setPassword(client, tenantId, person.id, passwordHash, session.id);
      await recordAudit(client, tenantId, request, { event: 'PASSWORD_CHANGED' });
      const device = await rememberDevice(client, request, tenantId, person);
      return [sessionCookie(request, await renewSession(client, session)), device.cookie];
    });
    notices.toPerson(tenantId, person.id, 'passwordChanged');
    reply.code(204).header('Set-Cookie', cookies);
  });

  app.patch('/profile', isOwn, async (request, reply) => {
    const session = sessionOf(request);
    const { tenantId, person } = session;
    const { name, email, currentPassword } = readForm(request, {
      name: optional(words(maxNameLength)),
      email: optional(emailAddress),
      currentPassword: optional(typedPassword),
    });
    const isNewEmail = email !== undefined && email !== person.email;
    if (isNewEmail) await demandPassword(session, reply, currentPassword);
    const changed = { name, email: isNewEmail ? email : undefined };
    const device = await inTenant(tenantId, async (client) => {
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

  /** Limits password guesses in a browser that somebody left open. */
  async function demandPassword(
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
    if (!(await verifyPassword(typed, rows[0]?.password_hash)))
      throw validationError([{ path: ['currentPassword'], code: 'wrong_password' }]);
    await database.pool.query('SELECT forgive_sign_in($1, $1)', [subject]);
  }

  async function welcome(request: FastifyRequest, reply: FastifyReply, token: string) {
    const session = await findSession(database, token);
    if (!session) throw new ApiError('session_missing');
    const { tenantId, person } = session;
    const device = await inTenant(tenantId, (client) => rememberDevice(client, request, tenantId, person));
    reply.header('Set-Cookie', [sessionCookie(request, token), device.cookie]);
    return { me: me(session), isNewDevice: device.isNew };
  }

  /** As `welcome`, for somebody who has been here before: a browser that has not is reported by mail. */
  async function welcomeBack(request: FastifyRequest, reply: FastifyReply, token: string) {
    const { me, isNewDevice } = await welcome(request, reply, token);
    if (isNewDevice)
      notices.toPerson(me.business.id, me.person.id, 'newDevice', {
        address: request.ip,
        userAgent: request.headers['user-agent'] ?? '',
      });
    return me;
  }

  function inTenant<Result>(tenantId: string, work: (client: pg.ClientBase) => Promise<Result>) {
    return database.inTenants([tenantId], work);
  }
}

interface TokenRoute {
  Params: { token: string };
}

/** Begins the session in the transaction that makes the person. */
function begin(request: FastifyRequest, name: string) {
  return async (client: pg.ClientBase, tenantId: string, id: string) => {
    const who = { id, name };
    await recordAudit(client, tenantId, request, { event: 'PERSON_ADDED', actor: who, subject: who });
    return beginSession(client, tenantId, id, request);
  };
}

function me({ tenantId, person, businessName, needsPasskey }: Session) {
  const business = { id: tenantId, name: businessName };
  return { person, business, ...(needsPasskey && { needsPasskey }) };
}
