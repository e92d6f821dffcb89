// Guessing stays limited, and no stranger keeps an owner out.
import assert from 'node:assert/strict';
import crypto, { randomUUID } from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import { test } from 'node:test';
import { changeOwnDetails } from '../../../server/access/people.ts';
import { callOffice, createPerson, deviceCookieOf, password } from '../../helpers/office.ts';
import { startService } from '../../helpers/service.ts';

const proxied = await startService({ TRUST_PROXY: ['127.0.0.1'] });
/** Behind a proxy that nobody has named: all requests come from one address. */
const unnamed = await startService();

const from = (address: string, cookie = '') => ({ headers: { 'x-forwarded-for': address, cookie } });

function attempt(email: string, address: string, { typed = password, cookie = '', on = proxied } = {}) {
  return callOffice(on.app, 'POST', '/session', { email, password: typed }, from(address, cookie));
}

const guess = (email: string, address: string, cookie = '') =>
  attempt(email, address, { typed: 'guess guess', cookie });

/** An owner who has signed in from this network before. */
async function createOwner(address: string, on = proxied) {
  const { email, call } = await createPerson(on);
  const response = await attempt(email, address, { on });
  return { email, call, device: deviceCookieOf(response) };
}

test('a thousand wrong guesses from many networks, and from the own, never stop the owner', async () => {
  const office = '192.0.2.10';
  const { email, device } = await createOwner(office);
  for (const half of [0, 1]) {
    const statuses = await Promise.all(
      Array.from({ length: 450 }, async (_, index) => {
        const address = `10.${half}.${index >> 8}.${index & 255}`;
        return (await guess(email, address)).statusCode;
      }),
    );
    assert.ok(
      statuses.every((status) => status === 401 || status === 429),
      String(new Set(statuses)),
    );
  }
  for (let count = 0; count < 10; count++) {
    await Promise.all(Array.from({ length: 10 }, () => guess(email, office)));
  }
  assert.equal((await attempt(email, office, { cookie: device })).statusCode, 200, 'with the device cookie');
  assert.equal((await attempt(email, '198.51.100.7')).statusCode, 200, 'from another network without it');
  const stranger = await attempt(email, office);
  assert.equal(stranger.json().code, 'too_many_sign_ins', 'no further guess from that network');
});

test('behind a proxy that nobody has named, a hundred invented addresses lock nobody who was there before', async () => {
  const { email, device } = await createOwner('', unnamed);
  for (let count = 0; count < 6; count++) {
    await Promise.all(
      Array.from({ length: 20 }, () =>
        attempt(`${randomUUID()}@nobody.example`, '', { typed: 'guess guess', on: unnamed }),
      ),
    );
  }
  const invented = await attempt(`${randomUUID()}@nobody.example`, '', { on: unnamed });
  assert.equal(invented.statusCode, 429);
  assert.equal((await attempt(email, '', { cookie: device, on: unnamed })).statusCode, 200);
});

test('a device cookie is good for its own address only, and ends when the password changes', async () => {
  const network = '192.0.2.20';
  const [one, other] = [await createOwner(network), await createOwner(network)];
  for (let count = 0; count < 10; count++) await guess(one.email, network);
  const [name] = one.device.split('=');
  const [, token] = other.device.split('=');
  const planted = await attempt(one.email, network, { cookie: `${name}=${token}` });
  assert.equal(planted.statusCode, 429);
  const both = await attempt(one.email, network, { cookie: `${one.device}; ${name}=${token}` });
  assert.equal(both.statusCode, 429, 'of two cookies neither counts');
  const newPassword = 'vier Rosen im Garten';
  const changed = await one.call('POST', '/password', { currentPassword: password, newPassword });
  assert.equal(changed.statusCode, 204, changed.body);
  const known = (cookie: string) => attempt(one.email, network, { typed: newPassword, cookie });
  assert.equal((await known(one.device)).statusCode, 429);
  assert.equal((await known(deviceCookieOf(changed))).statusCode, 200);
});

test('a device has a limit of its own, which stops nobody else', async () => {
  const network = '192.0.2.30';
  const { email, device } = await createOwner(network);
  for (let count = 0; count < 10; count++)
    assert.equal((await guess(email, network, device)).statusCode, 401);
  const refused = await attempt(email, network, { cookie: device });
  assert.equal(refused.statusCode, 429);
  assert.ok(Number(refused.headers['retry-after']) > 60);
  assert.equal((await attempt(email, network)).statusCode, 200);
});

test('guesses at one address from ever more networks are slowed down, and only so many wait', async () => {
  const { email } = await createOwner('192.0.2.40');
  await guess(email, '192.0.2.41');
  // What a flood of the last minutes would have left.
  await proxied.owner.query('UPDATE sign_in_attempt SET attempts = 100000 WHERE attempts = 1');
  const answers = await Promise.all(
    Array.from({ length: 60 }, (_, index) => guess(email, `10.9.0.${index}`)),
  );
  const refused = answers.filter(({ statusCode }) => statusCode === 429);
  assert.ok(refused.length > 0 && refused.length < answers.length, String(refused.length));
  for (const { headers } of refused)
    assert.ok(Number(headers['retry-after']) <= 2, 'they may soon try again');
});

test('an unknown address is limited and slowed down like a known one', async () => {
  const network = '192.0.2.50';
  const { email } = await createOwner(network);
  const statusesOf = async (address: string) => {
    const statuses: number[] = [];
    for (let count = 0; count < 12; count++) statuses.push((await guess(address, '192.0.2.51')).statusCode);
    return statuses;
  };
  assert.deepEqual(await statusesOf(email), await statusesOf(`${randomUUID()}@nobody.example`));
});

test('a failed sign-in costs the same hashes for an address of no, one or several businesses', async (t) => {
  const emails = [0, 1, 2, 3].map((businesses) => `${businesses}-${randomUUID()}@several.example`);
  for (const [businesses, email] of emails.entries()) {
    for (let count = 0; count < businesses; count++) {
      const { tenantId } = await proxied.createTenant('Blatt & Co.');
      const { id } = await createPerson(proxied, { tenantId });
      await proxied.database.inTenants([tenantId], (client) =>
        changeOwnDetails(client, tenantId, id, { name: undefined, email }),
      );
    }
  }
  const hashes = t.mock.method(crypto, 'argon2');
  syncBuiltinESMExports();
  const counts: number[] = [];
  for (const email of emails) {
    assert.equal((await guess(email, '192.0.2.77')).statusCode, 401);
    counts.push(hashes.mock.callCount());
    hashes.mock.resetCalls();
  }
  hashes.mock.restore();
  syncBuiltinESMExports();
  assert.deepEqual(counts, [3, 3, 3, 3]);
});
