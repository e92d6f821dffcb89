// The application apart from its process: hooks and routes in the order in which a request meets them.
import type { FastifyBaseLogger, FastifyInstance } from 'fastify';
import { buildAuthenticate } from '../auth/authentication.ts';
import { KeyUse } from '../auth/key-use.ts';
import { openNotices } from '../auth/notices.ts';
import { buildFailureCounter, type CountFailures, openRedisCounter } from '../auth/rate-limit.ts';
import type { Config } from '../config.ts';
import type { Database } from '../database/database.ts';
import { CallRecorder } from '../features/call-log/call-recorder.ts';
import { buildImports, type ImportConfig } from '../features/import/import-transaction.ts';
import type { MapConfig } from '../features/map/map-routes.ts';
import type { OutgoingConfig } from '../features/webhooks/outgoing-request.ts';
import { resources } from '../resources/index.ts';
import { apiRoutes } from './api.ts';
import { addCommonHooks } from './common-hooks.ts';
import { InFlightLimit } from './in-flight-limit.ts';
import { officeRoutes } from './office.ts';
import { addOpenapi } from './openapi.ts';
import { addPublicRoutes } from './public-routes.ts';
import { buildServer } from './server.ts';

export type AppConfig = Pick<
  Config,
  | 'BODY_LIMIT_BYTES'
  | 'FAILED_AUTH_LIMIT_PER_MINUTE'
  | 'MAIL_FROM'
  | 'PUBLIC_URL'
  | 'RATE_LIMIT_PER_MINUTE'
  | 'RECORDED_CALLS_RETENTION_DAYS'
  | 'REDIS_URL'
  | 'SLOW_REQUEST_MS'
  | 'SMTP_URL'
  | 'TRUST_PROXY'
> &
  ImportConfig &
  MapConfig &
  OutgoingConfig;

export async function buildApp(
  config: AppConfig,
  database: Database,
  log: FastifyBaseLogger,
  countFailures: CountFailures = buildFailureCounter(),
): Promise<FastifyInstance> {
  const inFlight = new InFlightLimit();
  const app = buildServer(config.TRUST_PROXY, database.requestDeadlineMs, inFlight, log);
  const keyUse = new KeyUse(database);
  const recorder = new CallRecorder(database, config.RECORDED_CALLS_RETENTION_DAYS);
  const redisCounter = config.REDIS_URL
    ? await openRedisCounter(config.REDIS_URL, (message) => app.log.warn(message))
    : undefined;
  const notices = await openNotices(config, database, log);
  app.addHook('onClose', async () => {
    await keyUse.close();
    await recorder.close();
    redisCounter?.close();
    await notices.close();
  });
  addCommonHooks(app, database.requestDeadlineMs, config.SLOW_REQUEST_MS);

  await addOpenapi(app);
  await addPublicRoutes(app, database, config);
  const imports = buildImports(database, config, resources);
  // Once requests are no longer waited for: what an import has not got to is sent again elsewhere.
  app.addHook('preClose', async () => imports.stop());
  const shared = { config, database, inFlight, openImport: imports.open };
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
    notices,
  });
  return app;
}
