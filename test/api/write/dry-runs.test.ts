// Every writing operation of the document: a dry run answers what the write would, says so, and stores nothing.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import document from '../../../generated/openapi.json' with { type: 'json' };
import { resources } from '../../../server/resources/index.ts';
import { fullBody, uncrowded } from '../../helpers/full-body.ts';
import type { Method } from '../../helpers/office.ts';
import { startService } from '../../helpers/service.ts';

const service = await startService({ WEBHOOK_ALLOW_PRIVATE: true });
const { app, owner, tenant, post } = service;

const ids: Record<string, string> = {};
const bodies: Record<string, object> = {};

async function create(path: string, body: object): Promise<string> {
  const response = await post(path, body);
  assert.equal(response.statusCode, 201, response.body);
  return response.json().id;
}

/** Two objects that can be merged, and a deleted one, of each resource. */
for (const definition of resources) {
  const full = fullBody(definition, (resource) => ids[resource]!);
  const own = (name: string) => ({
    ...full,
    ...Object.fromEntries(definition.uniqueFields.map((field) => [field, name])),
    ...(name !== 'new' && uncrowded(definition)),
  });
  bodies[definition.name] = own('new');
  ids[definition.name] = await create(definition.path, own('stays'));
  ids[`other ${definition.name}`] = await create(definition.path, own('other'));
  const deleted = await create(definition.path, own('deleted'));
  await service.delete(`/${definition.collection}/${deleted}`);
  ids[`deleted ${definition.name}`] = deleted;
}
const webhookId = await create('/webhooks', { url: 'http://127.0.0.1:9/hook' });

interface Sent {
  path: string;
  body?: object;
}

/** A request that the operation accepts, with a field that is not known where it has a body. */
function requestOf(method: string, path: string): Sent {
  const unknown = { notKnown: 1 };
  if (path === '/webhooks') return { path, body: { url: 'http://127.0.0.1:9/other', ...unknown } };
  if (path.startsWith('/webhooks/'))
    return {
      path: `/webhooks/${webhookId}`,
      ...(method === 'PATCH' && { body: { actions: ['DELETED'], ...unknown } }),
    };
  if (path.startsWith('/personal-data/')) return { path: `/personal-data/${ids['other employee']}` };
  const definition = resources.find((one) => path === one.path || path.split('/')[1] === one.collection)!;
  const { name, collection } = definition;
  if (method === 'POST' && path === definition.path) return { path, body: { ...bodies[name], ...unknown } };
  if (path.endsWith('/restore')) return { path: `/${collection}/${ids[`deleted ${name}`]}/restore` };
  if (path.endsWith('/merge'))
    return { path: `/${collection}/${ids[name]}/merge`, body: { ids: [ids[`other ${name}`]], ...unknown } };
  const one = path.includes('by-external-id') ? 'by-external-id/other' : ids[`other ${name}`];
  const address = `/${collection}/${one}`;
  if (method === 'DELETE') return { path: `${address}?cascade=true` };
  const { externalId: _own, ...body } = bodies[name] as { externalId: string };
  return { path: address, body: { ...body, ...unknown } };
}

function send(method: string, { path, body }: Sent, isDryRun: boolean) {
  const url = `/api/v1${path}${isDryRun ? `${path.includes('?') ? '&' : '?'}dryRun=true` : ''}`;
  const headers = { apikey: tenant.key, ...(body && { 'content-type': 'application/json' }) };
  return app.inject({
    method: method as Method,
    url,
    headers,
    ...(body && { payload: JSON.stringify(body) }),
  });
}

/** Counters of requests, and what the service notes about calls. */
const aboutCalls = ['api_key', 'ended_key_use', 'recorded_request', 'request_hour', 'request_window'];

