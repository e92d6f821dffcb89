// Backups: everything comes back as it was, damaged files change nothing, and a check says whether data agrees with itself.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, beforeEach, describe, test } from 'node:test';
import pg from 'pg';
import { addPerson } from '../../../server/access/people.ts';
import { asDatabaseOwner } from '../../../server/database/connection.ts';
import { migrate } from '../../../server/database/migrations/migrations.ts';
import { UsageError } from '../../../server/errors.ts';
import { makeBackup } from '../../../server/features/backup/backup.ts';
import { NoRoomError } from '../../../server/features/backup/file.ts';
import { addBackup, listBackups } from '../../../server/features/backup/folder.ts';
import { restoreBackup, verifyBackup } from '../../../server/features/backup/restore.ts';
import { backUpIfDue, startBackups } from '../../../server/features/backup/schedule.ts';
import { leftOut, readTables } from '../../../server/features/backup/tables.ts';
import { checkConsistency } from '../../../server/features/consistency/consistency.ts';
import { resources } from '../../../server/resources/index.ts';
import { mountDisk, withoutMounts } from '../../faults/helpers/small-disk.ts';
import { runOn } from '../../helpers/cluster.ts';
import { untilLocked } from '../../helpers/locks.ts';
import type { TestServer } from '../../helpers/postgres.ts';
import {
  createTestDatabase,
  startService,
  type TestService,
  validCustomer,
  validSite,
} from '../../helpers/service.ts';
import { until, within } from '../../helpers/waiting.ts';

const none = { passphrase: undefined };
let folder: string;
let service: TestService;
let whole: string;

before(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'stamm-test-'));
  service = await startService();
  await fill(service);
  await fill(service, await service.createTenant('Blatt & Blüte'));
  whole = await backUp(service.owner);
});
after(() => rm(folder, { recursive: true }));

/** Values that a format of its own could stumble over, changes, and a deletion. */
async function fill({ post, patch, delete: remove }: TestService, tenant = service.tenant): Promise<void> {
  const headers = { apikey: tenant.key };
  const names = ['Grün\\.', '\\.', 'a\tb', 'Zeile\nZwei', 'NULL', '\\N', '{"table":"x"}', 'Ä'.repeat(100)];
  for (const companyName of names) {
    const body = { ...validCustomer, companyName, externalId: `E-${companyName}`.slice(0, 100) };
    const { id } = (await post('/customer', body, { headers })).json();
    const site = (
      await post('/customer/site', { ...validSite(id), openingHours: [{ x: companyName }] }, { headers })
    ).json();
    await patch(`/sites/${site.id}`, { comment: `zu ${companyName}`.slice(0, 150) }, { headers });
  }
  const { id } = (await post('/customer', validCustomer, { headers })).json();
  assert.equal((await remove(`/customers/${id}`, { headers })).statusCode, 204);
  const headersWithKey = { ...headers, 'idempotency-key': 'once' };
  assert.equal((await post('/customer', validCustomer, { headers: headersWithKey })).statusCode, 201);
}

function newPath(): string {
  return path.join(folder, `${randomBytes(8).toString('hex')}.backup`);
}

async function backUp(client: pg.ClientBase, options: { tenantId?: string; passphrase?: string } = {}) {
  const target = newPath();
  await makeBackup(client, { ...none, path: target, ...options });
  return target;
}

const readPaths = [
  ...['customers', 'sites', 'contact-persons', 'plants'].map((name) => `/${name}?limit=500&count=true`),
  '/customers.csv',
  '/sites?q=grun',
  '/changes?limit=500',
];

async function readAll({ app }: Pick<TestService, 'app'>, key: string): Promise<string[]> {
  const answers = readPaths.map((url) => app.inject({ url: `/api/v1${url}`, headers: { apikey: key } }));
  return (await Promise.all(answers)).map(({ statusCode, body }) => `${statusCode} ${body}`);
}

