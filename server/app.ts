// The application apart from its process: hooks and routes in the order in which a request meets them.
import { randomUUIDv7 } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import swagger from '@fastify/swagger';
import Fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from 'fastify';
import { type Authenticate, buildAuthenticate } from './auth/authentication.ts';
import { KeyUse } from './auth/key-use.ts';
import { demandAccess } from './auth/office-access.ts';
import {
  buildFailureCounter,
  type CountFailures,
  openRedisCounter,
  rateLimitHeaders,
  secondsUntil,
} from './auth/rate-limit.ts';
import { forgetOldSignIns } from './auth/sessions.ts';
import type { Config } from './config.ts';
import { forgetOldRequests } from './crud/idempotency.ts';
import { resourceSchemas, sharedSchemas } from './crud/openapi-schemas.ts';
import { addResourceRoutes } from './crud/routes.ts';
import { type Database, requestDeadlineMs } from './database/database.ts';
import { ApiError, errorBody, toApiError } from './errors.ts';
import { Congestion } from './http/congestion.ts';
import { checkContentType, checkDeclaredLength, parseJson, readBody } from './http/json-body.ts';
import {
  answerBeforeRouting,
  answerExpectation,
  routableUrl,
  routeSpecialRequests,
} from './http/raw-requests.ts';
import { logRequest } from './http/request-log.ts';
import { buildSessions, type OpenSession } from './import/session.ts';
import { changeRoutes, journalSchemas } from './journal/changes.ts';
import { historyRoutes } from './journal/history.ts';
import { trimRecordedRequests } from './journal/recorded-requests.ts';
import { RequestRecorder } from './journal/request-recorder.ts';
import { preferredLanguage } from './messages.ts';
import { contactPerson } from './resources/contact-person.ts';
import { resources } from './resources/index.ts';
import { attentionRoutes, attentionSchemas } from './routes/attention.ts';
import { checklistRoutes, noteImport } from './routes/checklist.ts';
import { definitionRoutes } from './routes/definitions.ts';
import { healthRoutes } from './routes/health.ts';
import { importRoutes, importSchemas } from './routes/import.ts';
import { keyRoutes } from './routes/key.ts';
import { mapRoutes } from './routes/map.ts';
import { namedObjectRoutes } from './routes/named-objects.ts';
import { openapiInfo, openapiRoutes } from './routes/openapi.ts';
import { peopleRoutes } from './routes/people.ts';
import { personalDataRoutes, personalDataSchemas } from './routes/personal-data.ts';
import { referenceRoutes } from './routes/reference.ts';
import { requestRoutes } from './routes/requests.ts';
import { sessionRoutes } from './routes/session.ts';
import { addWebApp } from './routes/web.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** A time of performance.now() by which the request is answered. */
    deadline: number;
    /** Set once the key is known. */
    tenantId: string;
    /** Who acts, for the journal. */
    actor: string;
    ignoredFields: readonly string[];
    problem: ApiError | undefined;
  }
  interface FastifyContextConfig {
    /** The media type that the route's body must have, where it is not JSON but lines of any number. */
    bodyType?: RegExp;
    /** Whether the path says everything, so that no body is asked for and none is read. */
    takesNoBody?: boolean;
  }
}

export type AppConfig = Pick<
  Config,
  'BODY_LIMIT_BYTES' | 'FAILED_AUTH_LIMIT_PER_MINUTE' | 'RATE_LIMIT_PER_MINUTE' | 'REDIS_URL' | 'TRUST_PROXY'
>;

