// docs/adding-a-resource.md, done as it says in a copy of the server.
import assert from 'node:assert/strict';
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import pg from 'pg';
import { pino } from 'pino';
import { createApiKey } from '../../server/auth/api-keys.ts';
import { createTenant } from '../../server/auth/tenants.ts';
import { readConfig } from '../../server/config.ts';
import { openDatabase } from '../../server/database/database.ts';
import { openServiceLogin } from '../../server/database/service-login.ts';
import { createTestDatabase } from '../service.ts';

const root = path.resolve(import.meta.dirname, '../..');

/** The page's three pieces of code, in order. */
async function readPage(): Promise<[definition: string, migration: string, importLine: string]> {
  const page = await readFile(path.join(root, 'docs/adding-a-resource.md'), 'utf8');
  const blocks = [...page.matchAll(/```(?:ts|sql)\n(.*?)```/gs)].map((match) => match[1]!);
  assert.equal(blocks.length, 3);
  return blocks as [string, string, string];
}

async function copyWithNinthResource(): Promise<string> {
  const copy = await mkdtemp(path.join(tmpdir(), 'stamm-ninth-'));
  after(() => rm(copy, { recursive: true }));
  for (const name of ['core', 'server', 'migrations', 'package.json']) {
    await cp(path.join(root, name), path.join(copy, name), { recursive: true });
  }
  await symlink(path.join(root, 'node_modules'), path.join(copy, 'node_modules'));
  const [definition, migration, importLine] = await readPage();
  await writeFile(path.join(copy, 'server/resources/vehicle.ts'), definition);
  await writeFile(path.join(copy, 'migrations/0100-vehicles.sql'), migration);
  const list = path.join(copy, 'server/resources/index.ts');
  const source = await readFile(list, 'utf8');
  await writeFile(list, importLine + source.replace(/^\];$/m, '  vehicle,\n];'));
  return copy;
}

test('a ninth resource is one file, one migration and one line', async () => {
  const copy = await copyWithNinthResource();
  const { buildApp }: typeof import('../../server/http/app.ts') = await import(
    pathToFileURL(path.join(copy, 'server/http/app.ts')).href
  );
  const { migrate }: typeof import('../../server/database/migrations.ts') = await import(
    pathToFileURL(path.join(copy, 'server/database/migrations.ts')).href
  );
  const connection = await createTestDatabase();
  assert.deepEqual(await migrate(connection), ['0100-vehicles.sql']);

  const owner = new pg.Client(connection);
  await owner.connect();
  const key = await createApiKey(owner, await createTenant(owner, 'Grün & Gut GmbH'));
  await owner.end();
  const database = openDatabase((await openServiceLogin(connection)).client, { maxConnections: 4 });
  const app = await buildApp(readConfig({}), database, pino({ level: 'silent' }));

  const call = (method: 'POST' | 'GET' | 'PATCH' | 'DELETE', url: string, body?: object) =>
    app.inject({
      method,
      url: `/api/v1${url}`,
      headers: { apikey: key, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { payload: JSON.stringify(body) }),
    });
  const created = await call('POST', '/vehicle', { name: 'Sprinter 2', licensePlate: 'HH-GG 2026' });
  assert.equal(created.statusCode, 201, created.body);
  const { id } = created.json();
  assert.equal((await call('POST', '/vehicle', { fuel: 'COAL' })).statusCode, 400);
  assert.equal((await call('POST', '/vehicle', { name: 'x', licensePlate: 'HH-GG 2026' })).statusCode, 409);
  const driverId = '0198c0de-0000-7000-8000-000000000001';
  assert.equal((await call('PATCH', `/vehicles/${id}`, { driverId })).json().driverId, driverId);
  assert.equal((await call('GET', '/vehicles?q=sprintr')).json().data[0].id, id);
  assert.equal(
    (await call('GET', '/attention?resource=vehicle')).json().data[0].code,
    'unresolved_reference',
  );
  assert.equal((await call('GET', '/changes')).json().data.length, 2);
  assert.equal((await call('DELETE', `/vehicles/${id}`)).statusCode, 204);
  assert.ok(app.swagger().paths?.['/api/v1/vehicles/{id}']);

  await app.close();
  await database.close();
});
