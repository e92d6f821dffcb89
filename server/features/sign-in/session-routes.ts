// Coming in and going out: the sessions of a person, and the routes around them.
import type { FastifyInstance } from 'fastify';
import { recordAudit } from '../../access/audit-log.ts';
import { emailAddress, optional, readForm, uuid } from '../../access/form.ts';
import { sessionOf } from '../../access/office-access.ts';
import {
  endedCookie,
  endSession,
  endSessionsOf,
  findSession,
  readSessionCookie,
} from '../../access/sessions.ts';
import type { Database } from '../../database/database.ts';
import { isUuid } from '../../engine/definition/formats.ts';
import { ApiError } from '../../errors.ts';
import type { Notices } from '../../mail/notices.ts';
import { isRelease } from '../../program.ts';
import { version } from '../../version.ts';
import { addPasswordRoute, addProfileRoute } from './account-routes.ts';
import { addInvitationRoutes, addSetupRoutes } from './arrival-routes.ts';
import { askForSecondFactor, passkeySignInRoutes } from './passkey-sign-in-routes.ts';
import { typedPassword } from './password-fields.ts';
import { signIn } from './sign-in.ts';
import { me, welcomeBack } from './welcome.ts';

const isOwnWithoutPasskey = { config: { allowsMissingPasskey: true } } as const;

interface Options {
  database: Database;
  notices: Notices;
  publicUrl: string | undefined;
}

export async function sessionRoutes(app: FastifyInstance, options: Options): Promise<void> {
  const { database, publicUrl } = options;
  await app.register(passkeySignInRoutes, {
    database,
    publicUrl,
    welcome: (request, reply, token) => welcomeBack(options, request, reply, token),
  });
  addStateRoute(app, options);
  addSetupRoutes(app, database);
  addInvitationRoutes(app, database);
  addSessionRoutes(app, options);
  addSessionListRoutes(app, database);
  addPasswordRoute(app, options);
  addProfileRoute(app, options);
}

function addStateRoute(app: FastifyInstance, { database, notices, publicUrl }: Options): void {
  // The app's first question, which is no failure where nobody is signed in.
  app.get('/state', async (request) => {
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
}

function addSessionRoutes(app: FastifyInstance, options: Options): void {
  app.post('/session', async (request, reply) => {
    const credentials = readForm(request, {
      email: emailAddress,
      password: typedPassword,
      businessId: optional(uuid),
    });
    const outcome = await signIn(options.database, request, reply, credentials);
    if (typeof outcome !== 'string') return askForSecondFactor(options, request, outcome);
    return welcomeBack(options, request, reply, outcome);
  });

  app.get('/session', isOwnWithoutPasskey, async (request) => me(sessionOf(request)));

  app.delete('/session', isOwnWithoutPasskey, async (request, reply) => {
    const { tenantId } = sessionOf(request);
    await options.database.inTenants([tenantId], (client) =>
      recordAudit(client, tenantId, request, { event: 'SIGNED_OUT' }),
    );
    await endSession(options.database, readSessionCookie(request));
    reply.code(204).header('Set-Cookie', endedCookie(request));
  });
}

function addSessionListRoutes(app: FastifyInstance, database: Database): void {
  // Ends all sessions, this one too: a person who has lost a device may not know which session it has.
  app.delete('/sessions', async (request, reply) => {
    const { tenantId, person } = sessionOf(request);
    await database.inTenants([tenantId], async (client) => {
      await endSessionsOf(client, tenantId, person.id);
      await recordAudit(client, tenantId, request, { event: 'SIGNED_OUT_EVERYWHERE' });
    });
    reply.code(204).header('Set-Cookie', endedCookie(request));
  });

  app.get('/sessions', async (request) => {
    const { tenantId, person, id: currentId } = sessionOf(request);
    const { rows } = await database.queryInTenants([tenantId], {
      text: `SELECT id, created_at AS "createdAt", last_used_at AS "lastUsedAt", address, user_agent AS "userAgent",
          id = $3 AS "isCurrent"
        FROM session WHERE tenant_id = $1 AND person_id = $2 ORDER BY last_used_at DESC, id`,
      values: [tenantId, person.id, currentId],
    });
    return { data: rows };
  });

  app.delete<{ Params: { id: string } }>('/sessions/:id', async (request, reply) => {
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
}