export async function buildApp(
  config: AppConfig,
  database: Database,
  log: FastifyBaseLogger,
  countFailures: CountFailures = buildFailureCounter(),
): Promise<FastifyInstance> {
  const app = Fastify({
    loggerInstance: log,
    logController: new LogController({ disableRequestLogging: true }),
    // Lines name their request themselves, so that no logger is made for each.
    childLoggerFactory: (logger) => logger,
    genReqId: () => randomUUIDv7(),
    trustProxy: config.TRUST_PROXY.length > 0 && config.TRUST_PROXY,
    rewriteUrl: routableUrl,
    clientErrorHandler: answerBeforeRouting,
    // A request that arrives on an open connection while the service stops is still served; 503 is not published.
    return503OnClosing: false,
    requestTimeout: 30_000,
    http: { requireHostHeader: false },
    // Longer than Node lets any path be: an id that is too long is refused where ids are checked.
    routerOptions: { maxParamLength: 100_000 },
  });
  const keyUse = new KeyUse(database);
  const recorder = new RequestRecorder(database);
  const redisCounter = config.REDIS_URL
    ? await openRedisCounter(config.REDIS_URL, (message) => app.log.warn(message))
    : undefined;
  const upkeep = setInterval(() => {
    void forgetOldRequests(database);
    void forgetOldSignIns(database);
    void trimRecordedRequests(database).catch(() => {});
  }, upkeepIntervalMs).unref();
  app.addHook('onClose', async () => {
    clearInterval(upkeep);
    await keyUse.close();
    await recorder.close();
    redisCounter?.close();
  });
  routeSpecialRequests(app.server, log);

  // Answers are written as they are; the schemas of routes document them, and the tests hold them to it.
  app.setSerializerCompiler(() => JSON.stringify);
  app.setValidatorCompiler(() => () => true);
  app.decorateRequest('deadline', 0);
  app.decorateRequest('tenantId', '');
  app.decorateRequest('actor', '');
  app.decorateRequest('ignoredFields');
  app.decorateRequest('problem');
  app.decorateRequest('session');
  app.addHook('onRequest', (request, reply, done) => {
    request.deadline = performance.now() + requestDeadlineMs;
    reply.header('X-Request-Id', request.id);
    done();
  });
  app.addHook('onResponse', (request, reply, done) => {
    logRequest(request, reply);
    done();
  });
  app.setErrorHandler(answerError);
  // Outside the API nothing takes a body, so none is read: a faulty one must not change the answer.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', async () => undefined);

  await app.register(swagger, openapiInfo);
  for (const schema of sharedSchemas) app.addSchema(schema);
  for (const schema of [
    ...resources.flatMap(resourceSchemas),
    ...journalSchemas,
    ...attentionSchemas,
    ...personalDataSchemas,
    ...importSchemas(resources),
  ])
    app.addSchema(schema);
  await addWebApp(app);
  await app.register(healthRoutes, { database });
  await app.register(openapiRoutes);
  await app.register(referenceRoutes);
  const shared = { config, database, congestion: new Congestion(), openImport: buildSessions(database) };
  await app.register(apiRoutes, {
    prefix: '/api/v1',
    ...shared,
    authenticate: buildAuthenticate(database, keyUse, redisCounter),
    countFailures,
    recorder,
  });
  await app.register(officeRoutes, { prefix: '/app', ...shared });
  return app;
}

const upkeepIntervalMs = 3_600_000;

interface SharedOptions {
  config: AppConfig;
  database: Database;
  congestion: Congestion;
  openImport: OpenSession;
}

/** The order of checks is part of the contract: 401, 403, 429, 413, 415, 400. Nothing of the body is read before 413. */
async function apiRoutes(
  api: FastifyInstance,
  {
    authenticate,
    countFailures,
    recorder,
    ...shared
  }: SharedOptions & { authenticate: Authenticate; countFailures: CountFailures; recorder: RequestRecorder },
): Promise<void> {
  const { config, congestion } = shared;
  api.addHook('onResponse', (request, reply, done) => {
    recorder.note(request, reply);
    done();
  });

  api.addHook('onRequest', async (request, reply) => {
    congestion.enter(reply);
    const admission = await authenticate({
      key: request.headers.apikey,
      address: request.ip,
      userAgent: request.headers['user-agent'] ?? '',
      deadline: request.deadline,
    }).catch(async (error) => {
      throw error.status === 401 ? await countFailure(request, reply, error) : error;
    });
    request.tenantId = admission.tenantId;
    request.actor = `key …${admission.keyEnding}`;
    const limit = config.RATE_LIMIT_PER_MINUTE;
    const count = { requests: admission.ordinal, windowEndsInMs: admission.windowEndsInMs };
    reply.headers(rateLimitHeaders('tenant', limit, count));
    if (request.is404 || isOpenEnded(request)) throw new ApiError('not_recognised');
    congestion.enterTenant(request.tenantId, reply);
    if (admission.ordinal > limit) throw await rateLimited(reply, 'rate_limited', count.windowEndsInMs);
  });

  /** Limits guesses per address. A key that has ended was no guess: its sender is known, and is told each time. */
  async function countFailure(
    request: FastifyRequest,
    reply: FastifyReply,
    error: ApiError,
  ): Promise<ApiError> {
    const limit = config.FAILED_AUTH_LIMIT_PER_MINUTE;
    const isGuess = error.code !== 'key_replaced' && error.code !== 'key_deleted';
    const count = await countFailures(request.ip, isGuess ? 1 : 0);
    reply.headers(rateLimitHeaders('failed-authentication', limit, count));
    return isGuess && count.requests > limit
      ? await rateLimited(reply, 'too_many_failed_authentications', count.windowEndsInMs)
      : error;
  }

  api.setNotFoundHandler(() => {
    throw new ApiError('not_recognised');
  });
  await addMasterData(api, shared);
}

