// One test for each trouble: the doctor names its cause and the next step.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, describe, test } from 'node:test';
import { TLSSocket } from 'node:tls';
import pg from 'pg';
import { createTenant } from '../../server/access/tenants.ts';
import { checkRuntime, commands } from '../../server/commands/doctor.ts';
import { checkClock } from '../../server/commands/doctor-database.ts';
import type { Finding } from '../../server/commands/doctor-trouble.ts';
import { readConfig } from '../../server/config.ts';
import { openEmbeddedPostgres } from '../../server/database/embedded/postgres.ts';
import { findClosedFolder } from '../../server/database/embedded/programs.ts';
import { createEndpoint } from '../../server/features/webhooks/endpoints.ts';
import {
  checkout,
  databaseUrl,
  type Environment,
  makePreparedDataDir,
  runStamm,
  withClient,
} from '../faults/helpers/process.ts';
import { unprivileged } from '../faults/helpers/programs.ts';
import { mountDisk, withoutMounts } from '../faults/helpers/small-disk.ts';
import { findFreePort } from '../helpers/free-port.ts';
import { withoutCurl } from '../helpers/programs.ts';
import { listen as listenOn } from '../helpers/raw-client.ts';
import { createTestDatabase, startService } from '../helpers/service.ts';

const folder = await mkdtemp(path.join(tmpdir(), 'stamm-test-'));
// Started as root, the service would run as another account.
await chmod(folder, 0o777);
after(() => rm(folder, { recursive: true }));
const connection = await createTestDatabase();

const unprivilegedPorts = '/proc/sys/net/ipv4/ip_unprivileged_port_start';
const withoutForbiddenPorts =
  process.platform !== 'linux' || Number(await readFile(unprivilegedPorts, 'utf8')) < 2
    ? 'every account may open every port here'
    : findClosedFolder(checkout, unprivileged) && 'only root may enter this checkout';

const withoutOtherAccount =
  unprivileged === undefined
    ? 'only root can ask for another account'
    : findClosedFolder(checkout, unprivileged) && 'only root may enter this checkout';

interface Report {
  findings: Finding[];
  exitCode: number;
  text: string;
}

async function examine(settings: Environment): Promise<Report> {
  const env = { DATABASE_URL: databaseUrl(connection), BACKUP_DIR: folder, PORT: '0', ...settings };
  const context = { options: {}, flags: new Set<string>(), isJson: true, config: readConfig(env) };
  const { json, exitCode = 0, text } = (await commands[0]!.run(context))!;
  return { ...(json as { findings: Finding[] }), exitCode, text };
}

/** Only a failure makes the command fail. Text and JSON name the same cause and step. */
function assertFound({ findings, exitCode, text }: Report, code: string, step: RegExp): Finding {
  const found = findings.find((finding) => finding.code === code);
  assert.ok(found, `${code} in ${text}`);
  assert.match(found.message, step);
  assert.ok(text.includes(found.message));
  if (found.status === 'failed') assert.equal(exitCode, 1);
  return found;
}

function change(statement: string) {
  return withClient(connection, (client) => client.query(statement));
}

async function listen(use: (socket: Socket) => void): Promise<{ server: Server; port: number }> {
  const server = createServer(use).listen(0, '127.0.0.1');
  await once(server, 'listening');
  after(() => server.close());
  return { server, port: (server.address() as AddressInfo).port };
}

