// The examples of the guide, each run as its reader would run it, against the real service.
import assert from 'node:assert/strict';
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { Webhook } from 'standardwebhooks';
import { sendTest } from '../server/features/webhooks/deliveries.ts';
import { createEndpoint, replaceSecret } from '../server/features/webhooks/endpoints.ts';
import { sendImport } from './api/import/import-client.ts';
import { startReceiver } from './api/webhooks/webhook-receiver.ts';
import { openUnreliableProxy } from './client/unreliable-proxy.ts';
import { findFreePort } from './helpers/free-port.ts';
import * as programs from './helpers/programs.ts';
import { listen } from './helpers/raw-client.ts';
import { startService, type Tenant, validCustomer } from './helpers/service.ts';
import { until } from './helpers/waiting.ts';

const examples = path.resolve(import.meta.dirname, '../docs/examples');
const client = path.resolve(import.meta.dirname, '../client');

interface Language {
  folder: string;
  extension: string;
  /** Its import's external ids begin with it. */
  prefix: string;
  skip: string | false;
  command: (file: string) => string[];
  /** The command of the webhook receiver, where it is another one. */
  serve?: (file: string, port: number) => string[];
}

const languages: Language[] = [
  {
    folder: 'curl',
    extension: 'sh',
    prefix: 'SH',
    skip: programs.withoutCurl,
    command: (file) => ['sh', file],
  },
  {
    folder: 'typescript',
    extension: 'ts',
    prefix: 'TS',
    skip: false,
    command: (file) => [process.execPath, file],
  },
  {
    folder: 'python',
    extension: 'py',
    prefix: 'PY',
    skip: programs.withoutPython,
    command: (file) => [programs.python!, file],
  },
  {
    folder: 'php',
    extension: 'php',
    prefix: 'PHP',
    skip: programs.withoutPhp,
    command: (file) => [programs.php!, file],
    serve: (file, port) => [programs.php!, '-S', `127.0.0.1:${port}`, file],
  },
  {
    folder: 'csharp',
    extension: 'cs',
    prefix: 'CS',
    skip: programs.withoutDotnet,
    command: (file) => [programs.dotnet!, 'run', file],
  },
];

const allowed = { WEBHOOK_ALLOW_HTTP: true, WEBHOOK_ALLOW_PRIVATE: true };
const service = await startService(allowed);
const { owner, database } = service;
const port = await listen(service.app);
const proxy = await openUnreliableProxy(port);
let place: string;
const children: ChildProcess[] = [];
const receivers: { close(): Promise<void> }[] = [];

/** A copy, beside which the TypeScript examples find the client as an installed package. */
before(async () => {
  place = await mkdtemp(path.join(tmpdir(), 'stamm-examples-'));
  await cp(examples, place, { recursive: true });
  const installed = path.join(place, 'node_modules/@stamm/client');
  await mkdir(installed, { recursive: true });
  await writeFile(
    path.join(installed, 'package.json'),
    JSON.stringify({ name: '@stamm/client', type: 'module', exports: './src/index.ts' }),
  );
  await symlink(path.join(client, 'src'), path.join(installed, 'src'));
  await writeFile(path.join(place, 'package.json'), '{"type":"module"}');
});

after(async () => {
  for (const child of children) child.kill();
  for (const receiver of receivers) await receiver.close();
  await rm(place, { recursive: true });
});

test('each language has an example of each job, and the overview links them all', async () => {
  const overview = await readFile(path.join(examples, 'README.md'), 'utf8');
  for (const { folder, extension } of languages) {
    const files = (await readdir(path.join(examples, folder))).filter((name) => name !== 'tsconfig.json');
    const jobs = ['create', 'errors', 'import', 'paging', 'upsert', 'webhook'];
    assert.deepEqual(
      files.sort(),
      jobs.map((job) => `${job}.${extension}`),
    );
    for (const file of files) assert.ok(overview.includes(`(${folder}/${file})`), file);
  }
});

