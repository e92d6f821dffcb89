// One command starts everything, names its address, and ends everything. A sentence explains each obstacle.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, globSync } from 'node:fs';
import { connect } from 'node:net';
import path from 'node:path';
import { before, describe, test } from 'node:test';
import { openEmbeddedPostgres } from '../../server/database/embedded/postgres.ts';
import { startDebianPostgres } from '../faults/helpers/debian-postgres.ts';
import {
  assertOnlyStartBlock,
  assertRefused,
  checkout,
  cleanUpLater,
  createCustomer,
  databaseUrl,
  type Environment,
  findServers,
  makeDataDir,
  makePreparedDataDir,
  onlyStartBlock,
  type Prepared,
  runStamm,
  type StammProcess,
  startStamm,
  startUntil,
  withClient,
} from '../faults/helpers/process.ts';
import { findFreePort } from '../helpers/free-port.ts';
import { withoutPostgres15 } from '../helpers/programs.ts';
import { until } from '../helpers/waiting.ts';

const hasCurl = spawnSync('curl', ['--version']).status === 0;

test('every line on stdout is JSON, and the start block is on stderr', async () => {
  const { dataDir } = await makePreparedDataDir();
  const publicUrl = 'https://stamm.example';
  const service = await startStamm({ DATA_DIR: dataDir, LOG_LEVEL: 'info', PUBLIC_URL: publicUrl });
  await until('a logged request', () => service.output.stdout.includes('"path":"/readyz"'));
  const { stdout, stderr } = await service.stop();
  for (const line of stdout.trimEnd().split('\n')) assert.equal(typeof JSON.parse(line).msg, 'string');
  assert.match(stderr, onlyStartBlock);
  assert.match(stderr, /^ {2}https:\/\/stamm\.example\/setup#\S+$/m);
  assert.doesNotMatch(stderr, /^\{"/m);
});

test('the start block leads from nothing to the first customer', async (t) => {
  const dataDir = await makeDataDir();
  const service = await startStamm({ DATA_DIR: dataDir });
  const block = service.output.stderr;
  for (const line of [
    `  Web app     ${service.origin}/\n`,
    `  API base    ${service.origin}/api/v1\n`,
    `  API guide   ${service.origin}/docs\n`,
    `, data in ${dataDir}\n`,
    '\nStop with Ctrl-C or SIGTERM.\n',
  ]) {
    assert.ok(block.includes(line), `${line} in ${block}`);
  }
  assert.match(block, /^ {2}Database {4}PostgreSQL 18\.\d+, /m);
  assert.equal((await fetch(`${service.origin}/docs`)).status, 200);
  // The commands are run as they are printed, by a shell.
  const run = (line: string) =>
    execFileSync('sh', ['-c', line], {
      cwd: checkout,
      env: { PATH: process.env.PATH, HOME: process.env.HOME, DATA_DIR: dataDir },
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
  const [tenantLine, keyLine] = block.match(/^ {2}npm run .*$/gm)!;
  const [, tenantId] = /: (\S+)\n/.exec(run(tenantLine!))!;
  const [key] = run(keyLine!.replace('TENANT_ID', tenantId!)).split('\n');
  await t.test('with curl', { skip: hasCurl ? false : 'there is no curl on this machine' }, () => {
    const curlLines = /^ {2}curl [\s\S]*?\}'$/m.exec(block)![0];
    const answer = JSON.parse(run(`${curlLines.replace('KEY', key!)} --silent`));
    assert.deepEqual(Object.keys(answer), ['id']);
  });
  assert.equal((await service.stop('SIGINT')).code, 0);
  assert.deepEqual(findServers(dataDir), []);
});

describe('a start that cannot succeed says why, and the service that runs goes on', {
  concurrency: 2,
}, () => {
  let first: Prepared;
  let service: StammProcess;
  let port: string;
  before(async () => {
    first = await makePreparedDataDir();
    port = String(await findFreePort());
    service = await startStamm({ DATA_DIR: first.dataDir, PORT: port });
  });

  /** The start is refused, and leaves neither the running service worse off nor a PostgreSQL of its own behind. */
  async function assertStartRefused(env: Environment, sentence: RegExp): Promise<string> {
    const ended = await runStamm(['serve'], env);
    assertRefused(ended, sentence);
    if (env.DATA_DIR !== first.dataDir) assert.deepEqual(findServers(env.DATA_DIR!), []);
    assert.equal((await createCustomer(service.origin, first.key)).status, 201);
    return ended.stderr;
  }

  test('where the port is taken', async () => {
    const { dataDir } = await makePreparedDataDir();
    const sentence = new RegExp(`^Port ${port} on 127.0.0.1 is taken .*PORT=${Number(port) + 1} npm start`);
    await assertStartRefused({ DATA_DIR: dataDir, PORT: port }, sentence);
  });

  test('where the port of the metrics is taken, without proposing the port of the service', async () => {
    const { dataDir } = await makePreparedDataDir();
    const beside = (distance: number) => String(Number(port) + distance);
    const sentence = new RegExp(`^Port ${port} on 127.0.0.1 is taken .*METRICS_PORT=${beside(2)} npm start`);
    await assertStartRefused({ DATA_DIR: dataDir, METRICS_PORT: port, PORT: beside(1) }, sentence);
  });

  test('where a service runs on the same data', async () => {
    const sentence = new RegExp(
      `already running .*\\(${first.dataDir}\\): ${service.origin}, process ${service.pid}`,
    );
    await assertStartRefused({ DATA_DIR: first.dataDir }, sentence);
  });

  test('where HOST is no address of this machine', async () => {
    const { dataDir } = await makePreparedDataDir();
    await assertStartRefused(
      { DATA_DIR: dataDir, HOST: '203.0.113.1' },
      /^HOST 203\.0\.113\.1 is no address/,
    );
  });

  test('where nothing listens at DATABASE_URL', async () => {
    const unused = path.join(await makeDataDir(), 'never-made');
    const url = `postgres://stamm:secret@127.0.0.1:${await findFreePort()}/stamm`;
    const sentence =
      /^The database at 127.0.0.1:\d+\/stamm cannot be used: .*ECONNREFUSED.* Check DATABASE_URL/;
    const message = await assertStartRefused({ DATABASE_URL: url, DATA_DIR: unused }, sentence);
    assert.ok(!message.includes('secret'));
    assert.ok(!existsSync(unused));
  });

  test('where settings are wrong', async () => {
    const unused = path.join(await makeDataDir(), 'never-made');
    const sentence = /^These settings are wrong:\n {2}PORT must be .*\n {2}LOG_LEVEL must be one of .*\n$/;
    await assertStartRefused({ PORT: 'http', LOG_LEVEL: 'loud', DATA_DIR: unused }, sentence);
    assert.ok(!existsSync(unused));
  });
});

function isRefused(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port });
    socket.once('error', () => resolve(true));
    socket.once('connect', () => {
      socket.destroy();
      resolve(false);
    });
  });
}