async function assertConsistent(connection: pg.ClientConfig): Promise<void> {
  const findings = await asDatabaseOwner(connection, (client) => checkConsistency(client, resources));
  assert.deepEqual(
    findings.filter(({ count }) => count > 0),
    [],
  );
  assert.deepEqual(
    findings.map(({ check }) => check),
    ['journal', 'versions', 'deletions', 'bin', 'references', 'words'],
  );
}

test('a restored database answers the same reads byte for byte and is consistent', async () => {
  const before = await readAll(service, service.tenant.key);
  const { rows, header } = await verifyBackup(whole, undefined);
  assert.equal(header.tenantId, null);
  const connection = await createTestDatabase('template0');
  assert.equal((await restoreBackup(connection, { ...none, path: whole })).rows, rows);
  const restored = await startService({ connection });
  assert.deepEqual(await readAll(restored, service.tenant.key), before);
  await assertConsistent(connection);
  const again = await restored.post('/customer', validCustomer, {
    headers: { apikey: service.tenant.key, 'idempotency-key': 'once' },
  });
  assert.equal(again.headers['idempotency-replayed'], 'true', 'a retry is still a retry');
  const isForced = await restored.owner.query(
    `SELECT count(*)::integer AS count FROM pg_class WHERE relname = 'customer' AND relforcerowsecurity`,
  );
  assert.equal(isForced.rows[0].count, 1);
});

test('an owner without the right to bypass row-level security backs up and restores too', async () => {
  const role = `owner_${randomBytes(8).toString('hex')}`;
  await service.owner.query(`CREATE ROLE ${role} LOGIN CREATEROLE PASSWORD 'secret'`);
  await service.owner.query(`GRANT stamm_service TO ${role} WITH ADMIN OPTION`);
  const connection = await createTestDatabase('template0');
  await asDatabaseOwner(connection, async (client) => {
    await client.query(`ALTER DATABASE ${connection.database} OWNER TO ${role}`);
    await client.query(`ALTER SCHEMA public OWNER TO ${role}`);
  });
  const asRole = { ...connection, user: role, password: 'secret' };
  await restoreBackup(asRole, { ...none, path: whole });
  const second = await asDatabaseOwner(asRole, (client) => backUp(client));
  const [one, other] = [await verifyBackup(whole, undefined), await verifyBackup(second, undefined)];
  assert.equal(other.rows, one.rows);
  await assertConsistent(asRole);
  // Roles belong to the server and would outlive the test.
  const { workers }: TestServer = JSON.parse(process.env.STAMM_TEST_POSTGRES!);
  for (const { host, port } of [connection, ...workers])
    await runOn(
      { ...connection, host, port },
      `SET citus.enable_ddl_propagation = off; REASSIGN OWNED BY ${role} TO CURRENT_USER; DROP OWNED BY ${role}`,
    );
  await service.owner.query(`DROP ROLE ${role}`);
});

test('a backup beside writes is one moment: nothing in it disagrees', async () => {
  const busy = await startService();
  let isOver = false;
  const writing = [1, 2, 3].map(async () => {
    while (!isOver) {
      const id = await busy.createCustomer();
      await busy.post('/customer/site', validSite(id));
    }
  });
  const paths: string[] = [];
  for (let round = 0; round < 3; round++) {
    const client = new pg.Client(busy.connection);
    await client.connect();
    paths.push(await backUp(client));
    await client.end();
  }
  isOver = true;
  await Promise.all(writing);
  const connection = await createTestDatabase('template0');
  await restoreBackup(connection, { ...none, path: paths[1]! });
  await assertConsistent(connection);
});

