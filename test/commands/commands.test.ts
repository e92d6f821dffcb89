// The command line as a person or a script meets it: each command is a process of its own.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import path from 'node:path';
import { before, describe, test } from 'node:test';
import type pg from 'pg';
import { openEmbeddedPostgres } from '../../server/database/embedded/postgres.ts';
import { version } from '../../server/version.ts';
import {
  assertRefused,
  beginStamm,
  cleanUpLater,
  createCustomer,
  databaseUrl,
  type Environment,
  findServers,
  makeDataDir,
  makePreparedDataDir,
  type Prepared,
  runStamm,
  type StammProcess,
  startStamm,
  withClient,
} from '../faults/helpers/process.ts';
import { findFreePort } from '../helpers/free-port.ts';
import { createTestDatabase } from '../helpers/service.ts';
import { until } from '../helpers/waiting.ts';

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const unknownTenant = '01960000-0000-7000-8000-000000000000';

/** What a command says besides its result: its database, on a line of its own. The doctor lists it among its findings. */
function assertNamesDatabase(stderr: string, words: readonly string[]): void {
  const said = stderr.replace('Another process migrates the database. Waiting for it.\n', '');
  const talksToNone = words.length === 0 || ['doctor', '-h', 'help', '--version'].includes(words[0]!);
  assert.match(said, talksToNone ? /^$/ : /^Database: PostgreSQL \d+\.\d+.*(, data in| at) .+\n$/);
}

/** Runs a command that succeeds, and reads the one JSON object that it prints. */
async function runJson(words: readonly string[], env: Environment) {
  const { code, stdout, stderr } = await runStamm([...words, '--json'], env);
  assertNamesDatabase(stderr, words);
  assert.equal(code, 0);
  assert.match(stdout, /^\{.*\}\n$/, 'one object on one line, and nothing else');
  return JSON.parse(stdout);
}

async function runText(words: readonly string[], env: Environment): Promise<string> {
  const { code, stdout, stderr } = await runStamm(words, env);
  assertNamesDatabase(stderr, words);
  assert.equal(code, 0);
  return stdout;
}

async function statusAndCode(service: StammProcess, key: string): Promise<string> {
  const response = await createCustomer(service.origin, key);
  return `${response.status} ${((await response.json()) as { code?: string }).code ?? ''}`.trim();
}

