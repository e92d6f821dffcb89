// Fastify as Stamm uses it: timeouts, and answers before a route is found.
import { randomUUIDv7 } from 'node:crypto';
import Fastify, { type FastifyBaseLogger, type FastifyInstance, LogController } from 'fastify';
import type { Config } from '../config.ts';
import { addCommonHooks } from './common-hooks.ts';
import { addDrain } from './drain.ts';
import {
  answerBeforeRouting,
  refuseBeforeRouting,
  routableUrl,
  routeSpecialRequests,
} from './early-answers.ts';
import type { InFlightLimit } from './in-flight-limit.ts';
import type { RequestLogConfig } from './request-work.ts';

const longestStandstillMs = 60_000;
/** A request, body included, has ten seconds to arrive: nine here, and one until Node checks. */
const longestArrivalMs = 9000;

export function buildServer(
  config: Pick<Config, 'TRUST_PROXY'> & RequestLogConfig,
  requestDeadlineMs: number,
  inFlight: InFlightLimit,
  log: FastifyBaseLogger,
): FastifyInstance {
  const { TRUST_PROXY: trustedProxies } = config;
  const app = Fastify({
    loggerInstance: log,
    logController: new LogController({ disableRequestLogging: true }),
    // Lines name their request themselves: no logger per request.
    childLoggerFactory: (logger) => logger,
    genReqId: () => randomUUIDv7(),
    trustProxy: trustedProxies.length > 0 && trustedProxies,
    rewriteUrl: routableUrl,
    clientErrorHandler: answerBeforeRouting,
    // A request that arrives on an open connection while the service stops is still served; 503 is not published.
    return503OnClosing: false,
    requestTimeout: longestArrivalMs,
    // Cuts a connection on which nothing moves, such as one whose client does not read its answer.
    connectionTimeout: Math.max(longestStandstillMs, 2 * requestDeadlineMs),
    http: {
      requireHostHeader: false,
      // Node takes the longer of the two timeouts for a whole request. Its own default for headers is a minute.
      headersTimeout: longestArrivalMs,
      connectionsCheckingInterval: 1000,
    },
    // No path that Node accepts is as long: an id that is too long is rejected where ids are checked.
    routerOptions: { maxParamLength: 100_000 },
  });
  routeSpecialRequests(app.server, log);
  refuseBeforeRouting(app.server, () => inFlight.isFull(), log);
  addDrain(app);
  addCommonHooks(app, requestDeadlineMs, config);
  return app;
}
