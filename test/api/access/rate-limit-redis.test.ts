// The rate limit with a Redis that the test starts itself, stops, and lets come back.
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { Redis } from 'ioredis';
import { findFreePort } from '../../helpers/free-port.ts';
import { withoutRedis as skip } from '../../helpers/programs.ts';
import { startRedis, stopRedis } from '../../helpers/redis.ts';
import { startService, type TestService, validCustomer } from '../../helpers/service.ts';
import { until } from '../../helpers/waiting.ts';

const limit = 30;

/** Two processes' worth of service on one database and one Redis, both of which count there. */
async function startBoth() {
  const directory = await mkdtemp(path.join(tmpdir(), 'stamm-redis-'));
  const port = await findFreePort();
  let child = await startRedis(port, directory);
  const url = `redis://127.0.0.1:${port}`;
  const first = await startService({ RATE_LIMIT_PER_MINUTE: limit, REDIS_URL: url });
  const second = await startService({
    RATE_LIMIT_PER_MINUTE: limit,
    REDIS_URL: url,
    connection: first.connection,
  });
  after(async () => {
    await stopRedis(child);
    await rm(directory, { recursive: true });
  });
  const askRedis = async <Answer>(ask: (redis: Redis) => Promise<Answer>): Promise<Answer> => {
    const redis = new Redis(url);
    const answer = await ask(redis);
    redis.disconnect();
    return answer;
  };
  const both = {
    first,
    second,
    process: () => child,
    stop: () => stopRedis(child),
    restart: async () => {
      child = await startRedis(port, directory);
    },
    countInRedis: async (tenantId: string): Promise<number> =>
      Number(await askRedis((redis) => redis.get(`stamm:requests:${tenantId}`))),
    endWindowIn: (tenantId: string, milliseconds: number) =>
      askRedis((redis) => redis.pexpire(`stamm:requests:${tenantId}`, milliseconds)),
    msUntilWindowEnds: (tenantId: string) => askRedis((redis) => redis.pttl(`stamm:requests:${tenantId}`)),
  };
  for (const service of [first, second]) await untilItCountsInRedis(both, service);
  return both;
}

type Both = Awaited<ReturnType<typeof startBoth>>;

async function untilItCountsInRedis(both: Both, service: TestService): Promise<void> {
  const { key, tenantId } = await both.first.createTenant();
  await until('counting in Redis', async () => {
    await send(service, key);
    return (await both.countInRedis(tenantId)) > 0;
  });
}

function send(service: TestService, key: string) {
  return service.post('/customer', validCustomer, { headers: { apikey: key } });
}

async function countInPostgres(service: TestService, tenantId: string): Promise<number> {
  const { rows } = await service.owner.query('SELECT requests FROM request_window WHERE tenant_id = $1', [
    tenantId,
  ]);
  return Number(rows[0]?.requests ?? 0);
}

/** Sends three times as many requests as allowed to both concurrently; returns how many passed. */
async function countAdmitted({ first, second }: Both, key: string): Promise<number> {
  const responses = await Promise.all(
    Array.from({ length: 3 * limit }, (_, index) => send(index % 2 ? first : second, key)),
  );
  const statuses = responses.map((response) => response.statusCode);
  assert.deepEqual([...new Set(statuses)].sort(), [201, 429]);
  return statuses.filter((status) => status === 201).length;
}

test('Redis counts for all processes, exactly, and PostgreSQL does not', { skip }, async () => {
  const both = await startBoth();
  const { key, tenantId } = await both.first.createTenant();
  assert.equal(await countAdmitted(both, key), limit);
  assert.equal(await both.countInRedis(tenantId), 3 * limit);
  assert.equal(await countInPostgres(both.first, tenantId), 0);
  const refused = await send(both.first, key);
  assert.match(String(refused.headers.ratelimit), /^"tenant";r=0;t=([1-9]|[1-5]\d|60)$/);
  assert.match(String(refused.headers['retry-after']), /^([1-9]|[1-5]\d|60)$/);
});

test('requests of several tenants that are counted together count for each of them alone', {
  skip,
}, async () => {
  const { first, countInRedis } = await startBoth();
  const tenants = await Promise.all(Array.from({ length: 5 }, () => first.createTenant()));
  const numbers = [1, 2, 3, 4, limit + 5];
  const sent = tenants.flatMap(({ key }, place) =>
    Array.from({ length: numbers[place]! }, () => send(first, key)),
  );
  const refused = (await Promise.all(sent)).filter(({ statusCode }) => statusCode === 429);
  assert.equal(refused.length, 5);
  assert.deepEqual(await Promise.all(tenants.map(({ tenantId }) => countInRedis(tenantId))), numbers);
});

test('a window begins with its first request, and no later one makes it longer', { skip }, async () => {
  const { first, endWindowIn, msUntilWindowEnds } = await startBoth();
  const { key, tenantId } = await first.createTenant();
  await send(first, key);
  const left = await msUntilWindowEnds(tenantId);
  assert.ok(left > 0 && left <= 60_000, `${left} ms are left`);
  await endWindowIn(tenantId, 5000);
  const { headers } = await send(first, key);
  assert.match(String(headers.ratelimit), /;t=[1-5]$/);
  assert.ok((await msUntilWindowEnds(tenantId)) <= 5000);
});

test('a Redis that dies takes no request with it, and is used again when it is back', { skip }, async () => {
  const both = await startBoth();
  await both.stop();
  const { key, tenantId } = await both.first.createTenant();
  assert.equal(await countAdmitted(both, key), limit, 'PostgreSQL counts exactly in the meantime');
  assert.equal(await countInPostgres(both.first, tenantId), 3 * limit);
  await both.restart();
  for (const service of [both.first, both.second]) await untilItCountsInRedis(both, service);
  const later = await both.first.createTenant();
  assert.equal(await countAdmitted(both, later.key), limit);
  assert.equal(await countInPostgres(both.first, later.tenantId), 0);
  const said = both.first.logLines
    .filter((line) => line.includes('Redis'))
    .map((line) => JSON.parse(line).msg);
  assert.match(said.at(0), /^Redis is away .*PostgreSQL counts requests/);
  assert.equal(said.at(-1), 'Redis counts requests again.');
});

test('a Redis that hangs stops no request', { skip }, async () => {
  const both = await startBoth();
  const { key, tenantId } = await both.first.createTenant();
  both.process().kill('SIGSTOP');
  try {
    assert.equal(await countAdmitted(both, key), limit);
    assert.equal(await countInPostgres(both.first, tenantId), 3 * limit);
  } finally {
    both.process().kill('SIGCONT');
  }
  for (const service of [both.first, both.second]) await untilItCountsInRedis(both, service);
  const said = both.first.logLines
    .filter((line) => line.includes('Redis'))
    .map((line) => JSON.parse(line).msg);
  assert.equal(said.at(-1), 'Redis counts requests again.', 'the log says that it is over');
});
