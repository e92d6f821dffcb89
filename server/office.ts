// The web app's calls below /app, for people who are signed in.
import type { FastifyInstance } from 'fastify';
import type { Notices } from './auth/notices.ts';
import { demandAccess } from './auth/office-access.ts';
import { ApiError } from './errors.ts';
import { auditRoutes } from './features/audit/routes.ts';
import { passkeyRoutes } from './features/passkeys/passkey-routes.ts';
import { proofRoutes } from './features/passkeys/proof-routes.ts';
import { passwordResetRoutes } from './features/password-reset/routes.ts';
import { officeHeaders } from './http/answer-headers.ts';
import { historyRoutes } from './journal/history.ts';
import { addMasterData, isOpenEnded, joinTenant, type SharedOptions } from './master-data.ts';
import { resources } from './resources/index.ts';
import { checklistRoutes } from './routes/checklist.ts';
import { definitionRoutes } from './routes/definitions.ts';
import { keyRoutes } from './routes/key.ts';
import { mapRoutes } from './routes/map.ts';
import { namedObjectRoutes } from './routes/named-objects.ts';
import { peopleRoutes } from './routes/people.ts';
import { requestRoutes } from './routes/requests.ts';
import { sessionRoutes } from './routes/session.ts';

/** The same routes as the API's, and what the office has beside them. */
export async function officeRoutes(
  office: FastifyInstance,
  { notices, ...shared }: SharedOptions & { notices: Notices },
): Promise<void> {
  const { database, inFlight } = shared;
  const publicUrl = shared.config.PUBLIC_URL;
  // They are no part of the published interface, and their answers change with the app.
  office.addHook('onRoute', (route) => {
    route.schema = { hide: true };
  });
  office.addHook('onRequest', async (request, reply) => {
    reply.headers(officeHeaders);
    const isPublic = request.routeOptions.config.access === 'PUBLIC';
    if (!isPublic) request.place = inFlight.enter(reply);
    if (request.is404 || isOpenEnded(request)) throw new ApiError('not_found');
    await demandAccess(database, request);
    if (!isPublic) joinTenant(request, 'session');
  });
  // Once the body is there: one that a stranger never finishes costs nothing, and must take no room from anybody.
  office.addHook('preHandler', async (request, reply) => {
    if (request.routeOptions.config.access === 'PUBLIC') inFlight.enter(reply);
  });
  office.setNotFoundHandler(() => {
    throw new ApiError('not_found');
  });
  await addMasterData(office, shared);
  await office.register(sessionRoutes, { database, notices, publicUrl });
  await office.register(passwordResetRoutes, { database, notices, publicUrl });
  await office.register(passkeyRoutes, { database, publicUrl });
  await office.register(proofRoutes, { database, publicUrl });
  await office.register(definitionRoutes, { resources });
  await office.register(historyRoutes, { database });
  await office.register(namedObjectRoutes, { database, resources });
  await office.register(peopleRoutes, { database, notices, publicUrl });
  await office.register(keyRoutes, { database, notices });
  await office.register(auditRoutes, { database });
  await office.register(checklistRoutes, { database });
  await office.register(requestRoutes, { database, resources });
  await office.register(mapRoutes, { database });
}
