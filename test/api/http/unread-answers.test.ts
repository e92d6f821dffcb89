// Clients that do not read their answers cost a bounded number of bytes, and are cut off in the end.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { after, test } from 'node:test';
import { listen } from '../../helpers/raw-client.ts';
import { startService, validSite } from '../../helpers/service.ts';
import { until } from '../../helpers/waiting.ts';

const service = await startService({ BODY_LIMIT_BYTES: 20_000_000 });
const { server } = service.app;
const port = await listen(service.app);
const sockets: Socket[] = [];
after(() => {
  for (const socket of sockets) socket.destroy();
});

async function createSites(key: string, sites: number, bytes: number): Promise<void> {
  const options = { headers: { apikey: key } };
  const customerId = await service.createCustomer({}, options);
  const openingHours = [{ note: 'x'.repeat(bytes) }];
  for (let site = 0; site < sites; site++) {
    const answer = await service.post('/customer/site', { ...validSite(customerId), openingHours }, options);
    assert.equal(answer.statusCode, 201);
  }
}

/** Sends a request and reads nothing. */
function askWithoutReading(path: string, key: string): Socket {
  const socket = connect({ host: '127.0.0.1', port }).pause();
  socket.on('error', () => {});
  socket.write(`GET /api/v1${path} HTTP/1.1\r\nHost: stamm.test\r\nApiKey: ${key}\r\n\r\n`);
  sockets.push(socket);
  return socket;
}

async function read(path: string, key: string): Promise<number> {
  return (await service.get(path, { headers: { apikey: key } })).statusCode;
}

async function connectionCount(): Promise<number> {
  return new Promise((resolve, reject) => {
    server.getConnections((error, count) => (error ? reject(error) : resolve(count)));
  });
}

// Each answer is more than the kernel takes for a connection.
const list = { path: '/sites', key: service.tenant.key, readers: 12, probe: '/sites' };
await createSites(list.key, 1, 9_000_000);
const exported = {
  path: '/sites.ndjson',
  key: (await service.createTenant()).key,
  readers: 40,
  probe: '/customers',
};
await createSites(exported.key, 10, 900_000);

for (const { path, key, readers, probe } of [list, exported]) {
  test(`a tenant with too many unread bytes of ${path} gets no more, and others do`, async () => {
    const other = await service.createTenant();
    const stalled = Array.from({ length: readers }, () => askWithoutReading(path, key));
    await until('too many bytes wait', async () => (await read(probe, key)) === 429);
    const refusal = await service.get(path, { headers: { apikey: key } });
    assert.equal(refusal.json().code, 'too_many_at_once');
    assert.equal(await read(path, other.key), 200);
    for (const socket of stalled) socket.destroy();
    await until('the bytes are free again', async () => (await read(path, key)) === 200);
  });

  test(`a connection whose client does not read ${path} is cut`, async () => {
    await until('nobody is connected', async () => (await connectionCount()) === 0);
    assert.ok(server.timeout >= 60_000);
    const usual = server.timeout;
    // Connections take the timeout when they begin.
    server.timeout = 2000;
    try {
      const connected = once(server, 'connection');
      askWithoutReading(path, key);
      await connected;
      await until('it is cut', async () => (await connectionCount()) === 0);
    } finally {
      server.timeout = usual;
    }
  });
}

test('a change that is stored is answered, however many bytes wait', async () => {
  const { key } = await service.createTenant();
  await createSites(key, 1, 9_000_000);
  const headers = { apikey: key };
  const [site] = (await service.get('/sites', { headers })).json().data;
  const stalled = Array.from({ length: 7 }, () => askWithoutReading('/sites', key));
  await until('there is no room for another answer', async () => (await read('/sites', key)) === 429);
  const changed = await service.patch(`/sites/${site.id}`, { comment: 'stored' }, { headers });
  assert.deepEqual([changed.statusCode, changed.json().comment], [200, 'stored']);
  for (const socket of stalled) socket.destroy();
});