describe('one business', () => {
  test('moves to another installation with its key and people, and leaves others alone', async () => {
    const other = await startService();
    const before = await readAll(other, other.tenant.key);
    const file = await backUp(service.owner, { tenantId: service.tenant.tenantId });
    await restoreBackup(other.connection, { ...none, path: file });
    assert.deepEqual(await readAll(other, service.tenant.key), await readAll(service, service.tenant.key));
    assert.deepEqual(await readAll(other, other.tenant.key), before);
    await assertConsistent(other.connection);
    await assert.rejects(restoreBackup(other.connection, { ...none, path: file }), /exists already/);
  });

  test('is restored from a backup of all, without its key where that is asked for', async () => {
    const other = await startService();
    const { tenantId, key } = service.tenant;
    const anke = {
      name: 'Anke',
      email: 'anke@stamm.example',
      role: 'VERWALTUNG',
      passwordHash: 'none',
    } as const;
    const person = await service.database.inTenants([tenantId], (client) =>
      addPerson(client, tenantId, anke),
    );
    await service.owner.query(
      `INSERT INTO saved_view (tenant_id, id, person_id, resource, name, search, columns)
       SELECT $1, gen_random_uuid(), owner, 'site', 'Mine', '', '{}' FROM unnest($2::uuid[]) AS owner`,
      [tenantId, [person, null]],
    );
    const file = await backUp(service.owner);
    await restoreBackup(other.connection, { ...none, path: file, tenantId, withoutAccess: true });
    const empty = await createTestDatabase('template0');
    await restoreBackup(empty, { ...none, path: file, withoutAccess: true });
    for (const place of [other.connection, empty]) {
      const { rows } = await asDatabaseOwner(place, (client) =>
        client.query('SELECT person_id FROM saved_view'),
      );
      assert.deepEqual(rows, [{ person_id: null }], 'the view that everybody has');
    }
    assert.match((await readAll(other, key))[0]!, /^401 /);
    const { rows } = await other.owner.query('SELECT count(*)::integer AS count FROM tenant');
    assert.equal(rows[0].count, 2, 'its own and the restored one');
    await assertConsistent(other.connection);
  });

  test('that the file does not hold is refused', async () => {
    const other = await startService();
    const unknown = { tenantId: '01960000-0000-7000-8000-000000000000' };
    const one = await backUp(service.owner, { tenantId: service.tenant.tenantId });
    await assert.rejects(
      restoreBackup(other.connection, { ...none, path: one, ...unknown }),
      /holds the tenant/,
    );
    await assert.rejects(
      restoreBackup(other.connection, { ...none, path: whole, ...unknown }),
      /holds no tenant/,
    );
    await assert.rejects(backUp(service.owner, unknown), /There is no tenant/);
  });
});

test('an encrypted backup needs its passphrase and shows nothing without it', async () => {
  const file = await backUp(service.owner, { passphrase: 'Gießkanne 7' });
  const { header } = await verifyBackup(file, 'Gießkanne 7');
  assert.equal(header.encryption?.cipher, 'aes-256-gcm');
  await assert.rejects(verifyBackup(file, 'Giesskanne 7'), /passphrase is wrong/);
  await assert.rejects(verifyBackup(file, undefined), /is encrypted/);
  const forged = await backUp(service.owner, { passphrase: undefined });
  await assert.rejects(verifyBackup(forged, 'Gießkanne 7'), /is not encrypted/);
  const content = await readFile(file);
  await writeFile(file, content.subarray(0, -40));
  await assert.rejects(verifyBackup(file, 'Gießkanne 7'), UsageError);
});

