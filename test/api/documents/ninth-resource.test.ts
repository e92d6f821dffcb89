// docs/adding-a-resource.md, done as it says in a copy of the server.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { randomUUIDv7 } from 'node:crypto';
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import pg from 'pg';
import { pino } from 'pino';
import { createApiKey } from '../../../server/access/api-keys.ts';
import { createTenant } from '../../../server/access/tenants.ts';
import { readConfig } from '../../../server/config.ts';
import { openDatabase } from '../../../server/database/database.ts';
import { openServiceLogin } from '../../../server/database/service-login.ts';
import { createTestDatabase, validCustomer, validSite } from '../../helpers/service.ts';

const root = path.resolve(import.meta.dirname, '../../..');
const run = promisify(execFile);

interface Page {
  definition: string;
  importLine: string;
  migration: string;
}

/** Under another name: a repository with the page's own resource passes too. */
async function readPage(): Promise<Page> {
  const text = await readFile(path.join(root, 'docs/adding-a-resource.md'), 'utf8');
  const page = text.replaceAll(/door([-_])key/g, 'test$1key').replaceAll('doorKey', 'testKey');
  const blocks = [...page.matchAll(/```(?:ts|sql)\n(.*?)```/gs)].map((match) => match[1]!);
  assert.equal(blocks.length, 3);
  const [definition, importLine, migration] = blocks as [string, string, string];
  return { definition, importLine, migration };
}

const copied = [
  'core',
  'client',
  'server',
  'migrations',
  'test',
  'tools',
  'reference',
  'package.json',
  'tsconfig.json',
  'biome.json',
  '.gitignore',
];

/** Steps 1 to 3 of the page. */
async function followPage(): Promise<string> {
  const copy = await mkdtemp(path.join(tmpdir(), 'stamm-ninth-'));
  after(() => rm(copy, { recursive: true }));
  // Other tests may build the client meanwhile.
  const filter = (file: string) => !['node_modules', 'dist'].includes(path.basename(file));
  for (const name of copied)
    await cp(path.join(root, name), path.join(copy, name), { recursive: true, filter });
  for (const modules of ['node_modules', 'client/node_modules'])
    await symlink(path.join(root, modules), path.join(copy, modules));
  const { definition, importLine, migration } = await readPage();
  await writeFile(path.join(copy, 'server/resources/test-key.ts'), definition);
  const list = path.join(copy, 'server/resources/index.ts');
  const source = await readFile(list, 'utf8');
  await writeFile(list, importLine + source.replace(/^\];$/m, '  testKey,\n];'));
  const printed = await run(process.execPath, ['tools/generated.ts', 'migration', 'test-key'], { cwd: copy });
  assert.equal(printed.stdout, migration, 'the page shows what the command prints');
  await writeFile(path.join(copy, 'migrations/0999-test-keys.sql'), printed.stdout);
  return copy;
}

const copy = await followPage();

test('the files of the page pass the checks of the repository', async () => {
  const bin = (name: string) => path.join(root, 'node_modules/.bin', name);
  await run(bin('biome'), ['check', 'server/resources/test-key.ts'], { cwd: copy });
  const config = { extends: './tsconfig.json', files: ['server/resources/index.ts'], include: [] };
  await writeFile(path.join(copy, 'tsconfig.page.json'), JSON.stringify(config));
  await run(bin('tsc'), ['-p', 'tsconfig.page.json'], { cwd: copy });
});

test('a ninth resource is one definition, one migration and one entry in the list', async () => {
  const { buildApp }: typeof import('../../../server/app/app.ts') = await import(
    pathToFileURL(path.join(copy, 'server/app/app.ts')).href
  );
  const { migrate }: typeof import('../../../server/database/migrations/migrations.ts') = await import(
    pathToFileURL(path.join(copy, 'server/database/migrations/migrations.ts')).href
  );
  const connection = await createTestDatabase();
  assert.deepEqual(await migrate(connection), ['0999-test-keys.sql']);

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
  const customerId = (await call('POST', '/customer', validCustomer)).json().id;
  const siteId = (await call('POST', '/customer/site', validSite(customerId))).json().id;
  const create = (body: object) => call('POST', '/customer/site/test-key', body);
  const mainEntrance = { siteId, name: 'Haupteingang', labelCode: 'S-1', cabinet: 'A', kind: 'KEY' };
  const created = await create(mainEntrance);
  assert.equal(created.statusCode, 201, created.body);
  const { id } = created.json();

  const refused = await create({ siteId: randomUUIDv7(), name: 'x' });
  assert.deepEqual([refused.statusCode, refused.json().errors[0].code], [400, 'reference_not_found']);
  assert.equal((await create({ siteId, kind: 'ROPE' })).statusCode, 400);
  assert.equal((await create({ siteId, name: 'x', labelCode: 'S-1' })).statusCode, 409);
  await create({ siteId, name: 'Keller', cabinet: 'B' });

  const find = async (query: string) =>
    (await call('GET', `/test-keys?${query}`)).json().data.map(({ name }: { name: string }) => name);
  assert.deepEqual(await find(`siteId=${siteId}&sort=-name`), ['Keller', 'Haupteingang']);
  assert.deepEqual(await find(`siteId=${randomUUIDv7()}`), []);
  assert.deepEqual(await find('cabinet=B'), ['Keller']);
  assert.deepEqual(await find('q=haupteingnag'), ['Haupteingang']);

  const holderId = randomUUIDv7();
  assert.equal((await call('PATCH', `/test-keys/${id}`, { holderId })).json().holderId, holderId);
  assert.equal(
    (await call('GET', '/attention?resource=test-key')).json().data[0].code,
    'unresolved_reference',
  );
  const owned = await call('DELETE', `/sites/${siteId}`);
  assert.deepEqual([owned.statusCode, owned.json().dependants[0].resource], [409, 'test-key']);
  assert.equal((await call('DELETE', `/test-keys/${id}`)).statusCode, 204);
  assert.ok(app.swagger().paths?.['/api/v1/test-keys/{id}']);

  await app.close();
  await database.close();
});