for (const { folder, extension, prefix, skip, command, serve = command } of languages) {
  const fileOf = (job: string) => path.join(place, folder, `${job}.${extension}`);

  /** The lines that the example prints; it must succeed. */
  async function run(job: string, tenant: Tenant, baseUrl = `http://127.0.0.1:${port}`): Promise<string[]> {
    const [program, ...args] = command(fileOf(job));
    const env = { ...process.env, NODE_OPTIONS: '', STAMM_URL: baseUrl, STAMM_KEY: tenant.key };
    return new Promise((resolve, reject) => {
      execFile(program!, args, { env }, (error, stdout, stderr) => {
        if (error) reject(new Error(`${folder} ${job}: ${stdout}${stderr}`, { cause: error }));
        else resolve(stdout.trimEnd().split('\n'));
      });
    });
  }

  const read = async (tenant: Tenant, url: string) =>
    (await service.get(url, { headers: { apikey: tenant.key } })).json();

  describe(`the examples in ${folder}`, { skip }, () => {
    test('create a customer with a site, and a repetition creates nothing', async () => {
      const tenant = await service.createTenant();
      const printed = await run('create', tenant);
      const [customers, sites] = [await read(tenant, '/customers'), await read(tenant, '/sites')];
      assert.deepEqual(printed, [`customer ${customers.data[0].id}`, `site ${sites.data[0].id}`]);
      assert.equal(sites.data[0].customerId, customers.data[0].id);
      assert.deepEqual(await run('create', tenant), printed);
      assert.equal((await read(tenant, '/sites?count=true')).total, 1);
    });

    test('upsert by external id, and a repetition changes nothing that it need not', async () => {
      const tenant = await service.createTenant();
      const phone = 'phone +49 421 123456';
      assert.deepEqual(await run('upsert', tenant), ['version 1, changed true', phone]);
      const customer = await read(tenant, '/customers/by-external-id/K-10023');
      assert.deepEqual([customer.companyName, customer.version], ['Rathaus Café', 2]);
      assert.deepEqual(await run('upsert', tenant), ['version 3, changed true', phone]);
      const { data } = await read(tenant, '/changes');
      assert.ok(data.every(({ origin }: { origin: string }) => origin === 'erp'));
    });

    test('read every page', async () => {
      const tenant = await service.createTenant();
      const names = Array.from({ length: 130 }, (_, index) => `Kunde ${index}`);
      const lines = names.map((companyName) => ({
        type: 'customer',
        data: { ...validCustomer, companyName },
      }));
      const { summary } = await sendImport({ port, key: tenant.key }, lines);
      assert.equal(summary.created, names.length);
      assert.deepEqual((await run('paging', tenant)).sort(), names.sort());
    });

    test('repeat a failed request under the same key, and name every invalid field', async () => {
      const tenant = await service.createTenant();
      const seenBefore = proxy.seen.length;
      const problem = { code: 'outcome_unknown', message: 'It may be stored already.', requestId: 'x' };
      proxy.failures.push(
        { status: 500, body: JSON.stringify(problem) },
        {
          status: 429,
          headers: { 'retry-after': '1' },
          body: JSON.stringify({ ...problem, code: 'rate_limited' }),
        },
      );
      const [head, ...errors] = await run('errors', tenant, proxy.baseUrl);
      assert.match(head!, /^code validation_failed, request [0-9a-f-]{36}$/);
      assert.match(errors.join('\n'), /^companyName blank: .+\naddress\.zipCode (blank|required): .+$/);
      const keys = proxy.seen.slice(seenBefore).map(({ headers }) => headers['idempotency-key']);
      assert.equal(keys.length, 3);
      assert.ok(keys[0]);
      assert.equal(new Set(keys).size, 1);
    });

    test('import lines, and say which failed', async () => {
      const tenant = await service.createTenant();
      assert.deepEqual(await run('import', tenant), ['line 3 validation_failed', 'created 2, failed 1']);
      const { data } = await read(tenant, '/contact-persons');
      assert.deepEqual(
        data.map(({ lastName }: { lastName: string }) => lastName),
        ['Petersen'],
      );
      const repeated = await run('import', tenant);
      assert.deepEqual(repeated, ['line 3 validation_failed', 'created 0, failed 1']);
    });

    // The client sends such an import again by itself: test/client/restart.test.ts.
    if (folder !== 'typescript')
      test('end with an error if the import broke off', async () => {
        const tenant = await service.createTenant();
        const line = { line: 1, status: 201, type: 'customer', id: tenant.tenantId };
        const stopped = { summary: { lines: 1, created: 1, failed: 0, code: 'import_stopped' } };
        for (const answers of [[line, stopped], [line], []]) {
          const body = answers.map((answer) => `${JSON.stringify(answer)}\n`).join('');
          proxy.failures.push({ status: 200, body });
          await assert.rejects(run('import', tenant, proxy.baseUrl), /The import is not complete/);
        }
      });

    test('leave deleted what the office has deleted', async () => {
      const tenant = await service.createTenant();
      const headers = { apikey: tenant.key };
      const deleteOne = async (externalId: string) => {
        const url = `/customers/by-external-id/${externalId}`;
        await service.put(url, validCustomer, { headers });
        await service.delete(url, { headers });
      };
      await deleteOne('K-10023');
      await assert.rejects(run('upsert', tenant));
      await deleteOne(`${prefix}-1`);
      assert.equal((await run('import', tenant))[0], 'line 1 deleted');
      assert.equal((await read(tenant, '/customers?count=true')).total, 0);
    });

    test('fail where the service rejects the request', async () => {
      const tenant = { ...(await service.createTenant()), key: 'unknown' };
      for (const job of ['create', 'upsert', 'paging', 'import']) await assert.rejects(run(job, tenant), job);
    });

    test('run after those of the other languages, in the same business', async () => {
      await run('create', service.tenant);
      assert.deepEqual((await run('import', service.tenant)).at(-1), 'created 2, failed 1');
      await run('upsert', service.tenant);
      const { data } = await read(service.tenant, '/customers?limit=500');
      const names = data.map(({ companyName }: { companyName: string }) => companyName);
      assert.deepEqual((await run('paging', service.tenant)).sort(), names.sort());
    });

    test('accept a webhook that Stamm has signed, and no other', async () => {
      const judge = folder === 'curl' ? openShellJudge(fileOf('webhook')) : openServerJudge();
      const { accepts, endpoint, tenantId, deliver } = await judge;
      const genuine = await deliver();
      assert.equal(genuine, true);
      const signed = (secret: string, at: Date, body: string) => ({
        'webhook-id': 'msg_1',
        'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
        'webhook-signature': new Webhook(secret).sign('msg_1', at, body),
      });
      const body = '{"type":"site.changed","timestamp":"2026-11-17T08:00:00Z","data":{}}';
      const now = new Date();
      const foreign = `whsec_${Buffer.from('another secret').toString('base64')}`;
      assert.equal(await accepts(signed(endpoint.secret, now, body), body), true);
      assert.equal(await accepts(signed(foreign, now, body), body), false);
      assert.equal(await accepts(signed(endpoint.secret, now, body), `${body} `), false);
      const tooOld = new Date(now.getTime() - 3_600_000);
      assert.equal(await accepts(signed(endpoint.secret, tooOld, body), body), false);
      // Both secrets sign while one is being replaced.
      await replaceSecret(owner, tenantId, endpoint.id);
      assert.equal(await deliver(), true);
    });
  });

  /** Receives with the example itself, which listens. */
  async function openServerJudge() {
    const { tenantId } = await service.createTenant();
    const port = await findFreePort();
    const url = `http://127.0.0.1:${port}/`;
    const endpoint = await createEndpoint(owner, tenantId, { url, resources: null });
    const [program, ...args] = serve(fileOf('webhook'), port);
    const env = {
      ...process.env,
      NODE_OPTIONS: '',
      PORT: String(port),
      WEBHOOK_SECRET: endpoint.secret,
    };
    const child = spawn(program!, args, { env, stdio: ['ignore', 'pipe', 'ignore'] });
    children.push(child);
    let printed = '';
    child.stdout.on('data', (piece) => {
      printed += piece;
    });
    await until(`${folder} listens`, () => canConnect(port));
    return {
      tenantId,
      endpoint,
      async deliver() {
        printed = '';
        const sending = { config: allowed, database, tenantId, webhookId: endpoint.id };
        const { status } = await sendTest(sending);
        if (status === 204) await until('the printed type', () => /^stamm\.test \S+$/m.test(printed));
        return status === 204;
      },
      async accepts(headers: Record<string, string>, body: string) {
        const { status } = await fetch(url, { method: 'POST', headers, body });
        assert.ok([204, 400].includes(status), String(status));
        return status === 204;
      },
    };
  }
}