describe('beside a running service', { concurrency: 3 }, () => {
  let prepared: Prepared;
  let env: Environment;
  let service: StammProcess;
  before(async () => {
    prepared = await makePreparedDataDir();
    env = { DATA_DIR: prepared.dataDir };
    service = await startStamm(env);
  });

  test('a tenant gets a key that works immediately, until it is replaced, deleted, or both', async () => {
    const { tenantId, ...rest } = await runJson(['tenant', 'create', '--name', 'Grün & Gut GmbH'], env);
    assert.match(tenantId, uuid);
    assert.deepEqual(rest, {});
    const first = await runJson(['key', 'create', '--tenant', tenantId], env);
    assert.deepEqual(Object.keys(first), ['key']);
    assert.match(first.key, /^stamm_[0-9A-Za-z]{36}$/);
    assert.equal(await statusAndCode(service, first.key), '201');
    const second = await runJson(['key', 'create', '--tenant', tenantId.toUpperCase()], env);
    assert.equal(await statusAndCode(service, first.key), '401 key_replaced');
    assert.equal(await statusAndCode(service, second.key), '201');
    assert.deepEqual(await runJson(['key', 'delete', '--tenant', tenantId], env), { deleted: true });
    assert.equal(await statusAndCode(service, second.key), '401 key_deleted');
    assertRefused(await runStamm(['key', 'delete', '--tenant', tenantId], env), /has no key/);
    const { tenants } = await runJson(['tenant', 'list'], env);
    const listed = tenants.find((tenant: { tenantId: string }) => tenant.tenantId === tenantId);
    assert.equal(listed.name, 'Grün & Gut GmbH');
    assert.equal(listed.keyEnding, null);
  });

  test('commands at the same time do not disturb each other or the service', async () => {
    const names = ['Eins', 'Zwei', 'Drei'];
    const made = await Promise.all(names.map((name) => runJson(['tenant', 'create', '--name', name], env)));
    const list = await runText(['tenant', 'list'], env);
    for (const [index, name] of names.entries()) {
      assert.ok(list.includes(`${made[index].tenantId}  ${name}  (no key)\n`), list);
    }
    assert.equal(await statusAndCode(service, prepared.key), '201');
  });

  test('the doctor finds nothing wrong, and there is nothing to migrate', async () => {
    const { ok, findings } = await runJson(['doctor'], env);
    assert.equal(ok, true);
    const checks = findings
      // For root a line names the account of Node, which depends on the machine.
      .filter(({ check }: Record<string, string>) => check !== 'account')
      .map(({ check, status }: Record<string, string>) => `${check} ${status}`);
    const wanted =
      'runtime settings proxy database writes connections migrations role login jit upkeep disk'.split(' ');
    assert.deepEqual(checks, [...wanted.map((check) => `${check} ok`), 'backup warning']);
    assert.deepEqual(await runJson(['migrate'], env), { applied: [] });
  });

  test('the doctor warns where the service is open to the network and would believe no proxy', async () => {
    const proxyWith = async (settings: Record<string, string>) => {
      const { ok, findings } = await runJson(['doctor'], { ...env, ...settings });
      assert.equal(ok, true, 'it is no failure');
      return findings.find(({ check }: { check: string }) => check === 'proxy');
    };
    const open = await proxyWith({ HOST: '0.0.0.0' });
    assert.equal(open.status, 'warning');
    assert.match(open.message, /TRUST_PROXY is empty/);
    const trusting = await proxyWith({ HOST: '0.0.0.0', TRUST_PROXY: 'loopback,10.0.0.1' });
    assert.equal(trusting.status, 'ok');
    assert.match(trusting.message, /loopback, 10\.0\.0\.1$/);
  });

  for (const [what, words, sentence] of [
    ['of an unknown tenant', ['key', 'create', '--tenant', unknownTenant], /no tenant .*"tenant list"/],
    ['of an unknown tenant, deleted', ['key', 'delete', '--tenant', unknownTenant], /does not exist/],
    ['of a malformed id', ['key', 'create', '--tenant', 'x'], /"x" is not the id of a tenant/],
    ['of a malformed id, with --json', ['key', 'delete', '--tenant', "' OR 1=1", '--json'], /is not the id/],
    ['of a blank name', ['tenant', 'create', '--name', ' \t'], /name of a tenant must not be empty/],
  ] as const) {
    test(`a command ${what} is refused in a sentence`, async () => {
      assertRefused(await runStamm(words, env), sentence);
    });
  }
});

