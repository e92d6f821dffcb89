// A shared cache in front of the service, as operators put it there: Varnish with no configuration of its own.
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { createApiKey } from '../../../server/access/api-keys.ts';
import { findFreePort } from '../../helpers/free-port.ts';
import { createPerson } from '../../helpers/office.ts';
import { varnish as program, withoutVarnish as skip } from '../../helpers/programs.ts';
import { listen } from '../../helpers/raw-client.ts';
import { startService, validCustomer } from '../../helpers/service.ts';
import { until } from '../../helpers/waiting.ts';

describe('behind Varnish in its default configuration', { skip }, () => {
  let service: Awaited<ReturnType<typeof startService>>;
  let directory: string;
  let varnish: ChildProcess;
  let origin: string;

  before(async () => {
    service = await startService();
    const port = await findFreePort();
    origin = `http://127.0.0.1:${port}`;
    directory = await mkdtemp(path.join(tmpdir(), 'stamm-varnish-'));
    const backend = `127.0.0.1:${await listen(service.app)}`;
    const options = ['-F', '-n', path.join(directory, 'work'), '-a', `127.0.0.1:${port}`, '-b', backend];
    varnish = spawn(program!, [...options, '-s', 'default,32m'], { stdio: ['ignore', 'pipe', 'pipe'] });
    let said = '';
    for (const output of [varnish.stdout!, varnish.stderr!]) {
      output.setEncoding('utf8').on('data', (text: string) => {
        said += text;
      });
    }
    await until('Varnish answers', () =>
      fetch(`${origin}/livez`).then(
        ({ status }) => status === 200,
        () => {
          assert.equal(varnish.exitCode, null, `varnishd has ended: ${said}`);
          return false;
        },
      ),
    );
  });

  after(async () => {
    varnish.kill('SIGTERM');
    if (varnish.exitCode === null && varnish.signalCode === null) await once(varnish, 'exit');
    await rm(directory, { recursive: true, force: true });
  });

  const ask = async (url: string, headers: Record<string, string> = {}) => {
    const response = await fetch(`${origin}${url}`, { headers });
    return { status: response.status, headers: response.headers, body: await response.text() };
  };

  test('the cache keeps what is public, so that it is one', async () => {
    const [, url] = /"(\/docs\/reference\/scalar\.js\?v=[^"]+)"/.exec((await ask('/docs/reference')).body)!;
    await ask(url!);
    const { headers } = await ask(url!);
    // Varnish names two requests where the second was answered from the first.
    assert.match(headers.get('x-varnish') ?? '', /^\d+ \d+$/);
  });

  test("a tenant's answers reach neither another key nor none, in any order of requests", async () => {
    const [a, b] = [service.tenant, await service.createTenant('Blatt & Co.')];
    const apiKey = (key: string) => ({ ApiKey: key });
    const create = async (key: string, companyName: string) => {
      const body = { ...validCustomer, companyName };
      return (await service.post('/customer', body, { headers: { apikey: key } })).json().id as string;
    };
    const ids = { a: await create(a.key, 'Geheim A'), b: await create(b.key, 'Geheim B') };
    for (const url of [
      '/customers',
      `/customers/${ids.a}`,
      '/customers.csv',
      '/customers.ndjson',
      '/changes',
      '/attention',
      '/nothing',
    ]) {
      const path = `/api/v1${url}`;
      const own = await service.get(url);
      for (let round = 0; round < 3; round++) {
        const ofA = await ask(path, apiKey(a.key));
        assert.equal(ofA.status, own.statusCode, url);
        if (own.statusCode === 200) assert.equal(ofA.body, own.body.replace('\ufeff', ''), url);
        const ofB = await ask(path, apiKey(b.key));
        assert.ok(!ofB.body.includes('Geheim A') && !ofB.body.includes(ids.a), `${url}: ${ofB.body}`);
        for (const key of ['', 'stamm_wrong']) {
          const ofNobody = await ask(path, key ? apiKey(key) : {});
          assert.equal(ofNobody.status, 401, url);
          assert.ok(!ofNobody.body.includes('Geheim'), url);
        }
      }
    }
    const german = await ask('/api/v1/customers', { 'Accept-Language': 'de' });
    const english = await ask('/api/v1/customers', { 'Accept-Language': 'en' });
    assert.notEqual(JSON.parse(german.body).message, JSON.parse(english.body).message);
  });

  test('an ETag still saves its owner the body, and tells nobody else anything', async () => {
    const { id } = (await service.post('/customer', validCustomer)).json();
    const path = `/api/v1/customers/${id}`;
    const { headers } = await ask(path, { ApiKey: service.tenant.key });
    const known = { 'If-None-Match': headers.get('etag')! };
    assert.equal((await ask(path, { ApiKey: service.tenant.key, ...known })).status, 304);
    const other = await service.createTenant();
    assert.equal((await ask(path, { ApiKey: other.key, ...known })).status, 404);
    assert.equal((await ask(path, known)).status, 401);
  });

  test("a replaced key is refused, and a change is seen, with the cache's next answer", async () => {
    const { key, tenantId } = await service.createTenant();
    const read = () => ask('/api/v1/customers', { ApiKey: key });
    assert.equal(JSON.parse((await read()).body).data.length, 0);
    await service.post('/customer', validCustomer, { headers: { apikey: key } });
    assert.equal(JSON.parse((await read()).body).data.length, 1);
    await createApiKey(service.owner, tenantId);
    assert.equal((await read()).status, 401);
  });

  test("a person's answers reach nobody else", async () => {
    const person = await createPerson(service);
    const mine = await ask('/app/session', { Cookie: person.cookie });
    assert.match(mine.body, /Anke Petersen/);
    assert.equal((await ask('/app/session')).status, 401);
    assert.equal(
      JSON.parse((await ask('/app/state', { Cookie: person.cookie })).body).me.person.id,
      person.id,
    );
    assert.equal(JSON.parse((await ask('/app/state')).body).me, null);
  });

  test('whether the service is ready is asked of the service', async () => {
    await ask('/readyz');
    assert.match((await ask('/readyz')).headers.get('x-varnish') ?? '', /^\d+$/);
  });
});
