// The record of API calls as the office sees it.
import assert from 'node:assert/strict';
import { randomUUIDv7 } from 'node:crypto';
import { test } from 'node:test';
import { trimRecordedCalls } from '../../../server/features/call-log/recorded-calls.ts';
import { noTriggers, skipOnCluster } from '../../helpers/cluster.ts';
import { createPerson, type OfficePerson } from '../../helpers/office.ts';
import { startService, type TestService, validCustomer, validSite } from '../../helpers/service.ts';
import { until } from '../../helpers/waiting.ts';

const service = await startService();
const { owner } = service;

/** Waits until the calls before it are recorded, which takes about a second. */
async function recorded(
  person: OfficePerson,
  path = '/requests',
  isComplete = (data: Call[]) => data.length > 0,
) {
  let data: Call[] = [];
  await until('the calls are recorded', async () => {
    const response = await person.call('GET', path);
    assert.equal(response.statusCode, 200, response.body);
    ({ data } = response.json());
    return isComplete(data);
  });
  return data;
}

/** Calls meanwhile fall within two writes, however long they take. */
async function whileTheRecordWaits({ owner }: TestService, work: () => Promise<unknown>): Promise<void> {
  await owner.query('BEGIN; LOCK TABLE recorded_request');
  await work();
  await owner.query('COMMIT');
}

interface Call {
  id: string;
  at: string;
  method: string;
  path: string;
  status: number;
  code: string | null;
  errors: { field: string; code: string; message: string }[];
  ignoredFields: string[];
  hasBody: boolean;
  [name: string]: unknown;
}

/** Over all hours: calls that are sent together may fall into two of them. */
function sumOf(hours: readonly Record<string, unknown>[], name: string): number {
  return hours.reduce((sum, hour) => sum + Number(hour[name]), 0);
}

async function createBusiness(on: TestService = service) {
  const { tenantId, key } = await on.createTenant('Blatt & Co.');
  const person = await createPerson(on, { tenantId, name: 'Vera' });
  return { tenantId, person, asKey: { headers: { apikey: key, 'user-agent': 'ERP/1.0' } } };
}

test('a key that a client puts into a path, a user agent, a name or a body is not recorded', async () => {
  const { person, asKey, tenantId } = await createBusiness();
  const { apikey: key } = asKey.headers;
  const headers = { apikey: key, 'user-agent': `ERP ${key}` };
  await service.get(`/customers/${key}`, { headers });
  await service.post('/customer', { [key]: key, companyName: '', comment: key }, { headers });
  const data = await recorded(person, '/requests', (calls) => calls.length === 2);
  assert.ok(data.every(({ userAgent }) => userAgent === 'ERP stamm_…'));
  const { rows } = await owner.query('SELECT * FROM recorded_request WHERE tenant_id = $1', [tenantId]);
  assert.equal(rows.length, 2);
  assert.ok(!JSON.stringify(rows).includes(key.slice(8, 30)), JSON.stringify(rows));
});

test('calls are recorded with what became of them: stored, refused, ignored, unknown, failed', async () => {
  const { person, asKey } = await createBusiness();
  const ids: unknown[] = [];
  const send = async (call: Promise<{ headers: Record<string, unknown> }>) => {
    ids.push((await call).headers['x-request-id']);
  };
  await send(service.post('/customer?secret=query', validCustomer, asKey));
  await send(service.post('/customer', { ...validCustomer, adress: 'x' }, asKey));
  await send(service.post('/customer', { companyName: '', address: { zipCode: 5 } }, asKey));
  await send(service.get('/nothing', asKey));
  await owner.query('ALTER TABLE customer ADD CONSTRAINT broken CHECK (false) NOT VALID');
  await send(service.post('/customer', validCustomer, asKey));
  await owner.query('ALTER TABLE customer DROP CONSTRAINT broken');
  const data = await recorded(person, '/requests', (calls) => calls.length === 5);
  const byId = new Map(data.map((call) => [call.id, call]));
  assert.deepEqual(
    ids.map((id) => byId.get(String(id))).map((call) => [call!.status, call!.code, call!.hasBody]),
    [
      [201, null, false],
      [201, null, false],
      [400, 'validation_failed', true],
      [403, 'not_recognised', false],
      [500, 'internal_error', false],
    ],
  );
  assert.deepEqual(
    [...data].sort((one, other) => (one.id < other.id ? 1 : -1)),
    data,
    'the newest first',
  );
  const [stored, ignored, refused] = ids.map((id) => byId.get(String(id))!);
  assert.deepEqual(ignored!.ignoredFields, ['adress']);
  const { at, durationMs, id: _id, ...rest } = stored!;
  assert.deepEqual(rest, {
    method: 'POST',
    path: '/api/v1/customer',
    status: 201,
    userAgent: 'ERP/1.0',
    address: '127.0.0.1',
    code: null,
    message: null,
    errors: [],
    ignoredFields: [],
    hasBody: false,
    isCorrected: false,
  });
  assert.ok(Math.abs(Date.parse(at) - Date.now()) < 3_600_000);
  assert.ok(Number(durationMs) > 0);
  assert.deepEqual(refused!.errors.map(({ field, code }) => `${field}: ${code}`).sort(), [
    'address.city: required',
    'address.houseNumber: required',
    'address.streetName: required',
    'address.zipCode: type',
    'companyName: blank',
  ]);
});

