// What was answered with 201 is there afterwards, whichever process dies or hangs under load.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import pg from 'pg';
import { openEmbeddedPostgres } from '../../server/database/embedded/postgres.ts';
import { startWatch, until } from '../waiting.ts';
import { type Attempt, idsOf, type Load, startLoad } from './load.ts';
import {
  cleanUpLater,
  connectionTo,
  type Environment,
  findServers,
  makePreparedDataDir,
  postmasterOf,
  startStamm,
  withClient,
} from './process.ts';

/** How many customers are created before and after something breaks. */
const enough = 300;

/** The published answer to a database that is away comes within this time. */
const longestAnswerMs = 2000;

/** As where nobody sets anything. */
const promised = { REQUEST_DEADLINE_MS: '' };

async function startLoadedService(settings: Environment = {}) {
  const prepared = await makePreparedDataDir();
  const env = { DATA_DIR: prepared.dataDir, RATE_LIMIT_PER_MINUTE: '1000000000', ...settings };
  const service = await startStamm(env);
  const load = startLoad(service.origin, prepared.key);
  await created(load, 0);
  return { ...prepared, env, service, load };
}

/** Waits until enough customers are created with requests that were sent after a moment. */
async function created(load: Load, since: number): Promise<void> {
  const isNew = ({ status, sentAt }: Attempt) => status === 201 && sentAt > since;
  await until('creations under load', () => load.attempts.filter(isNew).length >= enough);
}

async function assertStored(connection: pg.ClientConfig, attempts: readonly Attempt[]): Promise<void> {
  const ids = idsOf(attempts);
  const { rows } = await withClient(connection, (client) =>
    client.query(
      'SELECT count(*)::integer AS found FROM customer JOIN unnest($1::uuid[]) AS answered (id) USING (id)',
      [ids],
    ),
  );
  assert.equal(rows[0].found, ids.length, 'each 201 is a row');
}

/** The service itself was never away: every request was answered, and in time. */
function assertAnswered(attempts: readonly Attempt[]): void {
  for (const { status, code, failure, tookMs } of attempts) {
    const isExpected = status === 201 || code === 'database_unavailable' || code === 'outcome_unknown';
    assert.ok(isExpected, `${status} ${code} ${failure}`);
    assert.ok(tookMs < longestAnswerMs, `an answer took ${Math.round(tookMs)} ms`);
  }
}

test('a killed service, started again, has every customer that it confirmed', async () => {
  const { dataDir, env, service, load, key } = await startLoadedService();
  await service.kill();
  const attempts = await load.stop();
  const next = await startStamm(env);
  await assertStored(connectionTo(dataDir), attempts);
  const again = startLoad(next.origin, key);
  await created(again, 0);
  await again.stop();
  assert.equal((await next.stop()).code, 0);
});

test('a service that is killed together with its PostgreSQL has every customer that it confirmed', async () => {
  const { dataDir, env, service, load } = await startLoadedService();
  process.kill(postmasterOf(dataDir), 'SIGKILL');
  await service.kill();
  const attempts = await load.stop();
  const next = await startStamm(env);
  await assertStored(connectionTo(dataDir), attempts);
  assert.equal((await next.stop()).code, 0);
});

test('a killed PostgreSQL comes back by itself; until then answers are 500 in time, and no 201 is false', async () => {
  const { dataDir, service, load } = await startLoadedService(promised);
  const killedAt = performance.now();
  process.kill(postmasterOf(dataDir), 'SIGKILL');
  await until('a request notices', () => load.attempts.some(({ status }) => status === 500));
  await created(load, killedAt);
  const attempts = await load.stop();
  assertAnswered(attempts);
  await assertStored(connectionTo(dataDir), attempts);
  assert.equal((await service.stop()).code, 0);
  assert.deepEqual(findServers(dataDir), []);
});

