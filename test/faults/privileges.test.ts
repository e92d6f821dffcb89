// Started as root, the service gives up the account and the rights of the database's owner.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { chmod, cp, mkdir, symlink } from 'node:fs/promises';
import { createServer } from 'node:net';
import path from 'node:path';
import { describe, test } from 'node:test';
import { openEmbeddedPostgres } from '../../server/database/embedded/postgres.ts';
import { findClosedFolder } from '../../server/database/embedded/programs.ts';
import { migrate } from '../../server/database/migrations/migrations.ts';
import { validCustomer } from '../helpers/service.ts';
import { until } from '../helpers/waiting.ts';
import {
  checkout,
  connectionTo,
  createCustomer,
  createTenant,
  databaseUrl,
  findServers,
  makeDataDir,
  makePreparedDataDir,
  onlyStartBlock,
  postmasterOf,
  runStamm,
  type StammProcess,
  startStamm,
  withClient,
} from './helpers/process.ts';
import { workersOf } from './helpers/process-list.ts';

const isRoot = process.getuid?.() === 0 && process.platform === 'linux';
const rootOnly = { skip: isRoot ? false : 'only root has something to give up', concurrency: 2 };
const nobodyInParticular = { uid: -1, gid: -1 };
const isPublic = isRoot && findClosedFolder(checkout, nobodyInParticular) === undefined;
const publicOnly = { skip: isPublic ? false : 'only root may enter this checkout' };

/** The service and its workers. */
const processesOf = (service: StammProcess) => [service.pid, ...workersOf(service)];

/** Real, effective, saved and file-system ids, and all groups, as the kernel knows them. */
function idsOf(pid: number): { uids: number[]; gids: number[]; groups: string } {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const numbers = (name: string) => new RegExp(`^${name}:(.*)$`, 'm').exec(status)![1]!.trim();
  return {
    uids: numbers('Uid').split(/\s+/).map(Number),
    gids: numbers('Gid').split(/\s+/).map(Number),
    groups: numbers('Groups'),
  };
}

function assertServedBy(service: StammProcess, { uid, gid }: { uid: number; gid: number }, count: number) {
  const pids = processesOf(service);
  assert.equal(pids.length, count);
  for (const pid of pids) {
    assert.deepEqual(idsOf(pid), { uids: Array(4).fill(uid), gids: Array(4).fill(gid), groups: '' });
  }
}

async function importLines(origin: string, key: string): Promise<string> {
  const line = JSON.stringify({ type: 'customer', data: validCustomer });
  const response = await fetch(`${origin}/api/v1/import?mode=all-or-nothing`, {
    method: 'POST',
    headers: { ApiKey: key, 'Content-Type': 'application/x-ndjson' },
    body: `${line}\n${line}\n`,
  });
  assert.equal(response.status, 200);
  return response.text();
}

async function isAnswering({ origin }: StammProcess): Promise<boolean> {
  return fetch(`${origin}/readyz`).then(
    ({ status }) => status === 200,
    () => false,
  );
}

/** Tests run beside each other, and none may find the port that another has found and not opened yet. */
let lowPort = 1024;

async function findLowPort(): Promise<number> {
  for (;;) {
    const port = --lowPort;
    const server = createServer();
    const isFree = await new Promise((resolve) => {
      server.once('error', () => resolve(false));
      server.listen(port, '127.0.0.1', () => resolve(true));
    });
    if (!isFree) continue;
    await new Promise((resolve) => server.close(resolve));
    return port;
  }
}