/** Receives here, and asks the script about each message. */
async function openShellJudge(file: string) {
  const { tenantId } = await service.createTenant();
  const receiver = await startReceiver();
  receivers.push(receiver);
  const endpoint = await createEndpoint(owner, tenantId, { url: receiver.url, resources: null });

  async function accepts(headers: Record<string, string>, body: string): Promise<boolean> {
    const env = {
      ...process.env,
      WEBHOOK_SECRET: endpoint.secret,
      WEBHOOK_ID: headers['webhook-id'],
      WEBHOOK_TIMESTAMP: headers['webhook-timestamp'],
      WEBHOOK_SIGNATURE: headers['webhook-signature'],
    };
    const child = spawn('sh', [file], { env, stdio: ['pipe', 'ignore', 'inherit'] });
    // A message that is too old is refused before its body is read.
    child.stdin.on('error', () => {});
    child.stdin.end(body);
    const [code] = await once(child, 'exit');
    assert.ok([0, 1].includes(code), String(code));
    return code === 0;
  }

  return {
    tenantId,
    endpoint,
    accepts,
    async deliver() {
      await sendTest({ config: allowed, database, tenantId, webhookId: endpoint.id });
      const { headers, body } = receiver.received.at(-1)!;
      return accepts(headers, body);
    },
  };
}

function canConnect(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => resolve(true)).on('error', () => resolve(false));
    socket.end();
  });
}
