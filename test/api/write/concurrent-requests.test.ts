// Requests that arrive at the same moment have the outcome of one order, the journal's. Random requests over a few objects are
// sent together, and those that were stored once more to a fresh business, one by one in that order.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { listen } from '../../helpers/raw-client.ts';
import { startService, validAddress, validCustomer } from '../../helpers/service.ts';
import { readStored } from '../../helpers/stored-by-name.ts';
import type { Answer } from '../import/import-client.ts';

// Requests of one process are written together, so two processes race.
const service = await startService();
const other = await startService({ connection: service.connection });
const ports = [await listen(service.app), await listen(other.app)];

interface Sent {
  method: 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** With "id of …" in place of the id of an object that was there at the start. */
  path: string;
  version?: number | undefined;
  body?: Record<string, unknown>;
}

interface Answered {
  status: number;
  requestId: string;
  /** Undefined for a deletion or a rejected request. */
  version: number | undefined;
  isChanged: boolean;
  body: Answer;
}

interface Business {
  key: string;
  ids: ReadonlyMap<string, string>;
}

async function send(
  { key, ids }: Business,
  { method, path, version, body }: Sent,
  port = ports[0],
): Promise<Answered> {
  const named = path.replace(/id of ([A-Z]-[0-9])/, (_, name) => ids.get(name)!);
  const response = await fetch(`http://127.0.0.1:${port}/api/v1${named}`, {
    method,
    headers: {
      apikey: key,
      ...(body && { 'content-type': 'application/json' }),
      ...(version !== undefined && { 'if-match': `"${version}"` }),
    },
    body: body ? JSON.stringify(body) : null,
  });
  const text = await response.text();
  const etag = response.headers.get('etag');
  return {
    status: response.status,
    requestId: response.headers.get('x-request-id')!,
    version: etag === null ? undefined : Number(JSON.parse(etag)),
    isChanged: response.ok && response.headers.get('stamm-changed') !== 'false',
    body: text === '' ? undefined : JSON.parse(text),
  };
}

function put(collection: string, externalId: string, body: Record<string, unknown>): Sent {
  return { method: 'PUT', path: `/${collection}/by-external-id/${externalId}`, body };
}

function siteBody(customerExternalId: string) {
  const site = { name: 'Lobby', address: validAddress, needsAppointment: true, hasKey: false };
  return { ...site, customerExternalId };
}

async function startBusiness(): Promise<Business> {
  const { key } = await service.createTenant();
  const business = { key, ids: new Map<string, string>() };
  for (const [collection, name, body] of [
    ['customers', 'K-1', { ...validCustomer, customerNumber: '1' }],
    ['customers', 'K-2', validCustomer],
    ['customers', 'M-1', validCustomer],
    ['sites', 'S-1', siteBody('K-1')],
  ] as const)
    business.ids.set(name, (await send(business, put(collection, name, body))).body.id);
  const merged = { ids: [business.ids.get('M-1')] };
  await send(business, { method: 'POST', path: '/customers/id of K-1/merge', body: merged });
  return business;
}

/** M-1 was merged into K-1, and its names find that. */
const customerName = fc.constantFrom('K-1', 'K-1', 'K-2', 'K-3', 'M-1');
const siteName = fc.constantFrom('S-1', 'S-2');
const comment = fc.constantFrom('first', 'second', 'third');
const version = fc.constantFrom(undefined, undefined, 1, 2);
const customerBody = fc
  .record({ comment, customerNumber: fc.constantFrom(undefined, '1', '2') })
  .map((fields) => ({ ...validCustomer, ...fields }));
const ownSite = fc.record({ comment, customer: customerName }).map(({ customer, ...fields }) => ({
  ...siteBody(customer),
  ...fields,
}));
const patchBody = fc.oneof(
  fc.record({ comment }),
  fc.record({ phone: fc.constantFrom('+49 40 1', '+49 40 2') }),
);
const place = fc.oneof(
  fc.constantFrom('customers/id of K-1', 'customers/id of M-1', 'customers/id of K-2', 'sites/id of S-1'),
  customerName.map((name) => `customers/by-external-id/${name}`),
  siteName.map((name) => `sites/by-external-id/${name}`),
);