describe('a damaged or foreign backup is refused in a sentence, and nothing changes', () => {
  const damage: Record<string, (content: Buffer) => Buffer> = {
    'an empty file': () => Buffer.alloc(0),
    'a foreign file': () => Buffer.from('PGDMP\0\0'),
    'a file of a later format': (content) =>
      Buffer.concat([Buffer.from('Stamm backup 2\n'), content.subarray('Stamm backup 1\n'.length)]),
    'a file that ends in its header': (content) => content.subarray(0, 40),
    'a file without its second half': (content) => content.subarray(0, content.length / 2),
    'a file without its last byte': (content) => content.subarray(0, -1),
    'a file with one changed byte': (content) => {
      const changed = Buffer.from(content);
      const middle = Math.floor(changed.length * 0.7);
      changed[middle] = changed[middle]! ^ 1;
      return changed;
    },
    'a file with a changed header': (content) =>
      Buffer.from(content.toString('latin1').replace('"createdAt":"2', '"createdAt":"3'), 'latin1'),
    'a file with a header of something else': (content) =>
      Buffer.concat([
        Buffer.from('Stamm backup 1\nnull\n'),
        content.subarray(content.indexOf('\n', 'Stamm backup 1\n'.length) + 1),
      ]),
    'a file of a newer Stamm': (content) =>
      Buffer.from(content.toString('latin1').replace('0001-baseline', '0009-baseline'), 'latin1'),
  };
  for (const [what, change] of Object.entries(damage)) {
    test(what, async () => {
      const file = newPath();
      await writeFile(file, change(await readFile(whole)));
      const connection = await createTestDatabase('template0');
      await assert.rejects(restoreBackup(connection, { ...none, path: file }), UsageError);
      const { rows } = await asDatabaseOwner(connection, (client) =>
        client.query(`SELECT to_regclass('tenant') AS tenant`),
      );
      assert.equal(rows[0].tenant, null);
    });
  }

  test('a file of before the baseline, with what to do', async () => {
    const { owner } = await startService();
    await owner.query(
      `UPDATE schema_migration SET name = '0020-kept-references.sql' WHERE name LIKE '0001%'`,
    );
    const file = newPath();
    await makeBackup(owner, { ...none, path: file });
    const connection = await createTestDatabase('template0');
    await assert.rejects(
      restoreBackup(connection, { ...none, path: file }),
      /before the first release .+ export its data over the API/,
    );
  });

  test('a database that holds data', async () => {
    const other = await startService();
    await assert.rejects(restoreBackup(other.connection, { ...none, path: whole }), /holds data/);
    await assertConsistent(other.connection);
  });

  test('a path that exists is not written over', async () => {
    const file = newPath();
    await writeFile(file, 'mine');
    await assert.rejects(makeBackup(service.owner, { ...none, path: file }), /exists already/);
    assert.equal(await readFile(file, 'utf8'), 'mine');
    const half = newPath();
    await writeFile(`${half}.partial`, 'half');
    await assert.rejects(makeBackup(service.owner, { ...none, path: half }), /\.partial exists: a backup/);
  });
});

test('every table is in a backup, or is left out for a reason', async () => {
  const tables = await readTables(service.owner);
  const { rows } = await service.owner.query<{ name: string; hasTenant: boolean }>(
    `SELECT relname AS name, EXISTS (SELECT FROM pg_attribute WHERE attrelid = pg_class.oid AND attname = 'tenant_id') AS "hasTenant"
     FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'`,
  );
  const names = new Set(tables.map(({ name }) => name));
  for (const { name, hasTenant } of rows) {
    assert.ok(names.has(name) !== name in leftOut, name);
    assert.ok(hasTenant || name in leftOut, `${name} belongs to no tenant: say why a backup leaves it out`);
  }
  for (const name of Object.keys(leftOut))
    assert.ok(
      rows.some((row) => row.name === name),
      `${name} is gone`,
    );
});