test('messages come in the language of the reader', async () => {
  const { person, asKey } = await createBusiness();
  await service.post('/customer', { ...validCustomer, companyName: '' }, asKey);
  await recorded(person);
  const response = await person.call('GET', '/requests', undefined, { headers: { 'accept-language': 'de' } });
  assert.match(response.json().data[0].errors[0].message, /^Darf nicht leer sein/);
});

test('a refused body is shown without personal data, or in full on request, which is logged', async () => {
  const { person, asKey } = await createBusiness();
  const body = {
    ...validSite('0198c0de-0000-7000-8000-00000000000f'),
    comment: 'Frau Geheim hat den Schlüssel',
    address: {
      streetName: 'Geheimweg',
      houseNumber: '4',
      zipCode: '20095',
      city: 'Hamburg',
      location: { lat: 53.5 },
    },
    callOutFee: 24.9,
    validFrom: '2026-01-01',
    typo: { phone: 4_912_345_678, mail: 'geheim@x.example' },
    openingHours: [{ note: 'Geheim' }],
    hasKey: 'Frau Geheim',
    validUntil: 'Geheim',
  };
  const sent = JSON.stringify(body);
  await service.post('/customer/site', sent, asKey);
  const [call] = await recorded(person);
  const masked = (await person.call('GET', `/requests/${call!.id}`)).json();
  assert.ok(!/geheim|4912|53\.5|Hamburg/i.test(masked.body), masked.body);
  assert.deepEqual(JSON.parse(masked.body), {
    ...body,
    name: '•••',
    comment: '•••',
    address: {
      streetName: '•••',
      houseNumber: '•••',
      zipCode: '•••',
      city: '•••',
      location: { lat: '•••' },
    },
    typo: { phone: '•••', mail: '•••' },
    openingHours: [{ note: '•••' }],
    hasKey: '•••',
    validUntil: '•••',
  });
  assert.ok(!service.logLines.some((line) => line.includes('recorded body revealed')));
  const revealed = (await person.call('GET', `/requests/${call!.id}?reveal=true`)).json();
  assert.equal(revealed.body, sent);
  const line = service.logLines.find((one) => one.includes('recorded body revealed'))!;
  assert.ok(line.includes(person.id) && line.includes(call!.id));
});

test('a body of more than 16 KiB is not kept, and neither is one that was stored', async () => {
  const { person, tenantId, asKey } = await createBusiness();
  await service.post('/customer', { ...validCustomer, companyName: '', typo: 'x'.repeat(17_000) }, asKey);
  await service.post('/customer', validCustomer, asKey);
  const data = await recorded(person, '/requests', (calls) => calls.length === 2);
  assert.deepEqual(
    data.map(({ hasBody }) => hasBody),
    [false, false],
  );
  const { rows } = await owner.query('SELECT body FROM recorded_request WHERE tenant_id = $1', [tenantId]);
  assert.deepEqual(rows, [{ body: null }, { body: null }]);
});

