// The service as tests use it: the real application on a database of its own, copied from the template.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after } from 'node:test';
import type { FastifyInstance, InjectOptions, LightMyRequestResponse } from 'fastify';
import pg from 'pg';
import { pino } from 'pino';
import { createApiKey } from '../../server/access/api-keys.ts';
import { createTenant as insertTenant } from '../../server/access/tenants.ts';
import { type AppConfig, buildApp } from '../../server/app/app.ts';
import type { Config } from '../../server/config.ts';
import { openDatabase } from '../../server/database/database.ts';
import { openServiceLogin } from '../../server/database/service-login.ts';
import { createDatabase, dropDatabase } from './cluster.ts';
import { assertDeclared } from './declared-answers.ts';
import type { TestServer } from './postgres.ts';
import './left-processes.ts';
import { mixedStatements, undocumentedStatements, watchStatements } from './sent-statements.ts';

/** Runs after the file's tests, the newest first: what was opened last is closed first. */
const cleanups: (() => Promise<unknown>)[] = [];
after(async () => {
  endLeftovers();
  for (const cleanup of cleanups.reverse()) await cleanup();
  assert.deepEqual(
    [...mixedStatements],
    [],
    'statements that name tables of the coordinator and of the workers',
  );
  assert.deepEqual(
    [...undocumentedStatements],
    [],
    'prepared statements that generated/statements.sql lacks',
  );
});

/** A failed test file may leave something open and never end. A passing one that leaks fails. */
function endLeftovers(): void {
  setTimeout(() => {
    console.error('Still open after all tests:', process.getActiveResourcesInfo());
    process.exit(1);
  }, 300_000).unref();
}

export function testServer(): TestServer {
  assert.ok(process.env.STAMM_TEST_POSTGRES, 'run the tests with "npm test", which starts PostgreSQL');
  return JSON.parse(process.env.STAMM_TEST_POSTGRES);
}

/** Makes a database, by default a migrated one, and drops it after the file's tests. */
export async function createTestDatabase(from?: 'template0'): Promise<pg.ClientConfig> {
  const server = testServer();
  const database = `${server.prefix}${randomUUID().replaceAll('-', '').slice(0, 20)}`;
  await createDatabase(server, database, from ?? server.template);
  cleanups.push(() => dropDatabase(server, database));
  return { ...server.connection, database };
}

export interface Tenant {
  tenantId: string;
  key: string;
}

export type TestService = Awaited<ReturnType<typeof startService>>;

type ServiceConfig = AppConfig & Pick<Config, 'REQUEST_DEADLINE_MS'>;

/** Tests send more than a person would, on machines that may be slow. Tests of limits set them themselves. */
export const generousLimits: ServiceConfig = {
  BACKUP_DIR: undefined,
  BACKUP_EVERY: 24,
  DATA_DIR: '/never',
  BODY_LIMIT_BYTES: 102_400,
  FAILED_AUTH_LIMIT_PER_MINUTE: 1_000_000,
  MAIL_FROM: 'Stamm <stamm@localhost>',
  PUBLIC_URL: undefined,
  IMPORT_TRANSACTION_MAX_MINUTES: 60,
  RATE_LIMIT_PER_MINUTE: 1_000_000,
  RECORDED_CALLS_RETENTION_DAYS: 30,
  REDIS_URL: undefined,
  REQUEST_DEADLINE_MS: 120_000,
  LOG_ONE_IN: 1,
  SLOW_REQUEST_MS: 0,
  SMTP_URL: undefined,
  TRUST_PROXY: [],
  WEBHOOK_ALLOW_HTTP: false,
  WEBHOOK_ALLOW_PRIVATE: false,
};

