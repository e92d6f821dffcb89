// Coming in and going out: setup, invitation, sign-in, sessions, and the own password.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type pg from 'pg';
import { findInvitation, findSetup, useInvitation, useSetup } from '../auth/links.ts';
import { sessionOf } from '../auth/office-access.ts';
import { hashPassword, verifyPassword } from '../auth/passwords.ts';
import { setPassword } from '../auth/people.ts';
import {
  beginSession,
  endedCookie,
  endSession,
  findSession,
  readSessionCookie,
  type Session,
  sessionCookie,
} from '../auth/sessions.ts';
import { attemptLimits, countAttempt, hashSubject, signIn } from '../auth/sign-in.ts';
import { isUuid } from '../crud/formats.ts';
import type { Database } from '../database/database.ts';
import { toApiFailure } from '../database/failures.ts';
import { ApiError, validationError } from '../errors.ts';
import { askForSecondFactor, passkeySignInRoutes } from '../features/passkeys/sign-in-routes.ts';
import { emailAddress, newPassword, readForm, typedPassword, words } from './form.ts';
import { version } from './openapi.ts';

const maxNameLength = 100;
const isPublic = { config: { access: 'PUBLIC' } } as const;
const isOwn = { config: { access: 'SELF' } } as const;
const isOwnWithoutPasskey = { config: { access: 'SELF', allowsMissingPasskey: true } } as const;

interface Options {
  database: Database;
  publicUrl: string | undefined;
}

export async function sessionRoutes(app: FastifyInstance, { database, publicUrl }: Options) {
  await app.register(passkeySignInRoutes, { database, publicUrl, welcome });

  // The app's first question, which is no failure where nobody is signed in.
  app.get('/state', isPublic, async (request) => {
    const session = await findSession(database, readSessionCookie(request));
    const { rows } = await database.pool
      .query<{ has_people: boolean }>('SELECT has_people()')
      .catch((error) => {
        throw toApiFailure(error);
      });
    return { hasPeople: rows[0]!.has_people, me: session ? me(session) : null, ...(session && { version }) };
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
    refuseTelltalePassword('password', password, person.email);
    const passwordHash = await hashPassword(password);
    const session = await useSetup(
      database,
      token,
      businessName,
      { ...person, passwordHash },
      begin(request),
    );
    return welcome(request, reply.code(201), session);
  });

  app.get<TokenRoute>('/invitation/:token', isPublic, async ({ params }) => {
    const { email, role, business_name: businessName } = await findInvitation(database, params.token);
    return { businessName, email, role };
  });

  app.post<TokenRoute>('/invitation/:token', isPublic, async (request, reply) => {
    const { token } = request.params;
    const { email } = await findInvitation(database, token);
    const { name, password } = readForm(request, { name: words(maxNameLength), password: newPassword });
    refuseTelltalePassword('password', password, email);
    const passwordHash = await hashPassword(password);
    const session = await useInvitation(database, token, { name, passwordHash }, begin(request));
    return welcome(request, reply.code(201), session);
  });

  app.post('/session', isPublic, async (request, reply) => {
    const credentials = readForm(request, { email: emailAddress, password: typedPassword });
    const outcome = await signIn(database, request, reply, credentials);
    if (typeof outcome !== 'string') return askForSecondFactor({ database, publicUrl }, request, outcome);
    return welcome(request, reply, outcome);
  });

  app.get('/session', isOwnWithoutPasskey, async (request) => me(sessionOf(request)));

  app.delete('/session', isOwnWithoutPasskey, async (request, reply) => {
    await endSession(database, readSessionCookie(request));
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
    const { tenantId, person, id: sessionId } = sessionOf(request);
    const form = readForm(request, { currentPassword: typedPassword, newPassword });
    refuseTelltalePassword('newPassword', form.newPassword, person.email);
    // Whoever finds an open browser must not be able to try passwords here.
    const subject = hashSubject('password', person.id);
    await countAttempt(database, reply, subject, attemptLimits.account);
    const { rows } = await database.queryInTenants<{ password_hash: string }>([tenantId], {
      text: 'SELECT password_hash FROM person WHERE tenant_id = $1 AND id = $2',
      values: [tenantId, person.id],
    });
    if (!(await verifyPassword(form.currentPassword, rows[0]?.password_hash)))
      throw validationError([{ path: ['currentPassword'], code: 'wrong_password' }]);
    const passwordHash = await hashPassword(form.newPassword);
    await database.inTenants([tenantId], (client) =>
      setPassword(client, tenantId, person.id, passwordHash, sessionId),
    );
    await database.pool.query('SELECT forgive_sign_in($1, $1)', [subject]);
    reply.code(204);
  });

  async function welcome(request: FastifyRequest, reply: FastifyReply, token: string) {
    const session = await findSession(database, token);
    if (!session) throw new ApiError('session_missing');
    reply.header('Set-Cookie', sessionCookie(request, token));
    return me(session);
  }
}

interface TokenRoute {
  Params: { token: string };
}

/** Begins the session in the transaction that makes the person. */
function begin(request: FastifyRequest) {
  return (client: pg.ClientBase, tenantId: string, personId: string) =>
    beginSession(client, tenantId, personId, request);
}

function me({ tenantId, person, businessName, needsPasskey }: Session) {
  const business = { id: tenantId, name: businessName };
  return { person, business, ...(needsPasskey && { needsPasskey }) };
}

/** The first thing that somebody else would try. */
function refuseTelltalePassword(field: string, password: string, email: string): void {
  if (password.trim().toLowerCase() === email.toLowerCase())
    throw validationError([{ path: [field], code: 'too_easy' }]);
}