async function storedRows(): Promise<Record<string, string>> {
  const { rows: tables } = await owner.query<{ name: string }>(
    `SELECT table_name AS name FROM information_schema.columns
     WHERE table_schema = 'public' AND column_name = 'tenant_id'`,
  );
  const texts = tables
    .filter(({ name }) => !aboutCalls.includes(name))
    .map(
      ({ name }) =>
        `SELECT '${name}' AS name, md5(coalesce(string_agg(row::text, ',' ORDER BY row::text), '')) AS rows FROM ${name} AS row`,
    );
  const { rows } = await owner.query<{ name: string; rows: string }>(texts.join(' UNION ALL '));
  return Object.fromEntries(rows.map(({ name, rows: digest }) => [name, digest]));
}

interface Operation {
  operationId: string;
  description: string;
  parameters?: ({ $ref: string } | { name: string })[];
}

const writing = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods as unknown as Record<string, Operation>)
    .filter(([method]) => method !== 'get')
    .map(([method, operation]) => ({
      method: method.toUpperCase(),
      path: path.slice('/api/v1'.length),
      operation,
    })),
);

function takesDryRun({ parameters = [] }: Operation): boolean {
  return parameters.some((one) => ('$ref' in one ? one.$ref.endsWith('/DryRun') : one.name === 'dryRun'));
}

test('an operation without a dry run says why', () => {
  const without = writing.filter(({ operation }) => !takesDryRun(operation));
  for (const { operation } of without)
    assert.match(operation.description, /no dry run/, operation.operationId);
  assert.deepEqual(
    without.map(({ operation }) => operation.operationId),
    ['testWebhook'],
  );
});

for (const { method, path, operation } of writing) {
  // An import answers line by line: import.test.ts.
  if (!takesDryRun(operation) || path === '/import') continue;
  test(`${operation.operationId}: a dry run is answered as everywhere, and stores nothing`, async () => {
    const request = requestOf(method, path);
    const before = await storedRows();
    const tried = await send(method, request, true);
    assert.equal(tried.statusCode, 200, tried.body);
    const { dryRun, attention, ignoredFields } = tried.json();
    assert.equal(dryRun, true);
    assert.ok(Array.isArray(attention), tried.body);
    assert.deepEqual(ignoredFields, request.body ? ['notKnown'] : []);
    assert.deepEqual(await storedRows(), before);
  });

  test(`${operation.operationId}: a dry run is rejected as the write is`, async () => {
    if (!path.includes('{id}')) return;
    const strange = { ...requestOf(method, path), path: path.replace('{id}', randomUUID()) };
    const [tried, written] = [await send(method, strange, true), await send(method, strange, false)];
    const withoutId = (body: string) => ({ ...JSON.parse(body), requestId: '' });
    assert.deepEqual([tried.statusCode, withoutId(tried.body)], [404, withoutId(written.body)]);
  });
}

test('a dry run of a deletion, a restoration and a merge answers what the call does', async () => {
  const expect = async (method: string, request: Sent, attention: unknown[]) => {
    const tried = (await send(method, request, true)).json();
    const written = (await send(method, request, false)).json();
    assert.deepEqual(tried, { ...written, dryRun: true, attention, ignoredFields: [] });
  };
  const loner = await service.createCustomer({ companyName: 'Allein' });
  await expect('DELETE', { path: `/customers/${loner}?cascade=true` }, []);
  await expect('POST', { path: `/customers/${loner}/restore` }, []);
  const twin = await service.createCustomer({ companyName: 'Allein' });
  const noticed = (
    await send('POST', { path: `/customers/${twin}/merge`, body: { ids: [loner] } }, true)
  ).json();
  assert.deepEqual([noticed.merged, noticed.attention], [[loner], []], 'they are no duplicates any more');
  await service.delete(`/customers/${loner}`);
  const restored = (await send('POST', { path: `/customers/${loner}/restore` }, true)).json();
  assert.deepEqual(
    restored.attention.map(({ code }: { code: string }) => code),
    ['probable_duplicate'],
  );
});