test('a call with any content is recorded, and its neighbours too', async () => {
  const { person, asKey } = await createBusiness();
  await service.post(
    '/customer',
    '{"companyName":"a\\u0000b","\\ud800":1,"x\\u0000y":1,"address":{}}',
    asKey,
  );
  await service.get('/sites/%00%ff', { headers: { ...asKey.headers, 'user-agent': 'Ä\u0080ÿ'.repeat(300) } });
  await service.post('/customer', '{"companyName":'.repeat(10), asKey);
  await service.post('/customer', `{"companyName":${'['.repeat(7000)}${']'.repeat(7000)}}`, asKey);
  const data = await recorded(person, '/requests', (calls) => calls.length === 4);
  for (const { id, hasBody } of data) {
    const response = await person.call('GET', `/requests/${id}`);
    assert.equal(response.statusCode, 200);
    assert.equal(response.json().body !== null, hasBody);
  }
});

test('the list is filtered and paged', async () => {
  const { person, asKey } = await createBusiness();
  for (let count = 0; count < 3; count++) await service.post('/customer', validCustomer, asKey);
  await service.post('/customer', { ...validCustomer, companyName: '' }, asKey);
  await service.post('/product', { name: 'x', kind: 'nothing' }, asKey);
  await recorded(person, '/requests', (calls) => calls.length === 5);
  const count = async (query: string) => {
    const response = await person.call('GET', `/requests?${query}`);
    assert.equal(response.statusCode, 200, response.body);
    return response.json().data.length;
  };
  assert.equal(await count('status=ok'), 3);
  assert.equal(await count('status=refused'), 2);
  assert.equal(await count('status=failed'), 0);
  assert.equal(await count('method=post'), 5);
  assert.equal(await count('method=GET'), 0);
  assert.equal(await count('path=PRODUCT'), 1);
  assert.equal(await count('field=companyName'), 1);
  assert.equal(await count('code=invalid_choice'), 1);
  assert.equal(await count('code=validation_failed&field=kind'), 1);
  const now = Date.now();
  const at = (shiftMs: number) => new Date(now + shiftMs).toISOString();
  const hour = 3_600_000;
  assert.equal(await count(`from=${at(-hour)}&until=${at(hour)}`), 5);
  assert.equal(await count(`from=${at(hour)}`), 0);
  assert.equal(await count(`until=${at(-hour)}`), 0);
  const seen: string[] = [];
  for (let cursor = ''; ; ) {
    const page = (await person.call('GET', `/requests?limit=2${cursor}`)).json();
    seen.push(...page.data.map(({ id }: Call) => id));
    if (page.nextCursor === null) break;
    cursor = `&cursor=${page.nextCursor}`;
  }
  assert.equal(new Set(seen).size, 5);
  assert.equal(seen.length, 5);
  for (const query of [
    'status=x',
    'limit=0',
    'cursor=x',
    'from=yesterday',
    'nothing=1',
    'path=%00',
    'path=a&path=b',
  ]) {
    assert.equal((await person.call('GET', `/requests?${query}`)).statusCode, 400, query);
  }
});

test('errors are grouped by field, and calls counted by the hour', async () => {
  const { person, asKey } = await createBusiness();
  const noName = { ...validCustomer, companyName: '' };
  for (let count = 0; count < 3; count++) await service.post('/customer', noName, asKey);
  await service.post('/customer', { ...noName, address: { ...validCustomer.address, city: 5 } }, asKey);
  await service.get('/sites/nothing', asKey);
  await service.get('/sites', asKey);
  await recorded(person, '/requests', (calls) => calls.length === 6);
  const groups = (await person.call('GET', '/requests/groups')).json().data;
  assert.deepEqual(
    groups.map(({ method, path, field, code, count }: Record<string, unknown>) => [
      method,
      path,
      field,
      code,
      count,
    ]),
    [
      ['POST', '/api/v1/customer', 'companyName', 'blank', 4],
      ['GET', '/api/v1/sites/:id', null, 'not_found', 1],
      ['POST', '/api/v1/customer', 'address.city', 'type', 1],
    ],
  );
  assert.equal(groups[2].message, 'Must be of type string.');
  const hours = (await person.call('GET', '/requests/hours')).json().data;
  const names = ['requests', 'refusals', 'failures', 'unrecorded'];
  assert.deepEqual(
    names.map((name) => sumOf(hours, name)),
    [6, 5, 0, 0],
  );
  assert.ok(hours.every(({ hour }: { hour: string }) => /:00:00\.000Z$/.test(hour)));
});