describe('a database that cannot be opened', () => {
  const at = (change: pg.ClientConfig) => ({ DATABASE_URL: databaseUrl({ ...connection, ...change }) });

  test('database_unreachable', async () => {
    const port = await findFreePort();
    const report = await examine({ DATABASE_URL: `postgres://stamm@127.0.0.1:${port}/stamm` });
    assertFound(report, 'database_unreachable', /ECONNREFUSED.*Start PostgreSQL/);
  });

  test('host_unknown', async () => {
    const report = await examine({ DATABASE_URL: 'postgres://stamm@nowhere.invalid/stamm' });
    assertFound(report, 'host_unknown', /Correct the host in DATABASE_URL/);
  });

  test('password_wrong, without the password', async () => {
    const report = await examine(at({ user: `nobody_${randomUUID()}`, password: 'Geheim-QXZJ' }));
    assertFound(report, 'password_wrong', /Correct user and password/);
    assert.ok(!report.text.includes('QXZJ'));
  });

  test('database_unknown', async () => {
    assertFound(await examine(at({ database: 'never_made' })), 'database_unknown', /CREATE DATABASE/);
  });

  test('tls_missing', async () => {
    // What a server without TLS answers to the question for it.
    const { port } = await listen((socket) =>
      socket.on('error', () => {}).once('data', () => socket.end('N')),
    );
    const report = await examine({
      DATABASE_URL: `postgres://stamm@127.0.0.1:${port}/stamm?sslmode=require`,
    });
    assertFound(report, 'tls_missing', /ssl = on.*remove sslmode/);
  });

  test('certificate_refused', { skip: withoutCurl }, async () => {
    const secrets = await makeCertificate();
    const { port } = await listen((socket) => {
      socket.on('error', () => {});
      // A server that speaks TLS says so, and then does.
      socket.once('data', () => {
        socket.write('S');
        new TLSSocket(socket, { isServer: true, ...secrets }).on('error', () => {});
      });
    });
    const report = await examine({
      DATABASE_URL: `postgres://stamm@127.0.0.1:${port}/stamm?sslmode=verify-full`,
    });
    assertFound(report, 'certificate_refused', /self-signed certificate.*sslrootcert/);
  });

  test('database_starting', async () => {
    const fields = ['SFATAL', 'C57P03', 'Mthe database system is starting up', ''].join('\0');
    const { port } = await listen((socket) =>
      socket.on('error', () => {}).once('data', () => socket.end(message('E', Buffer.from(`${fields}\0`)))),
    );
    const report = await examine({ DATABASE_URL: `postgres://stamm@127.0.0.1:${port}/stamm` });
    assertFound(report, 'database_starting', /is starting up.*try again in a minute/);
  });

  test('postgres_too_old', async () => {
    const { port } = await listen(answerAsVersion('14.9'));
    const report = await examine({ DATABASE_URL: `postgres://stamm@127.0.0.1:${port}/stamm` });
    assertFound(report, 'postgres_too_old', /PostgreSQL 14\.9.*Upgrade PostgreSQL/);
  });

  test('encoding_wrong', async () => {
    const database = `${connection.database}_ascii`;
    await change(`CREATE DATABASE ${database} ENCODING 'SQL_ASCII' LOCALE 'C' TEMPLATE template0`);
    try {
      assertFound(await examine(at({ database })), 'encoding_wrong', /Create a new database/);
    } finally {
      await change(`DROP DATABASE ${database} WITH (FORCE)`);
    }
  });

  test('connections_exhausted', async () => {
    await change(`ALTER DATABASE ${connection.database} CONNECTION LIMIT 0`);
    await change(`CREATE ROLE ${connection.database}_plain LOGIN PASSWORD 'plain'`);
    try {
      const report = await examine(at({ user: `${connection.database}_plain`, password: 'plain' }));
      assertFound(report, 'connections_exhausted', /Raise max_connections/);
    } finally {
      await change(`DROP ROLE ${connection.database}_plain`);
      await change(`ALTER DATABASE ${connection.database} CONNECTION LIMIT -1`);
    }
  });
});

/** Nobody has signed it but itself. */
async function makeCertificate(): Promise<{ key: Buffer; cert: Buffer }> {
  const [key, cert] = [path.join(folder, 'key.pem'), path.join(folder, 'cert.pem')];
  const words = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-subj', '/CN=127.0.0.1'];
  execFileSync('openssl', [...words, '-keyout', key, '-out', cert], { stdio: 'ignore' });
  return { key: await readFile(key), cert: await readFile(cert) };
}