describe('the service', () => {
  const lines: string[] = [];
  const note = (line: string) => lines.push(line);
  const log = { info: note, warn: note, error: note };
  const keepTwo = { DATA_DIR: '/never', BACKUP_EVERY: 24, BACKUP_KEEP: 2, BACKUP_PASSPHRASE: undefined };
  beforeEach(() => {
    lines.length = 0;
  });

  test('makes a backup when one is due, and keeps as many as it should', async () => {
    const dir = path.join(folder, 'scheduled');
    const settings = { ...keepTwo, BACKUP_DIR: dir, folder: dir };
    const backUp = () => backUpIfDue(settings, service.connection, log, AbortSignal.any([]));
    await backUp();
    const [first] = await listBackups(dir);
    assert.equal((await verifyBackup(first!.path, undefined)).header.tenantId, null);
    await backUp();
    assert.equal((await listBackups(dir)).length, 1, 'the next one is due tomorrow');
    for (const day of ['01', '02', '03'])
      await writeFile(path.join(dir, `stamm-202001${day}T000000Z.backup`), '');
    await rm(first!.path);
    await writeFile(path.join(dir, 'stamm-20200104T000000Z.backup.partial'), '');
    await writeFile(path.join(dir, 'notes.txt'), '');
    await backUp();
    const kept = (await readdir(dir)).sort();
    assert.equal(kept.length, 3, kept.join());
    assert.deepEqual([kept[0], kept[1]], ['notes.txt', 'stamm-20200103T000000Z.backup']);
    assert.equal(lines.length, 2, lines.join('\n'));
  });

  test('makes one although a clock that was ahead left newer ones, which go first', async () => {
    const dir = path.join(folder, 'ahead');
    await mkdir(dir);
    for (const day of ['01', '02', '03'])
      await writeFile(path.join(dir, `stamm-299901${day}T000000Z.backup`), '');
    await backUpIfDue(
      { ...keepTwo, BACKUP_DIR: dir, folder: dir },
      service.connection,
      log,
      AbortSignal.any([]),
    );
    const [ahead, made] = await listBackups(dir);
    assert.equal(path.basename(ahead!.path), 'stamm-29990103T000000Z.backup');
    assert.ok(made!.at <= Date.now());
    assert.equal((await readdir(dir)).length, 2);
  });

  test('makes a folder once: one that held backups and is gone or empty is an error', async () => {
    const dir = path.join(folder, 'mounted', 'backups');
    const settings = { ...keepTwo, BACKUP_DIR: dir, folder: dir };
    const backUp = () => backUpIfDue(settings, service.connection, log, AbortSignal.any([]));
    await backUp();
    assert.equal((await listBackups(dir)).length, 1);
    const { rows } = await service.owner.query('SELECT bytes::integer FROM backup_folder WHERE folder = $1', [
      dir,
    ]);
    assert.deepEqual(rows, [{ bytes: (await listBackups(dir))[0]!.bytes }]);
    await rm(dir, { recursive: true });
    await assert.rejects(backUp(), /backups held backups, and there are none now: mount its disk/);
    assert.equal(existsSync(dir), false);
    await mkdir(dir);
    await assert.rejects(backUp(), /mount its disk/);
    await addBackup(service.owner, { folder: dir, keep: 2, passphrase: undefined }, log);
    await service.owner.query('SELECT pg_advisory_unlock_all()');
    assert.equal((await listBackups(dir)).length, 1, '"stamm backup" begins again');
    await backUp();
  });

  test('never fills its disk: older ones go first, and then it makes none', {
    skip: withoutMounts,
  }, async () => {
    const dir = await mountDisk(8);
    const settings = { ...keepTwo, BACKUP_KEEP: 14, BACKUP_DIR: dir, folder: dir };
    const backUp = () => backUpIfDue(settings, service.connection, log, AbortSignal.any([]));
    const old = ['01', '02', '03'].map((day) => `stamm-202001${day}T000000Z.backup`);
    for (const name of old) await writeFile(path.join(dir, name), Buffer.alloc(2 * 1024 * 1024));
    await backUp();
    const kept = (await readdir(dir)).sort();
    assert.deepEqual(kept.slice(0, -1), old.slice(1), 'the room of one was enough');
    assert.match(lines[0]!, /^Removed \S+stamm-20200101T000000Z\.backup, because .* 2 are left\.$/);
    for (const name of kept.slice(1)) await rm(path.join(dir, name));
    const filler = path.join(dir, 'filler');
    await writeFile(filler, Buffer.alloc(4 * 1024 * 1024));
    await assert.rejects(backUp(), /has no room for a backup of 2\.6 MB\. Make room, or set BACKUP_DIR/);
    assert.deepEqual((await readdir(dir)).sort(), ['filler', old[1]], 'the newest stays');
  });

  test('ends a backup that needs more room than there is, and leaves no file', async () => {
    const file = newPath();
    await assert.rejects(makeBackup(service.owner, { ...none, path: file, mostBytes: 1000 }), NoRoomError);
    assert.equal(existsSync(file) || existsSync(`${file}.partial`), false);
  });

  test('waits with the first one beside the data', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout', 'setInterval'] });
    const dataDir = path.join(folder, 'data');
    await mkdir(dataDir);
    const settings = { ...keepTwo, DATA_DIR: dataDir, BACKUP_DIR: path.join(dataDir, 'backups') };
    const stop = startBackups(settings, service.connection, log);
    t.mock.timers.tick(599_000);
    assert.deepEqual(await readdir(dataDir), []);
    t.mock.timers.tick(1000);
    t.mock.timers.reset();
    await until('the first backup', () => lines.length > 0);
    await stop();
    assert.match(lines.join(), /^Backed up \d+ rows to \S+data\/backups\/stamm-\S+\.backup\.$/);
  });

  test('logs why a backup failed, and goes on', async () => {
    const file = path.join(folder, 'no-folder');
    await writeFile(file, '');
    const stop = startBackups({ ...keepTwo, BACKUP_DIR: file }, service.connection, log);
    await until('the failure is logged', () => lines.length > 0);
    await stop();
    assert.match(lines[0]!, /^The backup failed: /);
  });

  test('cuts off a backup under way when it stops, which leaves no file and no error', async () => {
    const { connection, owner } = await startService();
    const dir = path.join(folder, 'cut-off');
    const reader = new pg.Client(connection);
    await reader.connect();
    try {
      await reader.query('BEGIN; LOCK TABLE customer IN ACCESS EXCLUSIVE MODE');
      const stop = startBackups({ ...keepTwo, BACKUP_DIR: dir }, connection, log);
      await untilLocked(owner);
      assert.match((await readdir(dir)).join(), /^stamm-[^,]+\.partial$/);
      await within('the backup ends', stop());
      assert.deepEqual(await readdir(dir), []);
      assert.deepEqual(lines, []);
    } finally {
      await reader.end();
    }
  });
});