describe('without a service', { concurrency: 3 }, () => {
  test('commands do their work, tell in plain words what to do next, and leave no PostgreSQL behind', async () => {
    const { dataDir } = await makePreparedDataDir();
    const env = { DATA_DIR: dataDir };
    const made = await runText(['tenant', 'create', '--name', '  Blatt & Blüte  '], env);
    const tenantId = /^Created the tenant Blatt & Blüte: (\S+)\n/.exec(made)?.[1] ?? assert.fail(made);
    assert.ok(made.includes(`stamm -- key create --tenant ${tenantId}\n`), made);
    assert.deepEqual(findServers(dataDir), []);
    const key = await runText(['key', 'create', '--tenant', tenantId], env);
    assert.match(key, /^stamm_[0-9A-Za-z]{36}\nStore it safely now/);
    const ending = key.split('\n')[0]!.slice(-4);
    const list = await runText(['tenant', 'list'], env);
    assert.ok(list.includes(`${tenantId}  Blatt & Blüte  (key …${ending}, last used never)\n`), list);
    assert.deepEqual(findServers(dataDir), []);
  });

  test('a first start and commands at the same time agree on one new database', async () => {
    const dataDir = await makeDataDir();
    const env = { DATA_DIR: dataDir };
    const start = beginStamm(env);
    let made = 0;
    await until('a command succeeds', async () => {
      const ended = await Promise.all(
        ['Eins', 'Zwei'].map((name) => runStamm(['tenant', 'create', '--name', name], env)),
      );
      for (const { code, stderr } of ended)
        if (code !== 0) assert.match(stderr, /There is no database in|has no tables of Stamm/);
      made += ended.filter(({ code }) => code === 0).length;
      return made > 0;
    });
    const service = await start.ready;
    assert.equal((await runJson(['tenant', 'list'], env)).tenants.length, made);
    await service.stop();
    assert.deepEqual(findServers(dataDir), []);
  });

  test('a new database has no tenant yet', async () => {
    const env = { DATABASE_URL: databaseUrl(await createTestDatabase()) };
    assert.equal(await runText(['tenant', 'list'], env), 'There is no tenant yet.\n');
    assert.deepEqual(await runJson(['tenant', 'list'], env), { tenants: [] });
  });
});

describe('where there is no database', { concurrency: 3 }, () => {
  const tenant = ['--tenant', unknownTenant];
  const webhook = [...tenant, '--id', unknownTenant];
  const person = ['--email', 'vera@blatt.example'];
  const commands: readonly string[][] = [
    ['tenant', 'create', '--name', 'Grün'],
    ['tenant', 'list'],
    ['key', 'create', ...tenant],
    ['key', 'delete', ...tenant],
    ['user', 'create', ...tenant, ...person, '--name', 'Vera', '--generate'],
    ['user', 'password', ...person, '--generate'],
    ['user', 'reset-passkeys', ...person],
    ['user', 'remove', ...person, '--yes'],
    ['webhook', 'create', ...tenant, '--url', 'https://erp.example/hook'],
    ['webhook', 'list', ...tenant],
    ...['test', 'pause', 'resume', 'secret', 'delete'].map((word) => ['webhook', word, ...webhook]),
    ['webhook', 'resend', ...webhook, '--since', '2026-01-01T00:00:00Z'],
    ['check'],
  ];

  test('no command creates one, and each says what to do', async () => {
    const folder = await makeDataDir();
    const dataDir = path.join(folder, 'never-made');
    for (const words of [...commands, ['backup', path.join(folder, 'all.backup')], ['migrate']]) {
      const ended = await runStamm([...words, '--json'], { DATA_DIR: dataDir });
      assertRefused(ended, /^There is no database in .*\/never-made, .* Set DATA_DIR .*: npm start\n$/);
    }
    assert.deepEqual(readdirSync(folder), []);
  });

  test('an import creates none', async () => {
    const folder = await makeDataDir();
    const lines = path.join(await makeDataDir(), 'lines.ndjson');
    await writeFile(lines, '{}');
    assertRefused(
      await runStamm(['import', lines, ...tenant], { DATA_DIR: folder }),
      /^There is no database in /,
    );
    assert.deepEqual(readdirSync(folder), []);
  });

  test('the doctor leaves an empty folder empty, and says what to do', async () => {
    const folder = await makeDataDir();
    const { code, stdout, stderr } = await runStamm(['doctor'], { DATA_DIR: folder });
    assert.deepEqual([code, stderr], [1, '']);
    assert.match(stdout, /^✗ database +There is no database in .* Set DATA_DIR .*: npm start$/m);
    assert.deepEqual(readdirSync(folder), []);
  });

  test('a command beside a service with another DATA_DIR is refused, and names its own', async () => {
    const { dataDir } = await makePreparedDataDir();
    const service = await startStamm({ DATA_DIR: dataDir });
    const other = await makeDataDir();
    const words = ['tenant', 'create', '--name', 'Grün'];
    const ended = await runStamm(words, { DATA_DIR: other });
    assertRefused(ended, /^There is no database in /);
    assert.ok(ended.stderr.includes(other));
    assert.deepEqual(readdirSync(other), []);
    const made = await runStamm(words, { DATA_DIR: dataDir });
    assert.ok(made.stderr.endsWith(`, data in ${dataDir}\n`), made.stderr);
    await service.stop();
  });

  test('an empty database of DATABASE_URL stays empty, except that migrate fills it', async () => {
    const connection = await createEmptyDatabase();
    const env = { DATABASE_URL: databaseUrl(connection) };
    const countTables = () =>
      withClient(connection, async (client) => {
        const { rows } = await client.query(
          `SELECT FROM pg_class WHERE relnamespace = 'public'::regnamespace`,
        );
        return rows.length;
      });
    for (const words of [['tenant', 'create', '--name', 'Grün'], ['check']]) {
      const ended = await runStamm(words, env);
      assertRefused(
        ended,
        /^Database: .*\nThis database has no tables of Stamm.* Check DATABASE_URL\..*"migrate"\.\n$/,
      );
    }
    assert.equal(await countTables(), 0);
    await runJson(['migrate'], env);
    assert.deepEqual(await runJson(['tenant', 'list'], env), { tenants: [] });
  });
});