const request: fc.Arbitrary<Sent> = fc.oneof(
  fc.record({ externalId: customerName, body: customerBody }).map(
    ({ externalId, body }): Sent => ({
      method: 'POST',
      path: '/customer',
      body: { ...body, externalId },
    }),
  ),
  fc.record({ externalId: siteName, body: ownSite }).map(
    ({ externalId, body }): Sent => ({
      method: 'POST',
      path: '/customer/site',
      body: { ...body, externalId },
    }),
  ),
  fc
    .record({ name: customerName, body: customerBody, version })
    .map(({ name, body, version }) => ({ ...put('customers', name, body), version })),
  fc
    .record({ name: siteName, body: ownSite, version })
    .map(({ name, body, version }) => ({ ...put('sites', name, body), version })),
  {
    weight: 4,
    arbitrary: fc
      .record({ place, body: patchBody, version })
      .map(({ place, ...rest }): Sent => ({ method: 'PATCH', path: `/${place}`, ...rest })),
  },
  fc.record({ place, version, isCascade: fc.boolean() }).map(
    ({ place, version, isCascade }): Sent => ({
      method: 'DELETE',
      path: `/${place}${isCascade ? '?cascade=true' : ''}`,
      version,
    }),
  ),
);

/** Each stored request has its own entries, once, and a rejected or idle one has none. Returns the place of the first. */
function demandEntries(answered: Answered, entries: readonly Answer[]): number | undefined {
  const { requestId, status, version, isChanged, body } = answered;
  const own = entries.filter((entry) => entry.requestId === requestId);
  if (!isChanged) {
    assert.deepEqual(own, [], `${status} wrote`);
    return undefined;
  }
  if (body?.deleted) {
    const ids = body.deleted.flatMap(({ ids }: { ids: string[] }) => ids);
    assert.deepEqual(
      own.map(({ action, id }) => [action, id]),
      ids.map((id: string) => ['DELETED', id]),
    );
  } else {
    assert.equal(own.length, 1, `${status} has ${own.length} entries`);
    if (status === 204) assert.equal(own[0].action, 'DELETED');
    else {
      assert.equal(own[0].id, body.id);
      assert.equal(own[0].version, version ?? 1);
      assert.equal(own[0].action, status === 201 ? 'CREATED' : 'CHANGED');
    }
  }
  return entries.indexOf(own[0]);
}

async function compare(requests: readonly Sent[]): Promise<void> {
  const together = await startBusiness();
  const answers = await Promise.all(requests.map((one, index) => send(together, one, ports[index % 2])));
  const { data: entries } = (
    await service.get('/changes?limit=500', { headers: { apikey: together.key } })
  ).json();
  const stored = requests
    .map((sent, index) => ({ sent, answered: answers[index]!, at: demandEntries(answers[index]!, entries) }))
    .filter(({ at }) => at !== undefined)
    .toSorted((one, other) => one.at! - other.at!);

  const inTurn = await startBusiness();
  const again: Answered[] = [];
  for (const { sent } of stored) again.push(await send(inTurn, sent));
  const outcomeOf = ({ status, version, isChanged }: Answered) => [status, version, isChanged];
  assert.deepEqual(
    again.map(outcomeOf),
    stored.map(({ answered }) => outcomeOf(answered)),
  );
  assert.deepEqual(await readStored(service, inTurn.key), await readStored(service, together.key));
}

test('random requests at the same moment have the outcome of their order in the journal', async () => {
  const requests = fc.array(request, { minLength: 8, maxLength: 16 });
  await fc.assert(
    fc.asyncProperty(requests, (some) => compare(some)),
    { numRuns: 8, endOnFailure: true },
  );
});