/** The web app's calls: the same routes as the API's, for people who are signed in, and what the office has beside them. */
async function officeRoutes(office: FastifyInstance, shared: SharedOptions): Promise<void> {
  const { database, congestion } = shared;
  // They are no part of the published interface, and their answers change with the app.
  office.addHook('onRoute', (route) => {
    route.schema = { hide: true };
  });
  office.addHook('onRequest', async (request, reply) => {
    reply.headers(officeHeaders);
    const isPublic = request.routeOptions.config.access === 'PUBLIC';
    if (!isPublic) congestion.enter(reply);
    if (request.is404 || isOpenEnded(request)) throw new ApiError('not_found');
    await demandAccess(database, request);
    // Counted apart from the tenant's key: neither a flood of the ERP nor one of the office keeps the other out.
    if (!isPublic) congestion.enterTenant(`office ${request.tenantId}`, reply);
  });
  // Once the body is there: one that a stranger never finishes costs nothing, and must take no room from anybody.
  office.addHook('preHandler', async (request, reply) => {
    if (request.routeOptions.config.access === 'PUBLIC') congestion.enter(reply);
  });
  office.setNotFoundHandler(() => {
    throw new ApiError('not_found');
  });
  await addMasterData(office, shared);
  await office.register(sessionRoutes, { database });
  await office.register(definitionRoutes, { resources });
  await office.register(historyRoutes, { database });
  await office.register(namedObjectRoutes, { database, resources });
  await office.register(peopleRoutes, { database });
  await office.register(keyRoutes, { database });
  await office.register(checklistRoutes, { database });
  await office.register(requestRoutes, { database, resources });
  await office.register(mapRoutes, { database });
}

/** What somebody reads who is signed in must be kept by no cache and shown in no other site. */
const officeHeaders = {
  'Cache-Control': 'no-store',
  'X-Content-Type-Options': 'nosniff',
  'Cross-Origin-Resource-Policy': 'same-origin',
};

const bodyMethods = new Set(['POST', 'PUT', 'PATCH']);

/** Reads bodies as the published statuses demand, and adds the routes of everything that is stored. */
async function addMasterData(
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
  scope.removeAllContentTypeParsers();
  // A DELETE says everything in its path; clients that name a content type with it mean nothing by it.
  scope.addContentTypeParser('*', async ({ method }: FastifyRequest, payload: FastifyRequest['raw']) =>
    method === 'DELETE' ? undefined : parseJson(await readBody(payload, config.BODY_LIMIT_BYTES)),
  );
  for (const definition of resources) addResourceRoutes(scope, definition, resources, database);
  await scope.register(changeRoutes, { database });
  await scope.register(attentionRoutes, { database, resources });
  await scope.register(personalDataRoutes, { database, contactPerson });
  await scope.register(importRoutes, {
    openImport,
    resources,
    maxLineBytes: config.BODY_LIMIT_BYTES,
    onImport: (tenantId) => void noteImport(database, tenantId),
  });
}

/** The router takes nothing at all as an id, too; a path that ends there is no path of ours. */
function isOpenEnded(request: FastifyRequest): boolean {
  return request.url.split('?', 1)[0]!.endsWith('/');
}

/**
 * Whoever sends on after being told to wait is answered a little later. Nobody who stops notices, and a flood on some connections
 * becomes a trickle that takes no time from others.
 */
const refusalDelayMs = 100;

async function rateLimited(
  reply: FastifyReply,
  code: 'rate_limited' | 'too_many_failed_authentications',
  windowEndsInMs: number,
): Promise<ApiError> {
  await sleep(refusalDelayMs);
  reply.header('Retry-After', secondsUntil(windowEndsInMs));
  return new ApiError(code);
}

function answerError(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  const problem = toApiError(error);
  request.problem = problem;
  // Fastify would close the connection after a body that was refused. Ours has been read, or is read and thrown away.
  reply.removeHeader('connection');
  // Where nobody knows how long it takes, a moment is a good time to wait.
  if (problem.status === 429 && !reply.hasHeader('Retry-After')) reply.header('Retry-After', 1);
  const body = errorBody(problem, request.id, preferredLanguage(request.headers['accept-language']));
  reply.code(problem.status).send(body);
}