describe('a stop ends everything, with exit code 0', { concurrency: 3 }, () => {
  test('though a client never finishes its request, and though the signal comes again', async () => {
    const { dataDir } = await makePreparedDataDir();
    const service = await startStamm({ DATA_DIR: dataDir });
    const { hostname, port } = new URL(service.origin);
    const client = connect({ host: hostname, port: Number(port) });
    client.on('error', () => {});
    cleanUpLater(async () => client.destroy());
    await once(client, 'connect');
    client.write('POST /api/v1/customer HTTP/1.1\r\nHost: stamm.test\r\nContent-Le');
    // Answered on another connection afterwards, so that the first bytes have arrived.
    assert.equal((await fetch(`${service.origin}/livez`)).status, 200);
    const stopping = service.stop('SIGINT');
    await until('it no longer listens', () => isRefused(hostname, Number(port)));
    service.signal('SIGINT');
    const { code, signal } = await stopping;
    assert.deepEqual({ code, signal }, { code: 0, signal: null });
    assert.deepEqual(findServers(dataDir), []);
  });

  test('by SIGTERM', async () => {
    const { dataDir } = await makePreparedDataDir();
    const { code, stderr } = await (await startStamm({ DATA_DIR: dataDir })).stop();
    assert.match(stderr, onlyStartBlock);
    assert.equal(code, 0);
    assert.deepEqual(findServers(dataDir), []);
  });

  const pointsOfStart: Record<string, (dataDir: string) => boolean> = {
    'while PostgreSQL is set up': (dataDir) =>
      globSync('{postgres-18.new-*/result,postgres-18}/PG_VERSION', { cwd: dataDir }).length > 0,
    'while PostgreSQL starts': (dataDir) => findServers(dataDir).length > 0,
    'before the web app is built': (dataDir) => existsSync(path.join(dataDir, 'run/.s.PGSQL.5432')),
  };
  for (const [when, isThere] of Object.entries(pointsOfStart)) {
    test(when, async () => {
      const dataDir = await makeDataDir();
      const { code, signal, stderr } = await startUntil(() => isThere(dataDir), { DATA_DIR: dataDir });
      assert.deepEqual({ code, signal }, { code: 0, signal: null }, stderr);
      assertOnlyStartBlock(stderr);
      assert.deepEqual(findServers(dataDir), []);
    });
  }

  test('while a migration waits for somebody', async () => {
    const { dataDir } = await makePreparedDataDir();
    const owned = await openEmbeddedPostgres({ dataDir, purpose: 'command' });
    await withClient(owned.connection, async (client) => {
      await client.query('BEGIN; LOCK TABLE schema_migration IN ACCESS EXCLUSIVE MODE');
      const isWaiting = async () =>
        (await client.query('SELECT FROM pg_locks WHERE NOT granted')).rowCount! > 0;
      const { code, stderr } = await startUntil(isWaiting, { DATA_DIR: dataDir });
      assert.deepEqual({ code, stderr }, { code: 0, stderr: '' });
    });
    await owned.close();
    assert.deepEqual(findServers(dataDir), []);
  });

  for (const [what, stop] of Object.entries({
    'a SIGTERM to npm': (service: StammProcess) => service.stop(),
    'Ctrl-C, which all processes of npm start get': (service: StammProcess) => service.interruptGroup(),
  })) {
    test(`by ${what}`, async () => {
      const { dataDir, key } = await makePreparedDataDir();
      const service = await startStamm({ DATA_DIR: dataDir }, ['npm', 'start']);
      assert.equal((await createCustomer(service.origin, key)).status, 201);
      const { code } = await stop(service);
      assert.deepEqual(findServers(dataDir), []);
      await assert.rejects(fetch(`${service.origin}/livez`));
      assert.equal(code, 0);
    });
  }
});

