// Everything that is stored, as routes: the same below /api/v1 and below /app.
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Config } from '../config.ts';
import type { Database } from '../database/database.ts';
import { addResourceRoutes } from '../engine/http/resource-routes.ts';
import { attentionRoutes } from '../features/attention/attention-routes.ts';
import { eraseRecordedCalls } from '../features/call-log/recorded-calls.ts';
import { changeRoutes } from '../features/changes/changes-routes.ts';
import { noteImport } from '../features/checklist/checklist-routes.ts';
import { importRoutes } from '../features/import/import-routes.ts';
import type { OpenSession } from '../features/import/import-transaction.ts';
import { personalDataRoutes } from '../features/personal-data/personal-data-routes.ts';
import { resources } from '../resources/index.ts';
import { answerExpectation } from './early-answers.ts';
import { holdAnswer, type InFlightLimit } from './in-flight-limit.ts';
import { checkContentType, checkDeclaredLength, parseJson, readBody } from './json-body.ts';

/** What the API and the office use together. */
export interface SharedOptions {
  config: Pick<
    Config,
    'BODY_LIMIT_BYTES' | 'FAILED_AUTH_LIMIT_PER_MINUTE' | 'PUBLIC_URL' | 'RATE_LIMIT_PER_MINUTE'
  >;
  database: Database;
  inFlight: InFlightLimit;
  openImport: OpenSession;
}

const bodyMethods = new Set(['POST', 'PUT', 'PATCH']);

/** Reads bodies as the published statuses demand, and adds the routes of everything that is stored. */
export async function addMasterData(
  scope: FastifyInstance,
  { config, database, openImport }: SharedOptions,
): Promise<void> {
  scope.addHook('preParsing', (request, reply, payload, done) => {
    const { bodyType, takesNoBody } = request.routeOptions.config;
    if (bodyMethods.has(request.method) && !takesNoBody) {
      checkContentType(request.raw, bodyType);
      if (!bodyType) checkDeclaredLength(request.headers, config.BODY_LIMIT_BYTES);
      answerExpectation(request.headers.expect, reply.raw);
    }
    done(null, payload);
  });
  scope.addHook('onSend', (request, _reply, payload, done) => {
    try {
      holdAnswer(request, payload);
      done();
    } catch (error) {
      done(error as Error);
    }
  });
  scope.removeAllContentTypeParsers();
  // A DELETE says everything in its path; clients that name a content type with it mean nothing by it.
  scope.addContentTypeParser('*', async ({ method }: FastifyRequest, payload: FastifyRequest['raw']) =>
    method === 'DELETE' ? undefined : parseJson(await readBody(payload, config.BODY_LIMIT_BYTES)),
  );
  for (const definition of resources) addResourceRoutes(scope, definition, resources, database);
  await scope.register(changeRoutes, { database });
  await scope.register(attentionRoutes, { database, resources });
  await scope.register(personalDataRoutes, { database, resources, eraseRecordedCalls });
  await scope.register(importRoutes, {
    openImport,
    resources,
    maxLineBytes: config.BODY_LIMIT_BYTES,
    onImport: (tenantId) => void noteImport(database, tenantId),
  });
}

/** Counts a request for its tenant once that is known: before the body, and before anything is done. */
export function joinTenant(request: FastifyRequest, credential: 'key' | 'session'): void {
  const { tenantId, method, place } = request;
  const { bodyType, takesNoBody, streamedBytes } = request.routeOptions.config;
  place?.joinTenant(tenantId, credential);
  if (streamedBytes) place?.holdAnswer(streamedBytes);
  if (bodyMethods.has(method) && !bodyType && !takesNoBody) place?.awaitBody(request.raw);
}

/** The router takes nothing at all as an id, too; a path that ends there is no path of ours. */
export function isOpenEnded(request: FastifyRequest): boolean {
  return request.url.split('?', 1)[0]!.endsWith('/');
}