/** A message of PostgreSQL's protocol. */
function message(type: string, body: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeInt32BE(body.length + 4);
  return Buffer.concat([Buffer.from(type), length, body]);
}

/** A server of that age, as far as the doctor gets: its first question is for the version. */
function answerAsVersion(version: string): (socket: Socket) => void {
  const int16 = (value: number) => Buffer.from([value >> 8, value & 255]);
  const int32 = (value: number) => Buffer.concat([int16(value >> 16), int16(value & 65_535)]);
  const values = [version, 'UTF8', 'f', 'f'];
  const names = ['version', 'encoding', 'is_standby', 'is_read_only'];
  const types = [25, 25, 16, 16];
  const columns = names.map((name, index) =>
    Buffer.concat([
      Buffer.from(`${name}\0`),
      int32(0),
      int16(0),
      int32(types[index]!),
      int16(1),
      int32(-1),
      int16(0),
    ]),
  );
  const fields = values.map((value) => Buffer.concat([int32(value.length), Buffer.from(value)]));
  const ready = message('Z', Buffer.from('I'));
  const rows = [
    message('T', Buffer.concat([int16(columns.length), ...columns])),
    message('D', Buffer.concat([int16(fields.length), ...fields])),
    message('C', Buffer.from('SELECT 1\0')),
    ready,
  ];
  return (socket) => {
    socket.on('error', () => {});
    socket.once('data', () => {
      socket.write(Buffer.concat([message('R', int32(0)), ready]));
      socket.once('data', () => socket.write(Buffer.concat(rows)));
    });
  };
}

describe('a data folder', () => {
  test('database_missing: there is none', async () => {
    const report = await examine({ DATABASE_URL: '', DATA_DIR: path.join(folder, 'empty') });
    assertFound(report, 'database_missing', /npm start$/);
  });

  test('data_folder_unusable: made by another PostgreSQL', async () => {
    const dataDir = path.join(folder, 'other');
    await mkdir(path.join(dataDir, 'postgres-12'), { recursive: true });
    const report = await examine({ DATABASE_URL: '', DATA_DIR: dataDir });
    assertFound(report, 'data_folder_unusable', /this Stamm brings another version/);
  });
});

describe('a data folder of its own', () => {
  test('role_unsafe', async () => {
    const { dataDir } = await makePreparedDataDir();
    const postgres = await openEmbeddedPostgres({ dataDir, purpose: 'command' });
    try {
      await withClient(postgres.connection, (client) => client.query('ALTER ROLE stamm_service BYPASSRLS'));
      const report = await examine({ DATABASE_URL: '', DATA_DIR: dataDir });
      assertFound(report, 'role_unsafe', /ALTER ROLE stamm_service NOSUPERUSER NOBYPASSRLS/);
    } finally {
      await postgres.close();
    }
  });

  test('disk_low', { skip: withoutMounts }, async () => {
    const report = await examine({ DATABASE_URL: '', DATA_DIR: path.join(await mountDisk(8), 'data') });
    assertFound(report, 'disk_low', /0\.0 GiB free for .*: make room, or move DATA_DIR/);
  });
});