describe('the check finds', () => {
  const damage: Record<string, string> = {
    journal: `DELETE FROM journal WHERE position = 2`,
    versions: `UPDATE site SET version = 7`,
    deletions: `DELETE FROM site`,
    bin: `INSERT INTO deleted_object (tenant_id, resource, id, root_id, version, actor, content, search_text)
      SELECT tenant_id, 'site', id, id, version, '', '{}', '' FROM site`,
    references: `UPDATE site SET customer_id = id`,
    words: `DELETE FROM search_word WHERE word = 'hotel'`,
  };
  for (const [check, sql] of Object.entries(damage)) {
    test(`a wrong ${check}`, async () => {
      const { owner, createCustomer, post, connection } = await startService();
      await post('/customer/site', validSite(await createCustomer()));
      await assertConsistent(connection);
      // Foreign keys would refuse some of it; a broken disk would not ask them. A cluster passes SET LOCAL on, one by one.
      const unasked = [
        'BEGIN',
        "SET citus.propagate_set_commands = 'local'",
        'SET LOCAL session_replication_role = replica',
      ];
      for (const statement of [...unasked, sql, 'COMMIT']) await owner.query(statement);
      const findings = await checkConsistency(owner, resources);
      assert.ok(findings.find((finding) => finding.check === check)!.count > 0, JSON.stringify(findings));
    });
  }
});

test('a restore that is cut off half-way can be repeated', async () => {
  const connection = await createTestDatabase('template0');
  await migrate(connection);
  await asDatabaseOwner(connection, async (client) => {
    // What would be left if the process died before its commit.
    await client.query('ALTER TABLE site ADD CONSTRAINT refuse CHECK (false) NOT VALID');
  });
  await assert.rejects(restoreBackup(connection, { ...none, path: whole }), /refuse/);
  await asDatabaseOwner(connection, async (client) => {
    const { rows } = await client.query('SELECT count(*)::integer AS count FROM tenant');
    assert.equal(rows[0].count, 0);
    await client.query('ALTER TABLE site DROP CONSTRAINT refuse');
  });
  await restoreBackup(connection, { ...none, path: whole });
  await assertConsistent(connection);
});