test("another business's calls are neither listed nor found", async () => {
  const [one, other] = [await createBusiness(), await createBusiness()];
  await service.post('/customer', { companyName: '' }, one.asKey);
  const [call] = await recorded(one.person);
  for (const path of ['/requests', '/requests/groups', '/requests/hours']) {
    assert.deepEqual((await other.person.call('GET', path)).json().data, [], path);
  }
  for (const query of ['', '?reveal=true']) {
    assert.equal((await other.person.call('GET', `/requests/${call!.id}${query}`)).statusCode, 404);
  }
  assert.equal((await one.person.call('GET', '/requests/x')).statusCode, 404);
});

test('calls without a valid key, and those of the web app, are no calls of the business', async () => {
  const { person, asKey, tenantId } = await createBusiness();
  await service.get('/sites', { headers: { apikey: 'stamm_x' } });
  await person.call('GET', '/sites');
  await service.get('/sites', asKey);
  await recorded(person);
  const { rowCount } = await owner.query('SELECT FROM recorded_request WHERE tenant_id = $1', [tenantId]);
  assert.equal(rowCount, 1);
});

test('a person that is erased is in no recorded body or path, also where a process still held it', async () => {
  const { person, tenantId, asKey } = await createBusiness();
  const customerId = await service.createCustomer({}, asKey);
  const body = { customerId, lastName: 'Unverwechselbar', externalId: 'UV-1', email: 'uv@x.example' };
  const contact = (await service.post('/customer/contact-person', body, asKey)).json().id;
  await service.post('/customer/contact-person', { ...body, language: 'fr' }, asKey);
  await service.put('/contact-persons/by-external-id/Unverwechselbar', { ...body, customerId: 'x' }, asKey);
  await recorded(person, '/requests', (calls) => calls.length === 4);
  // This one is still in the memory of the process when the person is erased.
  await service.post('/customer/contact-person', { ...body, language: 'fr' }, asKey);
  const erasure = await service.delete(`/personal-data/${contact}`, asKey);
  assert.equal(erasure.statusCode, 204, erasure.body);
  const data = await recorded(person, '/requests', (calls) => calls.length === 6);
  assert.deepEqual(
    data.map(({ hasBody }) => hasBody),
    Array(6).fill(false),
  );
  const { rows } = await owner.query(
    'SELECT to_jsonb(kept)::text AS text FROM recorded_request AS kept WHERE tenant_id = $1',
    [tenantId],
  );
  assert.equal(rows.length, 6);
  for (const { text } of rows) assert.doesNotMatch(text, /Unverwechselbar|UV-1|uv@/);
});

test('the record is bounded: the newest rows and bodies of each tenant stay, for 30 days', async () => {
  const { tenantId } = await createBusiness();
  await owner.query(
    `INSERT INTO recorded_request (tenant_id, id, method, route, path, status, duration_ms, address, user_agent, body)
     SELECT $1, (lpad(to_hex((extract(epoch FROM now()) * 1000)::bigint - 200000 + n), 12, '0') || '70008000' || lpad(to_hex(n), 12, '0'))::uuid,
       'POST', '/x', '/x', 400, 1, '', '', CASE WHEN n % 20 = 0 THEN '{}' END FROM generate_series(1, 101000) AS n`,
    [tenantId],
  );
  await owner.query(
    `INSERT INTO recorded_request (tenant_id, id, method, route, path, status, duration_ms, address, user_agent)
     VALUES ($1, '01900000-0000-7000-8000-000000000000', 'GET', '/old', '/old', 200, 1, '', '')`,
    [tenantId],
  );
  await owner.query(
    `INSERT INTO request_hour VALUES ($1, now(), 1, 1, 0, 0), ($1, now() - interval '40 days', 1, 0, 0, 0)`,
    [tenantId],
  );
  const count = async () =>
    (
      await owner.query(
        `SELECT count(*)::integer AS rows, count(body)::integer AS bodies, max(id::text) AS newest
         FROM recorded_request WHERE tenant_id = $1`,
        [tenantId],
      )
    ).rows[0];
  const { newest } = await count();
  await trimRecordedCalls(service.database, 30);
  assert.deepEqual(await count(), { rows: 100_000, bodies: 2000, newest });
  const hours = await owner.query('SELECT FROM request_hour WHERE tenant_id = $1', [tenantId]);
  assert.equal(hours.rowCount, 1);
});