test('a killed connection of PostgreSQL, which ends all of them, costs no restart and no 201', async () => {
  const { dataDir, service, load } = await startLoadedService(promised);
  const { rows } = await withClient(connectionTo(dataDir), (client) =>
    client.query(`SELECT pid FROM pg_stat_activity WHERE datname = 'stamm' AND application_name = ''
      AND pid <> pg_backend_pid()`),
  );
  const killedAt = performance.now();
  process.kill(rows[0].pid, 'SIGKILL');
  await until('a request notices', () => load.attempts.some(({ status }) => status === 500));
  await created(load, killedAt);
  const attempts = await load.stop();
  assertAnswered(attempts);
  await assertStored(connectionTo(dataDir), attempts);
  assert.equal((await service.stop()).code, 0);
});

test('SIGTERM under load answers everything that was sent before it, and every row that was written', async () => {
  const { dataDir, service, load } = await startLoadedService();
  const stoppedAt = performance.now();
  const { code } = await service.stop();
  const attempts = await load.stop();
  assert.equal(code, 0);
  assert.deepEqual(findServers(dataDir), []);
  const unanswered = attempts.filter(({ sentAt, status }) => sentAt < stoppedAt && status !== 201);
  assert.deepEqual(unanswered, []);
  const postgres = await openEmbeddedPostgres({ dataDir, purpose: 'command' });
  const { rows } = await withClient(postgres.connection, (client) =>
    client.query('SELECT id FROM customer ORDER BY id'),
  );
  await postgres.close();
  // As many rows as answers: no request was accepted and then dropped.
  assert.deepEqual(
    rows.map(({ id }) => id),
    idsOf(attempts).sort(),
  );
});

test('while PostgreSQL hangs answers are 500 in time, and all is well when it goes on', async () => {
  const { dataDir, service, load } = await startLoadedService(promised);
  const resume = await hang(dataDir);
  const hungAt = performance.now();
  const afterwards = () => load.attempts.filter(({ sentAt }) => sentAt > hungAt);
  assert.equal((await fetch(`${service.origin}/livez`)).status, 200);
  // First with a connection that the hanging server had, and later with none left.
  const readiness: Awaited<ReturnType<typeof timeReadiness>>[] = [];
  await until('an answer to each sender', async () => {
    readiness.push(await timeReadiness(service.origin));
    return afterwards().length >= 16;
  });
  const meanwhile = afterwards();
  const resumedAt = performance.now();
  resume();
  assert.ok(meanwhile.every((attempt) => attempt.status === 500));
  // A finding from before is repeated for a second.
  const foundAway = readiness.slice(readiness.findIndex(({ status }) => status === 500));
  for (const { status, tookMs } of foundAway) {
    assert.equal(status, 500);
    assert.ok(tookMs < longestAnswerMs, `/readyz took ${Math.round(tookMs)} ms`);
  }
  await created(load, resumedAt);
  const attempts = await load.stop();
  assertAnswered(attempts);
  await assertStored(connectionTo(dataDir), attempts);
  assert.equal((await service.stop()).code, 0);
});

async function timeReadiness(origin: string): Promise<{ status: number; tookMs: number }> {
  const watch = startWatch();
  const { status } = await fetch(`${origin}/readyz`);
  return { status, tookMs: watch() };
}

/** Stops the postmaster, which makes no new process from then on, and then all that it has made. */
async function hang(dataDir: string): Promise<() => void> {
  const client = new pg.Client(connectionTo(dataDir));
  client.on('error', () => {});
  await client.connect();
  const postmaster = postmasterOf(dataDir);
  const pids = [postmaster];
  const resume = () => {
    for (const pid of pids.splice(0)) process.kill(pid, 'SIGCONT');
  };
  cleanUpLater(async () => resume());
  process.kill(postmaster, 'SIGSTOP');
  const { rows } = await client.query('SELECT pid FROM pg_stat_activity WHERE pid <> pg_backend_pid()');
  await client.end();
  for (const { pid } of rows) {
    process.kill(pid, 'SIGSTOP');
    pids.push(pid);
  }
  return resume;
}