async function createEmptyDatabase(): Promise<pg.ClientConfig> {
  const connection = await createTestDatabase();
  await withClient(connection, (client) => client.query('DROP SCHEMA public CASCADE; CREATE SCHEMA public'));
  return connection;
}

const whatToDoBeforeBaseline = /first release\. Nothing was changed\. Export .* new DATA_DIR/;

function renameMigration(connection: pg.ClientConfig, from: string, to: string) {
  return withClient(connection, (client) =>
    client.query('UPDATE schema_migration SET name = $2 WHERE name = $1', [from, to]),
  );
}

describe('on a database of its own', { concurrency: 3 }, () => {
  test('the doctor names missing migrations, and migrate applies them once', async () => {
    const env = { DATABASE_URL: databaseUrl(await createEmptyDatabase()) };
    const before = await runText(['doctor'], env);
    assert.match(before, /^! migrations +0001-baseline\.sql.*npm run --silent stamm -- migrate/m);
    const { applied } = await runJson(['migrate'], env);
    assert.equal(applied[0], '0001-baseline.sql');
    assert.equal(await runText(['migrate'], env), 'The database is up to date.\n');
    assert.match(await runText(['doctor'], env), /^✓ migrations +up to date$/m);
  });

  test('a database of a newer Stamm is left alone', async () => {
    const connection = await createTestDatabase();
    await withClient(connection, (client) =>
      client.query(`INSERT INTO schema_migration (name, checksum) VALUES ('9999-later.sql', 'x')`),
    );
    const env = { DATABASE_URL: databaseUrl(connection) };
    for (const words of [['tenant', 'list'], ['migrate'], ['serve']]) {
      assertRefused(await runStamm(words, env), /migrated by a newer Stamm \(9999-later\.sql\)/);
    }
  });

  test('a database from before the baseline is refused with what to do, and stays as it is', async () => {
    const connection = await createTestDatabase();
    const readHistory = () =>
      withClient(connection, (client) => client.query('SELECT * FROM schema_migration ORDER BY name'));
    await renameMigration(connection, '0001-baseline.sql', '0020-kept-references.sql');
    const { rows: before } = await readHistory();
    const env = { DATABASE_URL: databaseUrl(connection) };
    for (const words of [['tenant', 'list'], ['migrate'], ['serve'], ['demo']]) {
      assertRefused(await runStamm(words, env), whatToDoBeforeBaseline);
    }
    const { stdout } = await runStamm(['doctor'], env);
    assert.match(stdout, whatToDoBeforeBaseline);
    assert.deepEqual((await readHistory()).rows, before);
  });

  test('a data folder from before the baseline is refused with what to do, and keeps its data', async () => {
    const { dataDir, tenantId } = await makePreparedDataDir();
    const rename = async (from: string, to: string) => {
      const postgres = await openEmbeddedPostgres({ dataDir, purpose: 'command' });
      await renameMigration(postgres.connection, from, to);
      await postgres.close();
    };
    await rename('0001-baseline.sql', '0001-tenants-and-keys.sql');
    for (const words of [['serve'], ['migrate']]) {
      assertRefused(await runStamm(words, { DATA_DIR: dataDir }), whatToDoBeforeBaseline);
    }
    assert.deepEqual(findServers(dataDir), []);
    await rename('0001-tenants-and-keys.sql', '0001-baseline.sql');
    const { tenants } = await runJson(['tenant', 'list'], { DATA_DIR: dataDir });
    assert.deepEqual(
      tenants.map((tenant: { tenantId: string }) => tenant.tenantId),
      [tenantId],
    );
  });

  test('a login without the rights that are needed is refused in a sentence', async () => {
    const connection = await createEmptyDatabase();
    const role = `guest_of_${connection.database}`;
    await withClient(connection, (client) => client.query(`CREATE ROLE ${role} LOGIN PASSWORD 'secret'`));
    try {
      const env = { DATABASE_URL: databaseUrl({ ...connection, user: role, password: 'secret' }) };
      assertRefused(await runStamm(['migrate'], env), /permission denied/);
    } finally {
      await withClient(connection, (client) => client.query(`DROP ROLE ${role}`));
    }
  });
});

