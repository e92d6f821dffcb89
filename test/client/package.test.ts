// The package that the service offers, in the oldest Node of this machine and in a browser.
import assert from 'node:assert/strict';
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { promisify } from 'node:util';
import { gunzipSync } from 'node:zlib';
import { packClient } from '../../client/pack.ts';
import { createStamm } from '../../client/src/index.ts';
import { buildGuide } from '../../web/guide/build.ts';
import { startReceiver, verify } from '../api/webhooks/webhook-receiver.ts';
import { launchChromium } from '../browser/helpers/chromium.ts';
import { findFreePort } from '../helpers/free-port.ts';
import { withoutChromium } from '../helpers/programs.ts';
import { listen } from '../helpers/raw-client.ts';
import { startService } from '../helpers/service.ts';
import { until } from '../helpers/waiting.ts';

const run = promisify(execFile);
const root = path.resolve(import.meta.dirname, '../..');

/** The machine's own Node where it is older than ours, as an integrator's may be. */
async function findOldNode(): Promise<string> {
  const outside = process.env.PATH!.split(path.delimiter).filter((one) => !one.includes('node_modules'));
  const env = { ...process.env, PATH: outside.join(path.delimiter) };
  const asked = await run('/usr/bin/env', ['node', '-p', 'process.execPath + " " + process.versions.node'], {
    env,
  }).catch(() => undefined);
  const [found, version = ''] = asked?.stdout.trim().split(' ') ?? [];
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return found && (major > 20 || (major === 20 && minor >= 19)) ? found : process.execPath;
}

/** The oldest that is supported, the last of the old compiler, and the one that the service is checked with. */
const compilers = {
  '5.4': 'test/client/oldest-typescript/node_modules/typescript/bin/tsc',
  '5.9': 'client/node_modules/typescript/bin/tsc',
  '7': 'node_modules/typescript/bin/tsc',
};

const typedProgram = `
const client = createStamm({ baseUrl: '', apiKey: '' });
const address = { streetName: 'Am Markt', houseNumber: '1', zipCode: '28195', city: 'Bremen' };
export async function use(): Promise<string> {
  for await (const site of client.sites.list({ city: 'Bremen' })) return site.address.city;
  const site = await client.sites.get('', { fields: ['name', 'address.city', 'customer.companyName'] });
  const found: { id: string; name: string; address: { city: string }; customer?: { companyName: string } } = site;
  // @ts-expect-error
  found satisfies never, site.hasKey;
  // @ts-expect-error
  found satisfies never, site.address.zipCode;
  // @ts-expect-error
  client.sites.list({ fields: ['nam'] });
  for await (const { contract } of client.sites.list({ include: 'contract' })) contract?.startDate.slice(0, 4);
  // @ts-expect-error
  client.import([{ type: 'customer', data: { compnyName: 'Rathaus Café', address } }]);
  // @ts-expect-error
  await client.customers.create({ compnyName: 'Rathaus Café', address });
  return (await client.customers.create({ companyName: 'Rathaus Café', address })).id;
}
`;