export async function startService(settings: Partial<ServiceConfig> & { connection?: pg.ClientConfig } = {}) {
  const { connection = await createTestDatabase(), ...rest } = settings;
  const config = { ...generousLimits, ...rest };
  const login = await openServiceLogin(connection);
  assert.equal(login.obstacle, undefined);
  const owner = new pg.Client(connection);
  await owner.connect();
  const database = openDatabase(login.client, {
    maxConnections: 10,
    requestDeadlineMs: config.REQUEST_DEADLINE_MS,
  });
  await watchStatements(owner, database.pool);
  const logLines: string[] = [];
  const log = pino({ level: 'info' }, { write: (line: string) => void logLines.push(line) });
  const app = await buildApp(config, database, log);
  holdToDocument(app);
  let closing: Promise<void> | undefined;
  /** At the end of the file by itself. A file with many services closes each, because all share the server's connections. */
  function close(): Promise<void> {
    closing ??= (async () => {
      // A test that failed may have left an answer half read, for which closing would wait for ever.
      app.server.closeAllConnections();
      await app.close();
      await database.close();
      await owner.end();
    })();
    return closing;
  }
  cleanups.push(close);

  async function createTenant(name = 'Grün & Gut GmbH'): Promise<Tenant> {
    const tenantId = await insertTenant(owner, name);
    return { tenantId, key: (await createApiKey(owner, tenantId))! };
  }

  const tenant = await createTenant();

  /** Sends JSON with the first tenant's key; anything in `options` comes instead. */
  function post(path: string, body: unknown, options: InjectOptions = {}) {
    const { headers, ...rest } = options;
    return app.inject({
      method: 'POST',
      url: `/api/v1${path}`,
      headers: { apikey: tenant.key, 'content-type': 'application/json', ...headers },
      payload: typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body),
      ...rest,
    });
  }

  /** Any other method, likewise. */
  function send(
    method: 'GET' | 'PATCH' | 'PUT' | 'DELETE',
    path: string,
    body?: unknown,
    options: InjectOptions = {},
  ) {
    const { headers, ...rest } = options;
    return app.inject({
      method,
      url: `/api/v1${path}`,
      headers: {
        apikey: tenant.key,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { payload: JSON.stringify(body) }),
      ...rest,
    });
  }
  const get = (path: string, options?: InjectOptions) => send('GET', path, undefined, options);
  const patch = (path: string, body: unknown, options?: InjectOptions) => send('PATCH', path, body, options);
  const put = (path: string, body: unknown, options?: InjectOptions) => send('PUT', path, body, options);
  const remove = (path: string, options?: InjectOptions) => send('DELETE', path, undefined, options);

  async function createCustomer(body: object = {}, options: InjectOptions = {}): Promise<string> {
    const response = await post('/customer', { ...validCustomer, ...body }, options);
    assert.equal(response.statusCode, 201, response.body);
    return response.json().id;
  }

  return {
    app,
    connection,
    serviceConnection: login.client,
    database,
    owner,
    logLines,
    tenant,
    createTenant,
    post,
    send,
    get,
    patch,
    put,
    delete: remove,
    createCustomer,
    close,
  };
}

/** Every answer that a test receives from `app.inject` is one that the OpenAPI document declares. */
function holdToDocument(app: FastifyInstance): void {
  const inject = app.inject.bind(app) as (options: InjectOptions) => Promise<LightMyRequestResponse>;
  const checkedInject = async (options: InjectOptions) => {
    const response = await inject(options);
    const { statusCode: status, headers, body } = response;
    assertDeclared(options.method ?? 'GET', String(options.url), { status, headers, body });
    return response;
  };
  app.inject = checkedInject as typeof app.inject;
}

export const validAddress = {
  streetName: 'Ballindamm',
  houseNumber: '17a',
  zipCode: '20095',
  city: 'Hamburg',
};

export const validCustomer = { companyName: 'Hotel Alsterblick GmbH', address: validAddress };

export function validSite(customerId: string) {
  return { customerId, name: 'Lobby', address: validAddress, needsAppointment: true, hasKey: false };
}