test('PostgreSQL 15 serves as well, under a login that owns the database and is no superuser', {
  skip: withoutPostgres15,
}, async () => {
  const { connection: superuser } = await startDebianPostgres();
  const owner = { ...superuser, user: 'shop_owner', password: 'secret', database: 'shop' };
  await withClient(superuser, async (client) => {
    await client.query(`CREATE ROLE shop_owner LOGIN CREATEROLE PASSWORD 'secret'`);
    await client.query('CREATE DATABASE shop OWNER shop_owner');
  });
  const unused = path.join(await makeDataDir(), 'never-made');
  const env = { DATABASE_URL: databaseUrl(owner), DATA_DIR: unused, LOG_LEVEL: 'debug' };
  const service = await startStamm(env);
  assert.match(service.output.stderr, /^ {2}Database {4}PostgreSQL 15\.\d+/m);
  const made = await runStamm(['tenant', 'create', '--name', 'Grün', '--json'], env);
  const { tenantId } = JSON.parse(made.stdout);
  const { key } = JSON.parse((await runStamm(['key', 'create', '--tenant', tenantId, '--json'], env)).stdout);
  const response = await createCustomer(service.origin, key);
  assert.equal(response.status, 201);
  const { id } = (await response.json()) as { id: string };
  const stored = await withClient({ ...superuser, database: 'shop' }, (client) =>
    client.query('SELECT tenant_id, id FROM customer'),
  );
  assert.deepEqual(stored.rows, [{ tenant_id: tenantId, id }]);
  assert.equal((await runStamm(['doctor'], env)).code, 0);
  const { code, stdout } = await service.stop();
  assert.equal(code, 0);
  assert.match(stdout, /^\{"level":20,.*"statement":"insert customer","durationMs":[\d.]+,"rows":1/m);
  // It is not ours to stop.
  await withClient(superuser, (client) => client.query('SELECT 1'));
  assert.ok(!existsSync(unused));
});