describe('started as root', rootOnly, () => {
  test('all processes serve as the owner of the data, and do everything as before', publicOnly, async () => {
    const { dataDir, key } = await makePreparedDataDir();
    const service = await startStamm({ DATA_DIR: dataDir, WORKERS: '2', LOG_LEVEL: 'warn' });
    const account = statSync(path.join(dataDir, 'postgres-18'));
    assert.notEqual(account.uid, 0);
    assertServedBy(service, account, 3);
    assert.equal(statSync(dataDir).uid, account.uid);
    assert.equal(statSync(path.join(dataDir, 'database-password')).mode & 0o777, 0o600);

    assert.equal((await createCustomer(service.origin, key)).status, 201);
    assert.match(await importLines(service.origin, key), /"created":2/);
    assert.equal((await fetch(`${service.origin}/docs/reference/scalar.js`)).status, 200);
    const page = await fetch(service.origin);
    assert.match(await page.text(), /<script type="module"/);

    const [, killed] = processesOf(service);
    process.kill(killed!, 'SIGKILL');
    await until('a new worker', () => {
      const now = processesOf(service);
      return now.length === 3 && !now.includes(killed!);
    });
    await until('it answers', () => isAnswering(service));
    assertServedBy(service, account, 3);
    assert.equal((await createCustomer(service.origin, key)).status, 201);

    const postmaster = postmasterOf(dataDir);
    process.kill(postmaster, 'SIGKILL');
    await until('PostgreSQL is back', async () => {
      const isOther =
        existsSync(path.join(dataDir, 'postgres-18/postmaster.pid')) && postmasterOf(dataDir) !== postmaster;
      // An answer of /readyz may be a second old.
      return isOther && (await createCustomer(service.origin, key)).status === 201;
    });
    const { code, stdout } = await service.stop();
    assert.equal(code, 0);
    assert.doesNotMatch(stdout, /goes on as root/);
    assert.deepEqual(findServers(dataDir), []);
  });

  test('a single process opens a port below 1024 and then leaves root', publicOnly, async () => {
    const { dataDir, key } = await makePreparedDataDir();
    const port = await findLowPort();
    const service = await startStamm({ DATA_DIR: dataDir, WORKERS: '1', PORT: String(port) });
    assertServedBy(service, statSync(path.join(dataDir, 'postgres-18')), 1);
    assert.equal((await createCustomer(service.origin, key)).status, 201);
    assert.equal((await service.stop()).code, 0);
    assert.deepEqual(findServers(dataDir), []);
  });

  test(
    'workers that all die on such a port come back, or the service ends and says why',
    publicOnly,
    async () => {
      const { dataDir } = await makePreparedDataDir();
      const port = await findLowPort();
      const service = await startStamm({ DATA_DIR: dataDir, WORKERS: '2', PORT: String(port) });
      const firstOpenPort = Number(readFileSync('/proc/sys/net/ipv4/ip_unprivileged_port_start', 'utf8'));
      const [, ...workers] = processesOf(service);
      for (const pid of workers) process.kill(pid, 'SIGKILL');
      if (firstOpenPort <= port) {
        await until('it answers', () => isAnswering(service));
        assert.equal((await service.stop()).code, 0);
      } else {
        const { code, stderr } = await service.waitForEnd();
        const sentence = `All workers ended, and only root may open port ${port} again. Start Stamm again.\n`;
        assert.equal(stderr.slice(-sentence.length), sentence);
        assert.match(stderr.slice(0, -sentence.length), onlyStartBlock);
        assert.equal(code, 1);
      }
      assert.deepEqual(findServers(dataDir), []);
    },
  );

  test('Node says in one line that it stays root where the account may not enter the checkout', async () => {
    const { dataDir, key } = await makePreparedDataDir();
    const copy = path.join(await makeDataDir(), 'checkout');
    await mkdir(copy);
    for (const name of [
      'core',
      'reference',
      'server',
      'migrations',
      'web',
      'package.json',
      'package-lock.json',
    ]) {
      await cp(path.join(checkout, name), path.join(copy, name), { recursive: true });
    }
    await symlink(path.join(checkout, 'node_modules'), path.join(copy, 'node_modules'));
    const env = { DATA_DIR: dataDir, WORKERS: '2', LOG_LEVEL: 'warn' };
    const service = await startStamm(env, [process.execPath, path.join(copy, 'server/main.ts'), 'serve']);
    assertStaysRoot(service, new RegExp(`may not enter ${path.dirname(copy)}, where Stamm is installed`));
    assert.equal((await createCustomer(service.origin, key)).status, 201);
    assert.equal((await service.stop()).code, 0);
  });

  test(
    'a folder that holds other things than the data stays root’s, and so does Node',
    publicOnly,
    async () => {
      const { dataDir, key } = await makePreparedDataDir();
      execFileSync('chown', ['root:root', dataDir]);
      await chmod(dataDir, 0o711);
      writeFileSync(path.join(dataDir, 'notes.txt'), 'mine');
      const service = await startStamm({ DATA_DIR: dataDir, WORKERS: '2', LOG_LEVEL: 'warn' });
      assertStaysRoot(service, /holds other files than Stamm's/);
      assert.equal(statSync(dataDir).uid, 0);
      assert.equal((await createCustomer(service.origin, key)).status, 201);
      assert.equal((await service.stop()).code, 0);
    },
  );

  test('with DATABASE_URL, Node leaves root if the database lets the account in', publicOnly, async () => {
    const dataDir = await makeDataDir();
    await chmod(dataDir, 0o755);
    const postgres = await openEmbeddedPostgres({ dataDir, purpose: 'command' });
    try {
      await migrate(postgres.connection);
      const { key } = await withClient(postgres.connection, createTenant);
      const env = { DATABASE_URL: databaseUrl(postgres.connection), WORKERS: '2', LOG_LEVEL: 'warn' };

      // The socket is in a folder of the account that PostgreSQL runs as.
      const closed = await startStamm(env);
      assertStaysRoot(closed, /the user (stamm|nobody) cannot serve \(connect EACCES /);
      assert.equal((await createCustomer(closed.origin, key)).status, 201);
      assert.equal((await closed.stop()).code, 0);

      await chmod(path.join(dataDir, 'run'), 0o755);
      const open = await startStamm(env);
      const { uids } = idsOf(open.pid);
      assert.notEqual(uids[0], 0);
      assert.notEqual(uids[0], statSync(path.join(dataDir, 'postgres-18')).uid, 'not the owner of the data');
      assertServedBy(open, { uid: uids[0]!, gid: idsOf(open.pid).gids[0]! }, 3);
      assert.equal((await createCustomer(open.origin, key)).status, 201);
      assert.equal((await open.stop()).code, 0);
    } finally {
      await postgres.close();
    }
  });

  test('the doctor says whom Node runs as', publicOnly, async () => {
    const { dataDir } = await makePreparedDataDir();
    const { code, stdout } = await runStamm(['doctor'], { DATA_DIR: dataDir });
    assert.match(stdout, /^[✓!] account +.*Node runs as \S+/m);
    writeFileSync(path.join(dataDir, 'notes.txt'), 'mine');
    execFileSync('chown', ['root:root', dataDir]);
    await chmod(dataDir, 0o711);
    const warned = await runStamm(['doctor'], { DATA_DIR: dataDir });
    assert.match(warned.stdout, /^! account +Node goes on as root: /m);
    assert.deepEqual([code, warned.code], [0, 0]);
  });
});

function assertStaysRoot(service: StammProcess, reason: RegExp): void {
  assertServedBy(service, { uid: 0, gid: 0 }, 3);
  const lines = service.output.stdout.split('\n').filter((line) => line.includes('Node goes on as root'));
  assert.equal(lines.length, 1);
  assert.match(lines[0]!, reason);
}

test('requests of every worker use a login of their own, and only the start uses the owner’s', async () => {
  const { dataDir, key } = await makePreparedDataDir();
  const service = await startStamm({ DATA_DIR: dataDir, WORKERS: '2' });
  await Promise.all(Array.from({ length: 20 }, () => createCustomer(service.origin, key)));
  const { rows } = await withClient(connectionTo(dataDir), (client) =>
    client.query(
      `SELECT usename AS login, application_name LIKE 'stamm serve %' AS is_hold, count(*) > 0 AS is_there
       FROM pg_stat_activity WHERE datname = 'stamm' AND backend_type = 'client backend' AND pid <> pg_backend_pid()
       GROUP BY 1, 2 ORDER BY 1`,
    ),
  );
  assert.equal(rows.length, 2);
  assert.deepEqual(rows[0], { login: 'stamm', is_hold: true, is_there: true });
  assert.match(rows[1].login, /^stamm_app_/);
  assert.equal((await service.stop()).code, 0);
});
