// Every route of the API and the web app, with the most expensive input that it accepts: four times as much to work on takes at
// most about four times the steps, rows and statements, and no turn of the event loop is long.
import assert from 'node:assert/strict';
import http from 'node:http';
import { after, test } from 'node:test';
import pg from 'pg';
import { countSteps } from '../../core/pace.ts';
import { parseJson } from '../../server/http/json-body.ts';
import { type Method, ownOrigin, routesBelow } from '../helpers/office.ts';
import { listen } from '../helpers/raw-client.ts';
import { startService } from '../helpers/service.ts';
import { until } from '../helpers/waiting.ts';
import { buildWorld, largestSize, maxBodyBytes, type World } from './stored-worlds.ts';
import { isLast, turnFactor, type WorstRequest, worstRequests } from './worst-requests.ts';

/** Quadratic work would grow by 16. */
const maxGrowth = 6;
/** Opening a connection, authentication, records of calls. */
const sparedSteps = 100;
/** Of the time that a body of 100 kB takes to parse. */
const maxTurn = 100;
const maxRounds = 6;

const service = await startService();
const port = await listen(service.app);
const origin = `http://127.0.0.1:${port}`;
const small = await buildWorld(service, origin, largestSize / 4);
const large = await buildWorld(service, origin, largestSize);
const agent = new http.Agent({ keepAlive: true });

let rows = 0;
let statements = 0;
const { query } = pg.Client.prototype;
pg.Client.prototype.query = function (this: pg.Client, ...parameters: unknown[]) {
  statements++;
  const sent = Reflect.apply(query, this, parameters);
  sent?.then?.(
    (result: pg.QueryResult) => {
      rows += result?.rows?.length ?? 0;
    },
    () => {},
  );
  return sent;
} as typeof query;

/** Reads the answer and drops it, so that the client costs next to nothing. */
function send(
  method: Method,
  prefix: string,
  world: World,
  { path, body, lines }: WorstRequest,
): Promise<number> {
  const isApi = prefix === '/api/v1';
  const headers = {
    ...(isApi ? { apikey: world.key } : { cookie: world.cookie, ...ownOrigin, host: 'localhost:80' }),
    ...(body !== undefined && { 'content-type': 'application/json' }),
    ...(lines !== undefined && { 'content-type': 'application/x-ndjson' }),
  };
  return new Promise((resolve, reject) => {
    const request = http.request({
      port,
      host: '127.0.0.1',
      method,
      path: `${prefix}${path}`,
      headers,
      agent,
    });
    request.on('error', reject);
    request.on('response', (response) => {
      response.resume();
      response.on('end', () => resolve(response.statusCode!));
      response.on('error', reject);
    });
    request.end(lines ?? (body === undefined ? undefined : JSON.stringify(body)));
  });
}

function processorMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

/** The longest turn of the event loop, in processor time: other programs interrupt a turn, but cost this thread none. */
function watchTurns(): () => number {
  let [before, longest] = [processorMs(), 0];
  const note = () => {
    const now = processorMs();
    longest = Math.max(longest, now - before);
    before = now;
  };
  const timer = setInterval(note, 1);
  return () => {
    clearInterval(timer);
    note();
    return longest;
  };
}

/** Nothing that was read before applies at a position without an entry: else only one of two worlds may be answered from memory. */
async function outdateMemory({ tenantId }: World): Promise<void> {
  const text = 'UPDATE journal_head SET last_position = last_position + 1 WHERE tenant_id = $1';
  await service.owner.query(text, [tenantId]);
}

const countWork = () => countSteps() + rows + statements;

async function untilQuiet(): Promise<void> {
  const { pool } = service.database;
  let before = -1;
  await until('nobody works', () => {
    const isSame = before === countWork();
    before = countWork();
    return isSame && pool.idleCount === pool.totalCount;
  });
}

/** A read of the attention list can have all findings read beside it. Whether such work went on after the answer. */
async function endOtherWork(): Promise<boolean> {
  const before = countWork();
  await untilQuiet();
  return countWork() - before > sparedSteps;
}

async function measure(method: Method, prefix: string, world: World, request: WorstRequest) {
  await untilQuiet();
  await outdateMemory(world);
  const before = countWork();
  const endWatch = watchTurns();
  const status = await send(method, prefix, world, request);
  const turnMs = endWatch();
  return { status, steps: countWork() - before, turnMs };
}

function parseTimeMs(): number {
  const hours = { dayOfWeek: 'MONDAY', opens: '08:00', closes: '18:00', validFrom: '2026-01-01' };
  const items = Array.from({ length: maxBodyBytes / JSON.stringify(hours).length }, () => hours);
  const bytes = Buffer.from(JSON.stringify({ openingHours: items }));
  let best = Number.POSITIVE_INFINITY;
  for (let round = 0; round < 50; round++) {
    const startedAt = performance.now();
    parseJson(bytes);
    best = Math.min(best, performance.now() - startedAt);
  }
  return best;
}

const unitMs = parseTimeMs();
const prefixes = ['/api/v1', '/app'] as const;
const routes = prefixes.flatMap((prefix) =>
  routesBelow(service.app, `${prefix}/`)
    .filter(({ method }) => method !== 'HEAD')
    .map(({ method, path }) => ({ method, prefix, name: `${method} ${path.slice(prefix.length)}` })),
);

test('every other route sends files or says how the service is', () => {
  const others = routesBelow(service.app, '/').filter(
    ({ path }) => !prefixes.some((prefix) => path.startsWith(`${prefix}/`)),
  );
  const known =
    /^\/(assets\/.*|docs.*|guide.*|openapi\.json|livez|readyz|metrics|favicon.*|.*\.(svg|png|txt|webmanifest|js))?$/;
  assert.deepEqual(
    others.map(({ path }) => path).filter((path) => !known.test(path)),
    [],
  );
});

for (const { method, prefix, name } of routes.toSorted(
  (one, other) => Number(isLast(one.name)) - Number(isLast(other.name)),
))
  test(`${name.replace(' ', ` ${prefix}`)} has a bound`, async () => {
    const requests = worstRequests(name, large);
    assert.ok(requests, 'name the most expensive requests of this route in worst-requests.ts');
    const smaller = worstRequests(name, small)!;
    for (const [index, request] of requests.entries()) {
      const few = await measure(method, prefix, small, smaller[index]!);
      let many = await measure(method, prefix, large, request);
      assert.ok(many.status < 500, `${request.path} is answered with ${many.status}`);
      assert.equal(many.status, few.status, request.path);
      const mostSteps = maxGrowth * few.steps + sparedSteps;
      for (let round = 1; many.steps > mostSteps && round < maxRounds && (await endOtherWork()); round++)
        many = await measure(method, prefix, large, request);
      assert.ok(
        many.steps <= mostSteps,
        `${request.path}: ${few.steps} steps, ${many.steps} for four times as much`,
      );
      let turn = many.turnMs / unitMs;
      const longest = maxTurn * turnFactor(name);
      for (let round = 1; turn > longest && round < maxRounds; round++) {
        many = await measure(method, prefix, large, request);
        turn = Math.min(turn, many.turnMs / unitMs);
      }
      assert.ok(
        turn <= longest,
        `${request.path}: a turn as long as parsing 100 kB ${turn.toFixed(0)} times`,
      );
    }
  });

after(() => agent.destroy());
