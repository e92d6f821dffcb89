// People of the office for tests: made in the database, signed in through the real route.
import assert from 'node:assert/strict';
import { argon2Sync, randomBytes, randomUUID } from 'node:crypto';
import type { FastifyInstance, InjectOptions } from 'fastify';
import { addPerson, type Role } from '../../server/access/people.ts';
import type { TestService } from './service.ts';

export const password = 'drei Tulpen am Fenster';

/** A hash names its own cost. This one takes next to nothing, as hundreds of tests only need somebody who is signed in. */
const passwordHash = cheapHash(password);

function cheapHash(message: string): string {
  const nonce = randomBytes(16);
  const hash = argon2Sync('argon2id', {
    message,
    nonce,
    tagLength: 32,
    memory: 8,
    passes: 1,
    parallelism: 1,
  });
  const [salt, tag] = [nonce, hash].map((bytes) => bytes.toString('base64').replaceAll('=', ''));
  return `$argon2id$v=19$m=8,t=1,p=1$${salt}$${tag}`;
}

/** What a browser adds to the requests of the app itself. */
export const ownOrigin = { origin: 'http://localhost:80' };

export type Method = 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export function callOffice(
  app: FastifyInstance,
  method: Method,
  path: string,
  body?: unknown,
  options: InjectOptions = {},
) {
  const { headers, ...rest } = options;
  return app.inject({
    method,
    url: `/app${path}`,
    headers: {
      ...ownOrigin,
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { payload: typeof body === 'string' ? body : JSON.stringify(body) }),
    ...rest,
  });
}

export type OfficePerson = Awaited<ReturnType<typeof createPerson>>;

export async function createPerson(
  { app, database, tenant }: Pick<TestService, 'app' | 'database' | 'tenant'>,
  {
    role = 'VERWALTUNG' as Role,
    tenantId = tenant.tenantId,
    name = 'Anke Petersen',
    employeeId = null as string | null,
  } = {},
) {
  const email = `${randomUUID()}@gruen-und-gut.example`;
  const id = await database.inTenants([tenantId], (client) =>
    addPerson(client, tenantId, { name, email, role, passwordHash, employeeId }),
  );
  const cookie = await signIn(app, email);
  const call = (method: Method, path: string, body?: unknown, options: InjectOptions = {}) =>
    callOffice(app, method, path, body, { ...options, headers: { cookie, ...options.headers } });
  return { id, email, name, role, tenantId, cookie, call };
}

export async function signIn(app: FastifyInstance, email: string, options: InjectOptions = {}) {
  const response = await callOffice(app, 'POST', '/session', { email, password }, options);
  assert.equal(response.statusCode, 200, response.body);
  return cookieOf(response);
}

/** The cookie that an answer sets, as a browser would send it back. */
export function cookieOf(response: { headers: Record<string, unknown> }): string {
  const [cookie] = String(response.headers['set-cookie']).split(';');
  assert.match(cookie!, /^(__Host-)?stamm_session=[\w-]{43}$/);
  return cookie!;
}

/** The cookie by which a browser is known again. */
export function deviceCookieOf(response: { headers: Record<string, unknown> }): string {
  const cookies = [response.headers['set-cookie']].flat().map((cookie) => String(cookie).split(';')[0]!);
  const device = cookies.find((cookie) => /^(__Host-)?stamm_device_[0-9a-f]{16}=[\w-]{43}$/.test(cookie));
  assert.ok(device, String(cookies));
  return device;
}

/** Every route below a path, as the router knows them. */
export function routesBelow(app: FastifyInstance, prefix: string): { method: Method; path: string }[] {
  const parents: string[] = [];
  const routes: { method: Method; path: string }[] = [];
  for (const line of app.printRoutes({ commonPrefix: false }).split('\n')) {
    const match = /^([\s│]*)[├└]── (.*?)(?: \(([A-Z, ]+)\))?$/.exec(line);
    if (!match) continue;
    const depth = match[1]!.length / 4;
    parents.length = depth;
    parents.push(match[2]!);
    const path = parents.join('');
    if (!path.startsWith(prefix)) continue;
    for (const method of match[3]?.split(', ') ?? []) routes.push({ method: method as Method, path });
  }
  return routes;
}