test('more calls than can be recorded are counted, and nobody waits for them', async () => {
  const limited = await startService({ RATE_LIMIT_PER_MINUTE: 1 });
  const person = await createPerson(limited);
  await whileTheRecordWaits(limited, () =>
    Promise.all(Array.from({ length: 40 }, () => limited.get('/sites'))),
  );
  const hours = await recorded(person, '/requests/hours', (data) => sumOf(data, 'requests') === 40);
  assert.equal(sumOf(hours, 'refusals'), 39);
  const { data } = (await person.call('GET', '/requests?limit=500')).json();
  assert.equal(data.length + sumOf(hours, 'unrecorded'), 40);
  assert.ok(sumOf(hours, 'unrecorded') > 0);
});

test('of calls that succeed some are recorded and all are counted, and of refused ones each is recorded', async () => {
  const busy = await startService();
  const person = await createPerson(busy);
  const id = await busy.createCustomer();
  // Few enough in parallel.
  const rounds = 2;
  const together = 400;
  await whileTheRecordWaits(busy, async () => {
    for (let round = 0; round < rounds; round++)
      await Promise.all(Array.from({ length: together }, () => busy.get(`/customers/${id}`)));
  });
  const served = 1 + rounds * together;
  await Promise.all(Array.from({ length: 20 }, () => busy.get('/sites?limit=0')));
  const isComplete = (data: Call[]) => sumOf(data, 'requests') === served + 20;
  const hours = await recorded(person, '/requests/hours', isComplete);
  const unrecorded = sumOf(hours, 'unrecorded');
  assert.ok(unrecorded >= 50, `${unrecorded} are counted only`);
  const { rows } = await busy.owner.query(
    'SELECT count(*) FILTER (WHERE status < 400)::integer AS ok, count(*) FILTER (WHERE status = 400)::integer AS refused FROM recorded_request',
  );
  assert.deepEqual(rows, [{ ok: served - unrecorded, refused: 20 }]);
});

test('while the record cannot be written the API answers, and the calls are counted afterwards', {
  skip: skipOnCluster(noTriggers),
}, async () => {
  const { person, asKey } = await createBusiness();
  // A sequence counts on where a transaction is undone.
  await owner.query(`CREATE SEQUENCE refused_write;
    CREATE FUNCTION refuse_write() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS
      $$ BEGIN PERFORM nextval('refused_write'); RAISE 'no room'; END $$;
    CREATE TRIGGER refuse_write BEFORE INSERT ON recorded_request EXECUTE FUNCTION refuse_write()`);
  assert.equal((await service.get('/sites', asKey)).statusCode, 200);
  await until('a write is refused', async () => {
    const { rows } = await owner.query('SELECT is_called FROM refused_write');
    return rows[0].is_called;
  });
  assert.equal((await service.get('/sites', asKey)).statusCode, 200);
  await owner.query('DROP TRIGGER refuse_write ON recorded_request');
  const hours = await recorded(person, '/requests/hours', (data) => sumOf(data, 'requests') === 2);
  assert.ok(sumOf(hours, 'unrecorded') >= 1);
});

test('calls that another process served are in the list, and only in that of their own business', async () => {
  const second = await startService({ connection: service.connection });
  const [one, other] = [await createBusiness(), await createBusiness()];
  const created = await second.post('/customer', { companyName: '' }, one.asKey);
  const data = await recorded(one.person, '/requests?limit=50', (calls) => calls.length === 1);
  assert.equal(data[0]!.id, created.headers['x-request-id']);
  assert.equal(data[0]!.status, 400);
  assert.deepEqual((await other.person.call('GET', '/requests?limit=50')).json().data, []);
});

test('a code that only another version knows is shown as it is, and ends neither list nor process', async () => {
  const own = await startService();
  const { person, asKey, tenantId } = await createBusiness(own);
  await own.owner.query(
    `INSERT INTO recorded_request (tenant_id, id, method, route, path, status, duration_ms, address, user_agent, code, errors)
     VALUES ($1, $2, 'GET', '', '/api/v1/new', 418, 1, '', '', 'of_tomorrow', '[{"field": "x", "code": "toString"}]')`,
    [tenantId, randomUUIDv7()],
  );
  await own.get('/sites', asKey);
  const data = await recorded(person, '/requests', (calls) => calls.length === 2);
  assert.equal(data[1]!.message, 'of_tomorrow');
  assert.deepEqual(data[1]!.errors, [{ field: 'x', code: 'toString', message: 'toString' }]);
  assert.equal((await person.call('GET', '/requests/groups')).statusCode, 200);
});

