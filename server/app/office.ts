// The web app's calls below /app, for people who are signed in.
import type { FastifyInstance } from 'fastify';
import { demandAccess } from '../access/office-access.ts';
import { addRouteRights } from '../access/route-rights.ts';
import type { Database } from '../database/database.ts';
import { ApiError } from '../errors.ts';
import { keyRoutes } from '../features/api-key/key-routes.ts';
import { appointmentMailRoutes } from '../features/appointment-mail/appointment-mail-routes.ts';
import { leftEntryRoutes } from '../features/attention/left-entry-routes.ts';
import { leftKindRoutes } from '../features/attention/left-kind-routes.ts';
import { auditRoutes } from '../features/audit/audit-routes.ts';
import { backupRoutes } from '../features/backup/backup-routes.ts';
import { feedRoutes } from '../features/calendar-feeds/feed-routes.ts';
import { requestRoutes } from '../features/call-log/call-log-routes.ts';
import { addCareRoleRules } from '../features/care-role/care-role.ts';
import { historyRoutes } from '../features/changes/history-routes.ts';
import { checklistRoutes } from '../features/checklist/checklist-routes.ts';
import { definitionRoutes } from '../features/definitions/definition-routes.ts';
import { duplicateMatchRoutes } from '../features/duplicate-matches/duplicate-match-routes.ts';
import { importListRoutes } from '../features/import-undo/import-list-routes.ts';
import { recentRoutes } from '../features/import-undo/recent-routes.ts';
import { mapRoutes } from '../features/map/map-routes.ts';
import { nameMatchRoutes } from '../features/name-matches/name-match-routes.ts';
import { rememberedChoiceRoutes } from '../features/name-matches/remembered-choice-routes.ts';
import { namedObjectRoutes } from '../features/named-objects/named-object-routes.ts';
import { peopleRoutes } from '../features/people/people-routes.ts';
import { passkeyRoutes } from '../features/sign-in/passkey-routes.ts';
import { passwordResetRoutes } from '../features/sign-in/password-reset-routes.ts';
import { proofRoutes } from '../features/sign-in/proof-routes.ts';
import { sessionRoutes } from '../features/sign-in/session-routes.ts';
import { tableCsvRoutes } from '../features/tables/table-routes.ts';
import { testBusinessRoutes } from '../features/test-business/test-business-routes.ts';
import { viewRoutes } from '../features/views/view-routes.ts';
import { visitSettingRoutes } from '../features/visits/visit-settings.ts';
import { visitSumRoutes } from '../features/visits/visit-sums.ts';
import { webhookRoutes } from '../features/webhooks/webhook-routes.ts';
import { officeHeaders } from '../http/answer-headers.ts';
import { addBodyRules, isOpenEnded, joinTenant } from '../http/body-rules.ts';
import { addHeavyReads } from '../http/heavy-reads.ts';
import type { Notices } from '../mail/notices.ts';
import { resources } from '../resources/index.ts';
import { addSharedRoutes, type SharedOptions } from './shared-routes.ts';

/** The same routes as the API's, and what the office has beside them. */
export async function officeRoutes(
  office: FastifyInstance,
  { notices, ...shared }: SharedOptions & { notices: Notices },
): Promise<void> {
  const { database, findings, inFlight } = shared;
  const publicUrl = shared.config.PUBLIC_URL;
  addRouteRights(office, '/app', resources);
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
    if (!isPublic) await joinTenant(request, 'session');
  });
  // Once the body is there: one that a stranger never finishes costs nothing, and must take no room from anybody.
  office.addHook('preHandler', async (request, reply) => {
    if (request.routeOptions.config.access === 'PUBLIC') inFlight.enter(reply);
  });
  office.setNotFoundHandler(() => {
    throw new ApiError('not_found');
  });
  addCareRoleRules(office, resources);
  addBodyRules(office, shared.config.BODY_LIMIT_BYTES);
  addHeavyReads(office, inFlight.heavyReads);
  await addSharedRoutes(office, shared);
  await office.register(ownBusinessRoutes, { database, notices, publicUrl });
  await office.register(definitionRoutes, { database, resources });
  await office.register(tableCsvRoutes, { database, resources });
  await office.register(historyRoutes, { database });
  await office.register(nameMatchRoutes, { database, resources });
  await office.register(rememberedChoiceRoutes, { database });
  await office.register(duplicateMatchRoutes, { database, resources });
  await office.register(importListRoutes, { database, resources });
  await office.register(recentRoutes, { database, resources });
  await office.register(namedObjectRoutes, { database, resources });
  await office.register(keyRoutes, { database, notices });
  await office.register(webhookRoutes, { config: shared.config, database, resources });
  await office.register(auditRoutes, { database });
  await office.register(backupRoutes, { database, config: shared.config });
  await office.register(checklistRoutes, { database });
  await office.register(requestRoutes, { database, resources });
  await office.register(mapRoutes, { database, config: shared.config });
  await office.register(appointmentMailRoutes, { database, notices });
  await office.register(visitSettingRoutes, { database });
  await office.register(visitSumRoutes, { database });
  await office.register(feedRoutes, { database, publicUrl, heavyReads: inFlight.heavyReads });
  await office.register(leftEntryRoutes, { database, resources, findings });
  await office.register(leftKindRoutes, { database, resources });
}

/** About people and their accounts, who belong to the real business. A test business has none. */
async function ownBusinessRoutes(
  office: FastifyInstance,
  options: { database: Database; notices: Notices; publicUrl: string | undefined },
): Promise<void> {
  office.addHook('onRoute', (route) => {
    const { access, business } = route.config ?? {};
    const usual = access === 'VERWALTUNG' ? 'OWN_OUTSIDE_TEST' : 'OWN';
    route.config = { ...route.config, business: business ?? usual };
  });
  await office.register(sessionRoutes, options);
  await office.register(passwordResetRoutes, options);
  await office.register(passkeyRoutes, options);
  await office.register(proofRoutes, options);
  await office.register(peopleRoutes, options);
  await office.register(viewRoutes, { ...options, resources });
  await office.register(testBusinessRoutes, options);
}