describe('the package', () => {
  let place: string;
  let env: NodeJS.ProcessEnv;
  let baseUrl: string;
  let node: string;
  const children: ChildProcess[] = [];
  const installed = () => path.join(place, 'node_modules/@stamm/client');

  before(async () => {
    node = await findOldNode();
    place = await mkdtemp(path.join(tmpdir(), 'stamm-client-'));
    await buildGuide();
    const { app, tenant } = await startService();
    baseUrl = `http://127.0.0.1:${await listen(app)}`;
    env = { ...process.env, NODE_OPTIONS: '', STAMM_URL: baseUrl, STAMM_KEY: tenant.key };
    await install();
    await compileReadme();
  });

  after(async () => {
    for (const child of children) child.kill();
    await rm(place, { recursive: true });
  });

  /** As the README says, into a project that has nothing else. Without the registry: the package needs no other. */
  async function install(): Promise<void> {
    await writeFile(path.join(place, 'package.json'), '{"name":"erp","private":true}');
    // A cache of its own and no registry: only the service can give it anything.
    const options = ['--no-audit', '--no-fund', `--cache=${place}/.npm`, '--registry=http://127.0.0.1:9'];
    await run('npm', ['install', `${baseUrl}/docs/stamm-client.tgz`, ...options], { cwd: place });
  }

  /** Each piece of the README's code as a program of its own, checked against the types of the package. */
  async function compileReadme(): Promise<void> {
    const readme = await readFile(path.join(installed(), 'README.md'), 'utf8');
    const blocks = [...readme.matchAll(/```ts\n(.*?)```/gs)].map((match) => match[1]!);
    assert.equal(blocks.length, 5);
    for (const [index, block] of blocks.entries())
      await writeFile(path.join(place, `job-${index + 1}.mts`), block);
    await symlink(path.join(root, 'node_modules/@types'), path.join(place, 'node_modules/@types'));
    const options = ['--module', 'nodenext', '--target', 'es2022', '--strict', '--types', 'node'];
    const files = blocks.map((_, index) => `job-${index + 1}.mts`);
    const compiler = path.join(root, 'node_modules/typescript/bin/tsc');
    await run(process.execPath, [compiler, ...options, ...files], { cwd: place }).catch(({ stdout }) =>
      assert.fail(stdout),
    );
  }

  function start(job: number, more: object = {}) {
    const child = spawn(node, [`job-${job}.mjs`], { cwd: place, env: { ...env, ...more } });
    children.push(child);
    let output = '';
    child.stdout.on('data', (chunk) => (output += chunk));
    child.stderr.on('data', (chunk) => (output += chunk));
    return { child, exited: once(child, 'exit'), output: () => output };
  }

  async function runJob(job: number): Promise<string> {
    const { exited, output } = start(job);
    const [code] = await exited;
    assert.equal(code, 0, output());
    return output();
  }

  test('holds what it needs and nothing else, in the version of the service', async () => {
    const files = (await readdir(installed(), { recursive: true })).filter((name) => name !== 'dist');
    for (const file of ['package.json', 'README.md', 'LICENSE', 'dist/index.js', 'dist/index.cjs'])
      assert.ok(files.includes(file), file);
    for (const file of files)
      assert.match(
        file,
        /^(package\.json|README\.md|LICENSE|dist\/(index\.c?js|stamm\.js|[\w-]+\.d\.c?ts))$/,
      );
    const read = async (file: string) => JSON.parse(await readFile(file, 'utf8'));
    const manifest = await read(path.join(installed(), 'package.json'));
    assert.equal(manifest.version, (await read(path.join(root, 'package.json'))).version);
    assert.equal(manifest.dependencies ?? manifest.devDependencies, undefined);
  });

  test('is the same file from every node', async () => {
    assert.deepEqual(await packClient(), await packClient());
    const response = await fetch(`${baseUrl}/docs/stamm-client.tgz`);
    assert.equal(response.headers.get('content-type'), 'application/gzip');
    assert.deepEqual(Buffer.from(await response.arrayBuffer()), await packClient());
    // npm sets the mode of a program only where it makes its link.
    const archive = gunzipSync(await packClient());
    const entry = archive.indexOf('package/dist/stamm.js\0');
    assert.equal(archive.toString('latin1', entry + 100, entry + 107), '0000755');
  });

  test('runs as CommonJS too', async () => {
    const program = `const { createStamm } = require('@stamm/client');
      createStamm({ baseUrl: process.env.STAMM_URL, apiKey: process.env.STAMM_KEY })
        .employees.page().then(({ data }) => console.log(data.length));`;
    const { stdout } = await run(node, ['--input-type=commonjs', '--eval', program], { cwd: place, env });
    assert.equal(stdout, '0\n');
  });

  for (const [version, compiler] of Object.entries(compilers)) {
    const isCurrent = version === '7';
    const resolutions = ['node16', 'nodenext', 'bundler', ...(isCurrent ? [] : ['node10'])];
    test(`has types for TypeScript ${version}, in ES modules and CommonJS`, async () => {
      await writeFile(
        path.join(place, 'esm.mts'),
        `import { createStamm } from '@stamm/client';\n${typedProgram}`,
      );
      await writeFile(
        path.join(place, 'cjs.cts'),
        `import stamm = require('@stamm/client');\nconst { createStamm } = stamm;\n${typedProgram}`,
      );
      for (const resolution of resolutions) {
        const modules = { bundler: 'preserve', node10: 'commonjs' }[resolution] ?? resolution;
        const options = ['--noEmit', '--strict', '--target', 'es2022', '--lib', 'es2022,dom,dom.iterable'];
        // The declarations themselves are checked once; that takes long.
        const checks = resolution === 'nodenext' ? [] : ['--skipLibCheck'];
        const kinds = ['--module', modules, '--moduleResolution', resolution, '--typeRoots', 'none'];
        const files = resolution === 'node10' ? ['cjs.cts'] : ['esm.mts', 'cjs.cts'];
        await run(process.execPath, [path.join(root, compiler), ...options, ...checks, ...kinds, ...files], {
          cwd: place,
        }).catch(({ stdout }) => assert.fail(`${resolution}: ${stdout}`));
      }
    });
  }

  test('does the jobs of its README', async () => {
    assert.match(await runJob(1), /^400 validation_failed [0-9a-f-]{36}\ncompanyName blank /);
    assert.equal(await runJob(2), '');
    assert.equal(await runJob(3), 'Lobby\nLobby Hamburg Hotel Alsterblick GmbH\n1 1\n');

    const follower = start(4);
    await until('the changes come', () => follower.output().split('\n').length > 5);
    assert.match(follower.output(), /^CREATED customer .*\nCREATED site .*\nCREATED customer ERP-1\n/);
    follower.child.kill('SIGTERM');
    assert.deepEqual(await follower.exited, [0, null], follower.output());
    assert.match(await readFile(path.join(place, 'stamm.cursor'), 'utf8'), /^\d+$/);
  });

  test('receives a signed webhook, and refuses another', async () => {
    const port = await findFreePort();
    const secret = Buffer.from('a secret of thirty-two bytes, no');
    start(5, { PORT: String(port), WEBHOOK_SECRET: `whsec_${secret.toString('base64')}` });
    const timestamp = String(Math.floor(Date.now() / 1000));
    const send = (body: string, signed: string) =>
      fetch(`http://127.0.0.1:${port}`, {
        method: 'POST',
        body,
        headers: {
          'webhook-id': 'msg_1',
          'webhook-timestamp': timestamp,
          'webhook-signature': `v1,${createHmac('sha256', secret).update(`msg_1.${timestamp}.${signed}`).digest('base64')}`,
        },
      });
    const body = JSON.stringify({ type: 'site.created', timestamp: '', data: { resource: 'site', id: 'x' } });
    await until('it listens', () =>
      send(body, body).then(
        () => true,
        () => false,
      ),
    );
    assert.equal((await send(body, body)).status, 204);
    assert.equal((await send(body, 'another body')).status, 400);
  });

  test('stamm listen sends signed changes to a local address, and repeats what failed', async () => {
    let attempts = 0;
    const receiver = await startReceiver((_received, response) => {
      attempts += 1;
      response.writeHead(attempts === 1 ? 503 : 204).end();
    });
    const secret = `whsec_${Buffer.from('a secret of thirty-two bytes, no').toString('base64')}`;
    const program = path.join(place, 'node_modules/.bin/stamm');
    const options = ['listen', '--forward-to', receiver.url, '--exclude-origin', 'erp'];
    const child = spawn(node, [program, ...options], { cwd: place, env: { ...env, WEBHOOK_SECRET: secret } });
    children.push(child);
    let output = '';
    child.stdout.on('data', (chunk) => (output += chunk));
    child.stderr.on('data', (chunk) => (output += chunk));
    await until('it listens', () => output.includes(receiver.url));
    const create = async (lastName: string, origin: string) => {
      const stamm = createStamm({ baseUrl, apiKey: env.STAMM_KEY!, origin });
      return stamm.employees.create({ firstName: 'Mia', lastName });
    };
    await create('Own', 'erp');
    const { id } = await create('Other', 'shop');
    await until('the change arrives', () => receiver.received.length >= 2);
    for (const one of receiver.received) verify(one, secret);
    const [first, second] = receiver.received.map(({ message }) => message);
    assert.deepEqual(first, second);
    assert.deepEqual(
      [first!.type, first!.data.id, first!.data.object?.lastName],
      ['employee.created', id, 'Other'],
    );
    child.kill('SIGTERM');
    assert.deepEqual(await once(child, 'exit'), [0, null], output);
    await receiver.close();
  });

  test('works in a browser', { skip: withoutChromium }, async () => {
    const browser = await launchChromium();
    try {
      const page = await browser.newPage();
      await page.route('**/client/*.js', async (route) => {
        const file = path.join(installed(), 'dist', path.basename(new URL(route.request().url()).pathname));
        await route.fulfill({ contentType: 'text/javascript', body: await readFile(file, 'utf8') });
      });
      await page.goto(`${baseUrl}/livez`);
      const summary = await page.evaluate(
        `import('/client/index.js').then(({ createStamm }) => {
          const stamm = createStamm({ baseUrl: location.origin, apiKey: '${env.STAMM_KEY}' });
          const data = { externalId: 'B-1', firstName: 'Jonas', lastName: 'Harms' };
          return stamm.import([{ type: 'employee', data }]).finish();
        })`,
      );
      assert.deepEqual((summary as { created: number }).created, 1);
    } finally {
      await browser.close();
    }
  });
});