test('the checklist follows what happened', async () => {
  const fresh = await startService();
  const person = await createPerson(fresh);
  const read = async () => (await person.call('GET', '/checklist')).json();
  assert.deepEqual(await read(), {
    hasKey: true,
    hasCopiedCall: false,
    firstRequest: null,
    hasImport: false,
    hasColleague: false,
    isDismissed: false,
  });
  assert.equal(
    (await person.call('PATCH', '/checklist', { hasCopiedCall: true })).json().hasCopiedCall,
    true,
  );
  await fresh.post('/customer', validCustomer);
  await recorded(person);
  const { at, ...first } = (await read()).firstRequest;
  assert.deepEqual(first, { method: 'POST', path: '/api/v1/customer', status: 201 });
  assert.ok(at);
  await fresh.owner.query('DELETE FROM recorded_request');
  assert.equal((await read()).firstRequest.at, at, 'also when the record has forgotten it');
  const address = await fresh.app.listen({ host: '127.0.0.1', port: 0 });
  const imported = await fetch(`${address}/app/import`, {
    method: 'POST',
    headers: { cookie: person.cookie, origin: address, 'content-type': 'application/x-ndjson' },
    body: `{"type":"customer","data":${JSON.stringify(validCustomer)}}\n`,
  });
  assert.match(await imported.text(), /"created":1/);
  await until('the import is noted', async () => (await read()).hasImport);
  await person.call('POST', '/invitations', { email: 'a@b.example', role: 'PFLEGE' });
  await person.call('PATCH', '/checklist', { isDismissed: true });
  const done = await read();
  assert.deepEqual(
    [done.hasCopiedCall, done.hasImport, done.hasColleague, done.isDismissed],
    [true, true, true, true],
  );
  assert.equal((await person.call('PATCH', '/checklist', { isDismissed: false })).statusCode, 400);
});

test('the first request of a checklist names nobody, since nothing erases it', async () => {
  const { person, asKey } = await createBusiness();
  await service.put('/contact-persons/by-external-id/max.mustermann', {}, asKey);
  await recorded(person);
  const { firstRequest } = (await person.call('GET', '/checklist')).json();
  assert.equal(firstRequest.path, '/api/v1/contact-persons/by-external-id/:externalId');
});

test('the map shows single sites by name and close ones as a number, within its view only', async () => {
  const { person, asKey, tenantId } = await createBusiness();
  const pflege = await createPerson(service, { tenantId, role: 'PFLEGE' });
  const customerId = await service.createCustomer({}, asKey);
  const place = async (name: string, lat: number, lng: number) => {
    const address = { ...validCustomer.address, location: { lat, lng } };
    const response = await service.post('/customer/site', { ...validSite(customerId), name, address }, asKey);
    assert.equal(response.statusCode, 201, response.body);
    return response.json().id;
  };
  const alster = await place('Alster', 53.56, 10.0);
  await place('Elbe', 53.54, 10.01);
  await place('Fiji', -17.8, 178.5);
  const view = async (query: string) => {
    const response = await pflege.call('GET', `/map?${query}`);
    assert.equal(response.statusCode, 200, response.body);
    return response.json().clusters as { count: number; id?: string; name?: string }[];
  };
  const near = await view('west=9&south=53&east=11&north=54&zoom=14');
  assert.deepEqual(near.map(({ name }) => name).sort(), ['Alster', 'Elbe']);
  assert.ok(near.some(({ id }) => id === alster));
  const far = await view('west=-180&south=-90&east=180&north=90&zoom=2');
  assert.deepEqual(far.map(({ count, name }) => [count, name]).sort(), [
    [1, 'Fiji'],
    [2, undefined],
  ]);
  assert.equal((await view('west=170&south=-30&east=-170&north=0&zoom=5')).length, 1, 'over the date line');
  for (const query of [
    'west=9',
    'west=a&south=53&east=11&north=54&zoom=3',
    'west=-999&south=53&east=11&north=54&zoom=3',
  ]) {
    assert.equal((await person.call('GET', `/map?${query}`)).statusCode, 400, query);
  }
});