describe('a database that answers', () => {
  test('schema_foreign', async () => {
    const first = `(SELECT min(name) FROM schema_migration)`;
    await change(`UPDATE schema_migration SET checksum = 'x' || checksum WHERE name = ${first}`);
    try {
      assertFound(
        await examine({}),
        'schema_foreign',
        /0001\S+ was changed after it had been applied\. Restore/,
      );
    } finally {
      await change(`UPDATE schema_migration SET checksum = substr(checksum, 2) WHERE name = ${first}`);
    }
  });

  test('schema_old', async () => {
    const empty = await createTestDatabase('template0');
    assertFound(await examine({ DATABASE_URL: databaseUrl(empty) }), 'schema_old', /run ".*migrate"/);
  });

  test('schema_newer', async () => {
    await change(`INSERT INTO schema_migration (name, checksum) VALUES ('9999-later.sql', 'x')`);
    try {
      assertFound(await examine({}), 'schema_newer', /9999-later.*Start that version or a newer one/);
    } finally {
      await change(`DELETE FROM schema_migration WHERE name = '9999-later.sql'`);
    }
  });

  test('read_only', async () => {
    await change(`ALTER DATABASE ${connection.database} SET default_transaction_read_only = on`);
    try {
      assertFound(await examine({}), 'read_only', /reset default_transaction_read_only/);
    } finally {
      await withClient({ ...connection, options: '-c default_transaction_read_only=off' }, (client) =>
        client.query(`ALTER DATABASE ${connection.database} RESET default_transaction_read_only`),
      );
    }
  });

  test('connections_few', async () => {
    const report = await examine({ DATABASE_CONNECTIONS: '1000' });
    assertFound(report, 'connections_few', /raise max_connections/);
  });

  test('temporary_tables_refused', async () => {
    await change(`REVOKE TEMPORARY ON DATABASE ${connection.database} FROM PUBLIC, stamm_service`);
    assertFound(await examine({}), 'temporary_tables_refused', /GRANT TEMPORARY/);
    await change(`GRANT TEMPORARY ON DATABASE ${connection.database} TO PUBLIC`);
  });

  test('clocks_differ', async () => {
    const hour = 3_600_000;
    const client = new pg.Client(connection);
    await client.connect();
    try {
      for (const skew of [-hour, hour]) {
        const [found] = await checkClock(client, () => Date.now() + skew);
        assert.equal(found?.code, 'clocks_differ');
        assert.match(found.message, /differ by 3(5\d\d|600) s: set both by NTP/);
      }
      assert.deepEqual(await checkClock(client), []);
    } finally {
      await client.end();
    }
  });

  test('webhooks_failing', async () => {
    await withClient(connection, async (client) => {
      const tenantId = await createTenant(client, 'Grün & Gut GmbH');
      const wanted = { url: 'https://stamm.example/hook', resources: null };
      await createEndpoint(client, tenantId, wanted);
      assert.ok(!(await examine({})).text.includes('webhooks'));
      await client.query('UPDATE webhook SET failing_since = now()');
      assertFound(await examine({}), 'webhooks_failing', /1 endpoints fail.*webhook test/);
      await client.query('DELETE FROM webhook');
    });
  });
});

