// The application apart from its process: hooks and routes in the order in which a request meets them.
import type { FastifyBaseLogger, FastifyInstance } from 'fastify';
import { openAuthentication } from '../access/authentication.ts';
import { buildFailureCounter, type CountFailures } from '../access/rate-limit.ts';
import type { Config } from '../config.ts';
import type { Database } from '../database/database.ts';
import { CallRecorder } from '../features/call-log/call-recorder.ts';
import { buildImports, type ImportConfig } from '../features/import/session/import-transaction.ts';
import { InFlightLimit } from '../http/in-flight-limit.ts';
import { buildServer } from '../http/server.ts';
import { openNotices } from '../mail/notices.ts';
import { resources } from '../resources/index.ts';
import { apiRoutes } from './api.ts';
import { officeRoutes } from './office.ts';
import { addOpenapi } from './openapi.ts';
import { addPublicRoutes } from './public-routes.ts';
import { openFindings, type SharedOptions } from './shared-routes.ts';

export type AppConfig = Pick<
  Config,
  | 'LOG_ONE_IN'
  | 'MAIL_FROM'
  | 'RECORDED_CALLS_RETENTION_DAYS'
  | 'REDIS_URL'
  | 'SLOW_REQUEST_MS'
  | 'SMTP_URL'
  | 'TRUST_PROXY'
> &
  ImportConfig &
  SharedOptions['config'];

export async function buildApp(
  config: AppConfig,
  database: Database,
  log: FastifyBaseLogger,
  countFailures: CountFailures = buildFailureCounter(),
): Promise<FastifyInstance> {
  const inFlight = new InFlightLimit();
  const app = buildServer(config, database.requestDeadlineMs, inFlight, log);
  const authentication = await openAuthentication(database, config.REDIS_URL, log);
  const recorder = new CallRecorder(database, config.RECORDED_CALLS_RETENTION_DAYS);
  const notices = await openNotices(config, database, log);
  app.addHook('onClose', async () => {
    for (const part of [authentication, recorder, notices]) await part.close();
  });

  await addOpenapi(app);
  await addPublicRoutes(app, database, config);
  const imports = buildImports(database, config, resources);
  // Once requests are no longer waited for: what an import has not got to is sent again elsewhere.
  app.addHook('preClose', async () => imports.stop());
  const findings = openFindings();
  app.addHook('onClose', () => findings.stop());
  const shared = { config, database, findings, inFlight, openImport: imports.open };
  await app.register(apiRoutes, {
    prefix: '/api/v1',
    ...shared,
    authenticate: authentication.authenticate,
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
