// The package as it would be published, in the oldest Node of this machine and in a browser.
import assert from 'node:assert/strict';
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { promisify } from 'node:util';
import { listen } from '../api/raw-client.ts';
import { launchChromium } from '../browser/chromium.ts';
import { findFreePort } from '../free-port.ts';
import { withoutChromium } from '../programs.ts';
import { startService } from '../service.ts';
import { until } from '../waiting.ts';

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
  return found && (major > 20 || (major === 20 && minor >= 3)) ? found : process.execPath;
}

describe('the package', () => {
  let place: string;
  let env: NodeJS.ProcessEnv;
  let baseUrl: string;
  let node: string;
  const children: ChildProcess[] = [];

  before(async () => {
    node = await findOldNode();
    place = await mkdtemp(path.join(tmpdir(), 'stamm-client-'));
    const { app, tenant } = await startService();
    baseUrl = `http://127.0.0.1:${await listen(app)}`;
    env = { ...process.env, NODE_OPTIONS: '', STAMM_URL: baseUrl, STAMM_KEY: tenant.key };
    const { stdout } = await run(
      'npm',
      ['pack', '--json', '--workspace=client', `--pack-destination=${place}`],
      {
        cwd: root,
      },
    );
    const packed = JSON.parse(stdout.slice(stdout.indexOf('[')));
    const [{ filename }] = Array.isArray(packed) ? packed : Object.values(packed);
    await run('tar', ['-xzf', path.join(place, path.basename(filename)), '-C', place]);
    await mkdir(path.join(place, 'node_modules/@stamm'), { recursive: true });
    await cp(path.join(place, 'package'), path.join(place, 'node_modules/@stamm/client'), {
      recursive: true,
    });
    await compileReadme();
  });

  after(async () => {
    for (const child of children) child.kill();
    await rm(place, { recursive: true });
  });

  /** Each piece of the README's code as a program of its own, checked against the types of the package. */
  async function compileReadme(): Promise<void> {
    const readme = await readFile(path.join(place, 'package/README.md'), 'utf8');
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

  test('holds what it needs and nothing else', async () => {
    const { stdout } = await run('find', ['.', '-type', 'f'], { cwd: path.join(place, 'package') });
    const files = stdout.trim().split('\n');
    for (const file of ['./package.json', './README.md', './dist/index.js', './dist/index.d.ts'])
      assert.ok(files.includes(file), file);
    for (const file of files) assert.match(file, /^\.\/(package\.json|README\.md|dist\/[\w-]+\.(js|d\.ts))$/);
    const { dependencies } = JSON.parse(await readFile(path.join(place, 'package/package.json'), 'utf8'));
    assert.equal(dependencies, undefined);
  });

  test('does the jobs of its README', async () => {
    assert.match(await runJob(1), /^400 validation_failed [0-9a-f-]{36}\ncompanyName blank /);
    assert.equal(await runJob(2), '');
    assert.equal(await runJob(3), 'Lobby\n1 1\n');

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

  test('works in a browser', { skip: withoutChromium }, async () => {
    const browser = await launchChromium();
    try {
      const page = await browser.newPage();
      await page.route('**/client/*.js', async (route) => {
        const file = path.join(place, 'package/dist', path.basename(new URL(route.request().url()).pathname));
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