describe('the surroundings of the service', () => {
  test('port_taken, by a program that is not Stamm', async () => {
    const { port } = await listen((socket) => socket.destroy());
    const report = await examine({ PORT: String(port) });
    assertFound(report, 'port_taken', /PORT=\d+ on 127\.0\.0\.1.*choose another port/);
    assertFound(await examine({ METRICS_PORT: String(port) }), 'port_taken', /METRICS_PORT=/);
  });

  test('a port that Stamm itself has is no trouble', async () => {
    const { app } = await startService();
    const PORT = String(await listenOn(app));
    for (const HOST of ['127.0.0.1', '0.0.0.0', 'localhost']) {
      const { findings } = await examine({ HOST, PORT });
      assert.deepEqual(
        findings.filter(({ check }) => check === 'port'),
        [],
        HOST,
      );
    }
  });

  test('port_silent: a service that stands still is not called another program', async () => {
    // The kernel accepts the connection, and nobody answers.
    const { port } = await listen(() => {});
    const report = await examine({ PORT: String(port) });
    assertFound(report, 'port_silent', /Stamm is busy or stopped, or another program/);
    assert.ok(!report.findings.some(({ code }) => code === 'port_taken'));
    assert.equal(report.exitCode, 0);
  });

  test('port_forbidden', { skip: withoutForbiddenPorts }, async () => {
    const { stdout, status } = spawnSync(process.execPath, ['server/main.ts', 'doctor', '--json'], {
      ...unprivileged,
      cwd: checkout,
      env: { DATABASE_URL: databaseUrl(connection), PORT: '1', PATH: process.env.PATH },
      encoding: 'utf8',
    });
    const { findings } = JSON.parse(stdout) as { findings: Finding[] };
    const found = findings.find(({ code }) => code === 'port_forbidden');
    assert.match(found!.message, /^PORT=1 on 127\.0\.0\.1 needs root: choose a port above 1023/);
    assert.equal(status, 1);
  });

  test('address_unknown', async () => {
    const report = await examine({ HOST: '192.0.2.1', PORT: String(await findFreePort()) });
    assertFound(report, 'address_unknown', /EADDRNOTAVAIL.*0\.0\.0\.0/);
  });

  test('redis_unreachable', async () => {
    const report = await examine({ REDIS_URL: `redis://127.0.0.1:${await findFreePort()}` });
    assertFound(report, 'redis_unreachable', /check REDIS_URL/);
    assert.equal(report.exitCode, 0, 'PostgreSQL counts instead');
  });

  test('mail_unreachable', async () => {
    const settings = {
      SMTP_URL: `smtp://127.0.0.1:${await findFreePort()}`,
      PUBLIC_URL: 'https://stamm.example',
    };
    assertFound(await examine(settings), 'mail_unreachable', /check host, port/);
  });

  test('mail_login_refused', async () => {
    const answers: Record<string, string> = { EHLO: '250-here\r\n250 AUTH PLAIN\r\n', AUTH: '535 no\r\n' };
    const { port } = await listen((socket) => {
      socket.on('error', () => {}).write('220 here\r\n');
      socket.on('data', (data) => socket.write(answers[String(data).slice(0, 4)] ?? '221 bye\r\n'));
    });
    const settings = {
      SMTP_URL: `smtp://a:b@127.0.0.1:${port}?ignoreTLS=true`,
      PUBLIC_URL: 'https://stamm.example',
    };
    assertFound(await examine(settings), 'mail_login_refused', /correct user and password in SMTP_URL/);
  });

  test('traces_unreachable', async () => {
    const settings = { OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${await findFreePort()}` };
    assertFound(await examine(settings), 'traces_unreachable', /correct OTEL_EXPORTER_OTLP_ENDPOINT/);
  });

  test('backup_off, backup_missing, backup_old and backup_folder_closed', async () => {
    assertFound(await examine({ BACKUP_DIR: '' }), 'backup_off', /set BACKUP_DIR/);
    assertFound(await examine({}), 'backup_missing', /running service makes the first/);
    const file = path.join(folder, 'stamm-20200101T000000Z.backup');
    await writeFile(file, '');
    assertFound(await examine({}), 'backup_old', /see the log/);
    assertFound(await examine({ BACKUP_DIR: file }), 'backup_folder_closed', /is no folder.*another folder/);
  });

  test('backup_folder_closed: as the account that serves, also if root asks', {
    skip: withoutOtherAccount,
  }, async () => {
    const { dataDir } = await makePreparedDataDir();
    const closed = await mkdtemp(path.join(tmpdir(), 'stamm-test-'));
    after(() => rm(closed, { recursive: true }));
    const settings = { DATABASE_URL: '', DATA_DIR: dataDir };
    const report = await examine({ ...settings, BACKUP_DIR: closed });
    const found = assertFound(report, 'backup_folder_closed', /cannot be written to \(EACCES/);
    assert.equal(found.status, 'failed');
    const inside = await examine({ ...settings, BACKUP_DIR: path.join(closed, 'backups') });
    assertFound(inside, 'backup_folder_closed', /cannot be made \(EACCES/);
  });

  test('backup_folder_vanished and backup_failing', async () => {
    const held = path.join(folder, 'held');
    const note = `INSERT INTO backup_folder VALUES ('${held}', now() - interval '3 days', 5000000)`;
    await change(note);
    const report = await examine({ BACKUP_DIR: held });
    const found = assertFound(
      report,
      'backup_folder_vanished',
      /mount its disk.*begin again, run: .* backup$/,
    );
    assert.equal(found.status, 'failed');
    const byOthers = await examine({ BACKUP_DIR: 'off' });
    assertFound(byOthers, 'backup_old', /"backup" wrote 5\.0 MB to \S+held 72 hours ago.*set BACKUP_DIR/);
    await change(`UPDATE backup_folder SET made_at = now()`);
    assert.match((await examine({ BACKUP_DIR: 'off' })).text, /^✓ backup +"backup" wrote 5\.0 MB/m);
    await change(`UPDATE backup_folder SET made_at = now() - interval '1 hour'`);
    await change(`SELECT note_background_work('backup', 'the disk is full')`);
    assertFound(await examine({}), 'backup_failing', /the last try failed: the disk is full/);
    await change(`DELETE FROM backup_folder; DELETE FROM background_work`);
  });

  test('backup_beside_data and backup_room', { skip: withoutMounts }, async () => {
    const dataDir = await mountDisk(8);
    const backups = path.join(dataDir, 'backups');
    await mkdir(backups);
    const name = `stamm-${new Date().toISOString().replace(/[-:]|\.\d+/g, '')}.backup`;
    await writeFile(path.join(backups, name), Buffer.alloc(1024 * 1024));
    const settings = { DATA_DIR: dataDir, DATABASE_URL: '', BACKUP_DIR: '' };
    const advice = /the newest of 1 is .*, 1\.0 MB, 0 hours old, on the disk of the data: set BACKUP_DIR/;
    assertFound(await examine(settings), 'backup_beside_data', advice);
    await writeFile(path.join(dataDir, 'filler'), Buffer.alloc(6 * 1024 * 1024));
    assertFound(await examine(settings), 'backup_room', /needs the room of older ones/);
  });

  test('proxy_untrusted and public_url_missing', async () => {
    assertFound(await examine({ HOST: '0.0.0.0' }), 'proxy_untrusted', /TRUST_PROXY/);
    assertFound(await examine({ TRUST_PROXY: 'loopback' }), 'public_url_missing', /Set it to the address/);
  });

  test('node_too_old', () => {
    assert.equal(checkRuntime('24.1.0').code, 'node_too_old');
    assert.equal(checkRuntime('26.0.0').code, undefined);
  });

  test('settings_wrong, as JSON from the command line', async () => {
    const { code, stdout } = await runStamm(['doctor', '--json'], { METRICS_PORT: 'many' });
    const { ok, findings } = JSON.parse(stdout);
    assert.deepEqual([code, ok, findings[0].code], [1, false, 'settings_wrong']);
    assert.match(findings[0].message, /METRICS_PORT must be a whole number/);
  });
});

test('the page about the doctor lists each trouble', async () => {
  const files = [
    'doctor.ts',
    'doctor-backups.ts',
    'doctor-database.ts',
    'doctor-surroundings.ts',
    'doctor-trouble.ts',
  ];
  const sources = await Promise.all(
    files.map((file) => readFile(path.join(checkout, 'server/commands', file), 'utf8')),
  );
  const page = await readFile(path.join(checkout, 'docs/doctor.md'), 'utf8');
  const listed = [...page.matchAll(/^\| `(\w+)` \|/gm)].map(([, code]) => code!);
  assert.ok(listed.length > 30);
  for (const code of listed)
    assert.ok(
      sources.some((source) => source.includes(`'${code}'`)),
      code,
    );
  const coded = sources.flatMap((source) =>
    [...source.matchAll(/(?:code: |warn\(|fail\(\s*)'(\w+)'/g)].map(([, code]) => code!),
  );
  assert.deepEqual(
    coded.filter((code) => !listed.includes(code)),
    [],
  );
});
