// The database is away: every route that needs it gives the same answer, whenever it notices.
import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { after, test } from 'node:test';
import type { FastifyInstance } from 'fastify';
import type pg from 'pg';
import { pino } from 'pino';
import { buildApp } from '../../../server/app/app.ts';
import { type Database, openDatabase } from '../../../server/database/database.ts';
import { createPerson, type Method, ownOrigin, routesBelow } from '../../helpers/office.ts';
import { generousLimits, startService, validCustomer, validSite } from '../../helpers/service.ts';
import { within } from '../../helpers/waiting.ts';

const service = await startService();
const { tenant } = service;
const { cookie } = await createPerson(service);

type Route = ReturnType<typeof routesBelow>[number];

const api = routesBelow(service.app, '/api/v1/');
const office = routesBelow(service.app, '/app/');
assert.ok(api.length > 50 && office.length > 70, 'the routes are found');

/** Bodies that the routes accept, where an empty object is refused before the database is asked. */
const bodies: Record<string, object> = {
  '/customer': validCustomer,
  '/customer/site': validSite(randomUUID()),
  '/product': { name: 'Monstera', kind: 'PLANT' },
  '/employee': { firstName: 'Jonas', lastName: 'Harms' },
};

function requestOf({ method, path }: Route) {
  const [, prefix, rest] = /^\/(api\/v1|app)(\/.*)$/.exec(path)!;
  const hasBody = !['GET', 'HEAD', 'DELETE'].includes(method);
  const token = randomBytes(32).toString('base64url');
  const type = rest === '/import' ? 'application/x-ndjson' : 'application/json';
  return {
    method,
    url: path.replace(':file', `${token}.ics`).replace(':token', token).replace(/:\w+/g, randomUUID()),
    headers: {
      ...(prefix === 'app' ? { cookie, ...ownOrigin } : { apikey: tenant.key }),
      ...(hasBody && { 'content-type': type }),
    },
    ...(hasBody && { payload: JSON.stringify(bodies[rest!] ?? {}) }),
  };
}

interface Answer {
  status: number;
  code?: string;
  members: string[];
}

function answerOf(method: Method, status: number, body: string): Answer {
  if (method === 'HEAD' || body === '') return { status, members: [] };
  const answer = JSON.parse(body);
  return { status, code: answer.code, members: Object.keys(answer).sort() };
}

const unavailable = { status: 500, code: 'database_unavailable', members: ['code', 'message', 'requestId'] };

const outageOf = (route: string) => (route.startsWith('HEAD') ? { status: 500, members: [] } : unavailable);

/** All routes at the same moment: a hanging database costs their deadline once. */
/** As many as a tenant may have under way. */
const atATime = 50;

async function walk(app: FastifyInstance, routes: readonly Route[]): Promise<[string, Answer][]> {
  const answers: [string, Answer][] = [];
  for (let start = 0; start < routes.length; start += atATime) {
    const some = routes.slice(start, start + atATime).map(async (route): Promise<[string, Answer]> => {
      const { statusCode, body } = await app.inject(requestOf(route));
      return [`${route.method} ${route.path}`, answerOf(route.method, statusCode, body)];
    });
    answers.push(...(await within('an answer of each of these routes', Promise.all(some))));
  }
  return answers;
}

async function buildOn(database: Database): Promise<FastifyInstance> {
  const app = await buildApp(generousLimits, database, pino({ level: 'silent' }));
  after(async () => {
    await app.close();
    await database.close();
  });
  return app;
}

/** Nothing listens there. */
const nowhere = { host: '127.0.0.1', port: 1, user: 'stamm', database: 'stamm' };

/** Before they are signed in, people reach these, which look at the form first. The others ask for the session. */
const needsNoSession = /^\/app\/(setup|invitation|reset|password-reset|session)\b/;

/** Every route of the API and the office, or fails with the one that answers otherwise. */
async function assertSameAnswers(app: FastifyInstance): Promise<void> {
  for (const [route, answer] of await walk(app, [...api, ...office])) {
    if (answer.status < 500 && needsNoSession.test(route.split(' ')[1]!)) continue;
    assert.deepEqual(answer, outageOf(route), route);
  }
}

test('without a database every route of the API and the office gives the same answer', async () => {
  await assertSameAnswers(await buildOn(openDatabase(nowhere, { maxConnections: 4 })));
});

test('with a database that never answers every route gives the same answer after its deadline', async () => {
  const sockets: Socket[] = [];
  const silent = createServer((socket) => void sockets.push(socket.on('error', () => {})));
  const port = await new Promise<number>((resolve) => {
    silent.listen(0, '127.0.0.1', () => resolve((silent.address() as AddressInfo).port));
  });
  after(() => {
    for (const socket of sockets) socket.destroy();
    silent.close();
  });
  const options = { maxConnections: 4, requestDeadlineMs: 500 };
  await assertSameAnswers(await buildOn(openDatabase({ ...nowhere, port }, options)));
});

test('a database that goes away after the key or session was found is the same outage', async () => {
  const away = openDatabase(nowhere, { maxConnections: 4 });
  const found = ['authenticate', 'find sessions'];
  const pool = new Proxy(away.pool, {
    get(target, name) {
      const owner = name === 'query' ? { query } : target;
      const value = Reflect.get(owner, name);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
  const query = (asked: pg.QueryConfig, ...rest: []) =>
    (found.includes(asked.name ?? '') ? service.database : away).pool.query(asked, ...rest);
  const app = await buildOn({ ...away, pool });
  const answers = await walk(app, [...api, ...office]);
  const [others, failed] = [
    answers.filter(isAnsweredWithout),
    answers.filter((one) => !isAnsweredWithout(one)),
  ];
  for (const [route, answer] of failed) assert.deepEqual(answer, outageOf(route), route);
  assert.ok(failed.length > 2 * others.length, `${failed.length} routes asked the database`);
});

/** Refused for its form, or made of what the service knows by itself. */
function isAnsweredWithout([route, { status }]: [string, Answer]): boolean {
  const needsNone = /^\w+ \/app\/(session|definitions|audit\/events|map\/(settings|approximate-position))$/;
  return status === 400 || status === 404 || needsNone.test(route);
}