describe('wrong arguments are answered with a sentence and harm nothing', {
  concurrency: 3,
}, () => {
  for (const [words, sentence] of [
    [['tenant', 'create'], /^Missing: --name\.\n\nUsage: /],
    [['key', 'create'], /^Missing: --tenant\.\n\nUsage: /],
    [['key', 'create', '--tenant'], /--tenant.*argument missing[\s\S]*Usage: /],
    [['tenant', 'create', '--nmae', 'Grün'], /--nmae[\s\S]*Usage: /],
    [['tenant', 'list', 'all'], /'all'[\s\S]*Usage: /],
    [['tenant', 'destroy'], /^There is no command "tenant destroy"\.\n\nUsage: [\s\S]*tenant create/],
    [['frobnicate', '--json'], /^There is no command "frobnicate/],
  ] as const) {
    test(words.join(' '), async () => {
      const dataDir = path.join(await makeDataDir(), 'never-made');
      assertRefused(await runStamm(words, { DATA_DIR: dataDir }), sentence);
      assert.ok(!existsSync(dataDir));
    });
  }

  const wrongSettings = {
    PORT: '70000',
    DATABASE_URL: 'mysql://localhost/stamm',
    RATE_LIMIT_PER_MINUTE: '-1',
    BODY_LIMIT_BYTES: '100k',
    LOG_LEVEL: 'loud',
    REDIS_URL: 'localhost',
    TRUST_PROXY: 'foo',
  };
  for (const words of [['tenant', 'list'], ['doctor'], ['serve']]) {
    test(`${words.join(' ')} names all wrong settings`, async () => {
      const ended = await runStamm(words, wrongSettings);
      assertRefused(ended, /^These settings are wrong:\n/);
      const named = ended.stderr.match(/^ {2}\w+(?= must be )/gm)?.map((name) => name.trim());
      assert.deepEqual(named?.sort(), Object.keys(wrongSettings).sort());
    });
  }
});

describe('a database that cannot be used', { concurrency: 3 }, () => {
  let refusing: string;
  let silent: string;
  before(async () => {
    const addressOf = (port: number) => `postgres://stamm:secret@127.0.0.1:${port}/stamm`;
    refusing = addressOf(await findFreePort());
    const server = createServer((socket) => cleanUpLater(async () => socket.destroy()));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    cleanUpLater(async () => server.close());
    silent = addressOf((server.address() as AddressInfo).port);
  });

  const words = ['tenant', 'create', '--name', 'Grün', '--json'];
  const sentence = /^The database at 127\.0\.0\.1:\d+\/stamm cannot be used: .+\. Check DATABASE_URL/;

  test('is named without its password where nothing listens', async () => {
    const ended = await runStamm(words, { DATABASE_URL: refusing });
    assertRefused(ended, sentence);
    assert.match(ended.stderr, /ECONNREFUSED/);
    assert.ok(!ended.stderr.includes('secret'));
  });

  test('is named where something listens and never answers', async () => {
    assertRefused(await runStamm(words, { DATABASE_URL: silent }), sentence);
  });

  test('is named where it refuses the login', async () => {
    const connection = { ...(await createTestDatabase()), password: 'wrong' };
    const ended = await runStamm(words, { DATABASE_URL: databaseUrl(connection) });
    assertRefused(ended, /^The database at .* cannot be used: password authentication failed/);
  });

  test('is named where it cannot keep every letter', async () => {
    const connection = await createTestDatabase();
    const database = `${connection.database}_ascii`;
    await withClient(connection, async (client) => {
      await client.query(`CREATE DATABASE ${database} ENCODING 'SQL_ASCII' LOCALE 'C' TEMPLATE template0`);
    });
    try {
      const ended = await runStamm(words, { DATABASE_URL: databaseUrl({ ...connection, database }) });
      assertRefused(ended, /cannot be used: its encoding is SQL_ASCII, and Stamm needs .* ENCODING 'UTF8'/);
    } finally {
      await withClient(connection, (client) => client.query(`DROP DATABASE ${database} WITH (FORCE)`));
    }
  });

  test('makes the doctor fail, who still says all the rest', async () => {
    const { code, stdout, stderr } = await runStamm(['doctor', '--json'], { DATABASE_URL: refusing });
    assert.equal(stderr, '');
    assert.equal(code, 1);
    const { ok, findings } = JSON.parse(stdout);
    assert.equal(ok, false);
    const statuses = findings.map(({ check, status }: Record<string, string>) => `${check} ${status}`);
    assert.deepEqual(statuses, [
      'runtime ok',
      'settings ok',
      'proxy ok',
      'database failed',
      'backup warning',
    ]);
  });
});

describe('--help', { concurrency: 3 }, () => {
  const allCommands = [
    'serve',
    'tenant create',
    'tenant list',
    'key create',
    'key delete',
    'migrate',
    'doctor',
    'demo',
  ];
  const expected: Record<string, string[]> = {
    '': allCommands,
    tenant: ['tenant create', 'tenant list'],
    key: ['key create', 'key delete'],
    'tenant create': ['--name', '--json'],
    'key create': ['--tenant', '--json'],
    'key delete': ['--tenant', '--json'],
    ...Object.fromEntries(
      ['serve', 'tenant list', 'migrate', 'doctor', 'demo'].map((name) => [name, ['--json']]),
    ),
  };
  for (const [command, mentions] of Object.entries(expected)) {
    test(`stamm ${command} --help`, async () => {
      // Help needs no settings and no database, and so cannot fail where these are wrong.
      const { code, stdout, stderr } = await runStamm([...command.split(' ').filter(Boolean), '--help'], {
        PORT: 'x',
      });
      assert.equal(stderr, '');
      assert.equal(code, 0);
      assert.match(stdout, /^Usage: npm run --silent stamm -- /);
      for (const mention of mentions) assert.match(stdout, new RegExp(`^  ${mention} +\\S`, 'm'));
    });
  }

  test('is also what no command at all, help or -h asks for', async () => {
    const texts = await Promise.all([[], ['-h'], ['help']].map((words) => runText(words, {})));
    assert.match(await runText(['help', 'tenant', 'create'], {}), / tenant create --name …/);
    for (const text of texts) for (const command of allCommands) assert.ok(text.includes(command));
  });

  test('--version prints the version of the package', async () => {
    assert.equal(await runText(['--version'], {}), `Stamm ${version}\n`);
  });
});
