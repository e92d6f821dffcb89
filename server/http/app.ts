// The application apart from its process: hooks and routes in the order in which a request meets them.
import { randomUUIDv7 } from 'node:crypto';
import swagger from '@fastify/swagger';
import Fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from 'fastify';
import { buildAuthenticate } from '../auth/authentication.ts';
import { forgetOldDevices } from '../auth/devices.ts';
import { forgetEndedKeyUse, KeyUse } from '../auth/key-use.ts';
import { openMailer } from '../auth/mailer.ts';
import { Notices } from '../auth/notices.ts';
import { buildFailureCounter, type CountFailures, openRedisCounter } from '../auth/rate-limit.ts';
import { forgetOldSignIns } from '../auth/sessions.ts';
import type { Config } from '../config.ts';
import type { Database } from '../database/database.ts';
import { resourceSchemas, sharedSchemas } from '../engine/openapi/schemas.ts';
import { forgetOldRequests } from '../engine/sql/idempotency.ts';
import { type ApiError, momentSeconds, toApiError } from '../errors.ts';
import { attentionSchemas } from '../features/attention/attention-routes.ts';
import { RequestRecorder } from '../features/call-log/call-recorder.ts';
import { trimRecordedRequests } from '../features/call-log/recorded-calls.ts';
import { journalSchemas } from '../features/changes/changes-routes.ts';
import { healthRoutes } from '../features/health/health-routes.ts';
import { importSchemas } from '../features/import/import-routes.ts';
import { buildSessions } from '../features/import/import-transaction.ts';
import { defaultImportLimits, type ImportLimits } from '../features/import/limits.ts';
import { personalDataSchemas } from '../features/personal-data/personal-data-routes.ts';
import { openapiInfo, openapiRoutes } from '../features/reference/openapi-document.ts';
import { referenceRoutes } from '../features/reference/reference-routes.ts';
import { enforceRetention, type RetentionConfig } from '../features/retention/retention.ts';
import { addWebApp } from '../features/web-app/web-app.ts';
import { preferredLanguage } from '../messages.ts';
import { resources } from '../resources/index.ts';
import { addCommonHeaders, notStored } from './answer-headers.ts';
import { apiRoutes } from './api.ts';
import {
  answerBeforeRouting,
  refuseBeforeRouting,
  routableUrl,
  routeSpecialRequests,
} from './early-answers.ts';
import { errorBody } from './error-body.ts';
import { InFlightLimit } from './in-flight-limit.ts';
import { logRequest } from './log.ts';
import { officeRoutes } from './office.ts';
import { buildForwardingWarning } from './untrusted-proxy.ts';

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
  | 'BODY_LIMIT_BYTES'
  | 'ENDED_KEY_USE_RETENTION_DAYS'
  | 'FAILED_AUTH_LIMIT_PER_MINUTE'
  | 'IMPORT_TRANSACTION_MAX_MINUTES'
  | 'MAIL_FROM'
  | 'PUBLIC_URL'
  | 'RATE_LIMIT_PER_MINUTE'
  | 'RECORDED_CALLS_RETENTION_DAYS'
  | 'REDIS_URL'
  | 'SMTP_URL'
  | 'TRUST_PROXY'
> &
  RetentionConfig & { importLimits?: Partial<ImportLimits> };

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
    requestTimeout: longestArrivalMs,
    // Cuts a connection on which nothing moves, such as one whose client does not read its answer.
    connectionTimeout: Math.max(longestStandstillMs, 2 * database.requestDeadlineMs),
    http: {
      requireHostHeader: false,
      // Node takes the longer of the two timeouts for a whole request, and its own one for headers is a minute.
      headersTimeout: longestArrivalMs,
      connectionsCheckingInterval: 1000,
    },
    // Longer than Node lets any path be: an id that is too long is refused where ids are checked.
    routerOptions: { maxParamLength: 100_000 },
  });
  const keyUse = new KeyUse(database);
  const recorder = new RequestRecorder(database, config.RECORDED_CALLS_RETENTION_DAYS);
  const redisCounter = config.REDIS_URL
    ? await openRedisCounter(config.REDIS_URL, (message) => app.log.warn(message))
    : undefined;
  const mailer = await openMailer(config, log);
  const upkeep = setInterval(() => {
    void forgetOldRequests(database);
    void forgetOldSignIns(database);
    void forgetEndedKeyUse(database, config.ENDED_KEY_USE_RETENTION_DAYS);
    void trimRecordedRequests(database, config.RECORDED_CALLS_RETENTION_DAYS).catch(() => {});
    void enforceRetention(database, config).catch(() => {});
    void forgetOldDevices(database);
  }, upkeepIntervalMs).unref();
  app.addHook('onClose', async () => {
    clearInterval(upkeep);
    await keyUse.close();
    await recorder.close();
    redisCounter?.close();
    await mailer?.close();
  });
  const noteForwarding = buildForwardingWarning(log);
  const inFlight = new InFlightLimit();
  routeSpecialRequests(app.server, log);
  refuseBeforeRouting(app.server, () => inFlight.isFull(), log);

  // Answers are written as they are; the schemas of routes document them, and the tests hold them to it.
  app.setSerializerCompiler(() => JSON.stringify);
  app.setValidatorCompiler(() => () => true);
  app.decorateRequest('deadline', 0);
  app.decorateRequest('tenantId', '');
  app.decorateRequest('actor', '');
  app.decorateRequest('ignoredFields');
  app.decorateRequest('problem');
  app.decorateRequest('session');
  app.decorateRequest('place');
  app.addHook('onRequest', (request, reply, done) => {
    request.deadline = performance.now() + database.requestDeadlineMs;
    addCommonHeaders(request, reply);
    noteForwarding(request);
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
    ...personalDataSchemas(resources),
    ...importSchemas(resources),
  ])
    app.addSchema(schema);
  await addWebApp(app);
  await app.register(healthRoutes, { database });
  await app.register(openapiRoutes);
  await app.register(referenceRoutes);
  const openImport = buildSessions(database, {
    ...defaultImportLimits,
    transactionMs: config.IMPORT_TRANSACTION_MAX_MINUTES * 60_000,
    ...config.importLimits,
  });
  const shared = { config, database, inFlight, openImport };
  await app.register(apiRoutes, {
    prefix: '/api/v1',
    ...shared,
    authenticate: buildAuthenticate(database, keyUse, redisCounter),
    countFailures,
    recorder,
  });
  await app.register(officeRoutes, {
    prefix: '/app',
    ...shared,
    notices: new Notices(mailer, database),
  });
  return app;
}

const upkeepIntervalMs = 3_600_000;
const longestStandstillMs = 60_000;
/** With the second until Node looks, a request has ten seconds to arrive, body included. */
const longestArrivalMs = 9000;

function answerError(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  const problem = toApiError(error);
  request.problem = problem;
  // Fastify would close the connection after a body that was refused. Ours has been read, or is read and thrown away.
  reply.removeHeader('connection');
  const mayComeAgain = problem.status === 429 || problem.code === 'overloaded';
  if (mayComeAgain && !reply.hasHeader('Retry-After')) reply.header('Retry-After', momentSeconds);
  if (!reply.hasHeader('Cache-Control')) reply.headers(notStored);
  const body = errorBody(problem, request.id, preferredLanguage(request.headers['accept-language']));
  reply.code(problem.status).send(body);
}
