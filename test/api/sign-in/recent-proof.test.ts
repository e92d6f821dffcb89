// Changes that an open browser alone must not make: the last proof of identity may be ten minutes old.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { resources } from '../../../server/resources/index.ts';
import { createPerson, type Method, password, routesBelow } from '../../helpers/office.ts';
import { startService } from '../../helpers/service.ts';
import { SoftwareAuthenticator } from './software-authenticator.ts';

const service = await startService();
const { app, owner } = service;

const flagged: [Method, string, object?][] = [
  ['POST', '/key'],
  ['DELETE', '/key'],
  ['PATCH', '/people/:id', { name: 'x' }],
  ['DELETE', '/people/:id'],
  ['POST', '/invitations', { email: 'a@b.example', role: 'PFLEGE' }],
  ['DELETE', '/people/:id/passkeys'],
  ['POST', '/people/:id/reset-link'],
  ['DELETE', '/people/:id/sessions'],
  ['PUT', '/passkey-requirement', { isRequired: true }],
  ['POST', '/passkeys/options'],
  ['POST', '/passkeys', {}],
  ['PATCH', '/passkeys/:id', { name: 'x' }],
  ['DELETE', '/passkeys/:id'],
  ['POST', '/recovery-codes'],
  ['POST', '/webhooks', { url: 'https://erp.example/stamm' }],
  ['PATCH', '/webhooks/:id', { resources: ['site'] }],
  ['DELETE', '/webhooks/:id'],
  ['POST', '/webhooks/:id/secret'],
  ['PUT', '/calendar-feeds/:resource/:id', { language: 'de' }],
  ['DELETE', '/personal-data/:id'],
  ['POST', '/test-business'],
  ['POST', '/test-business/key'],
  ['DELETE', '/test-business'],
];

/** Every other change below /app, by its reason. A new route needs a place here or above. */
const withoutProof: Record<string, RegExp> = {
  'a sign-in, or a link that was sent, is the proof itself':
    /^POST \/(session|session\/.+|setup\/:token|invitation\/:token|reset\/:token|password-reset|proof|proof\/options)$/,
  'asks for the current password': /^(POST \/password|PATCH \/profile)$/,
  'takes access away':
    /^DELETE \/(session|sessions|sessions\/:id|invitations\/:id|calendar-feeds\/:resource\/:id)$/,
  'goes to the bin and into the history, and can be undone': new RegExp(
    `^(POST|PUT|PATCH|DELETE) (${resources.flatMap(({ path, collection }) => [path, `/${collection}`]).join('|')})(/.+)?$`,
  ),
  'an import can be undone': /^POST \/(import|imports|imports\/:id\/undo|requests\/:id\/correction)$/,
  'questions with a long body': /^POST \/(choice|duplicate|name)-matches$/,
  'settings and views that anybody can set again':
    /^(POST|PUT|PATCH|DELETE) \/(attention\/(left|reopened)(\/all)?|business|checklist|remembered-(choices|names)|views|views\/:id|visit-settings|visit-settings\/start-address|map\/proposals\/:siteId\/rejection)$/,
  'test data can be had again, and a session keeps its rights':
    /^POST \/test-business\/(fill|reset|enter|leave)$/,
  'sends where a proof allowed it to': /^POST \/webhooks\/:id\/(pause|resend|resume|test)$/,
};

async function ageProof(person: { id: string }, interval: string): Promise<void> {
  await owner.query('UPDATE session SET proved_at = now() - $2::interval WHERE person_id = $1', [
    person.id,
    interval,
  ]);
}

const verwaltung = await createPerson(service);
const colleague = await createPerson(service, { role: 'PFLEGE', name: 'Paul' });

test('every change below /app needs a recent proof, or has a reason why not', () => {
  const changes = routesBelow(app, '/app/')
    .filter(({ method }) => method !== 'GET' && method !== 'HEAD')
    .map(({ method, path }) => `${method} ${path.slice('/app'.length)}`);
  const proved = new Set(flagged.map(([method, path]) => `${method} ${path}`));
  for (const change of proved) assert.ok(changes.includes(change), `${change} exists`);
  for (const change of changes) {
    const reasons = Object.keys(withoutProof).filter((reason) => withoutProof[reason]!.test(change));
    assert.equal(reasons.length + Number(proved.has(change)), 1, `${change}: ${reasons}`);
  }
});

for (const [method, path, body] of flagged) {
  test(`${method} ${path} needs a proof of the last ten minutes`, async () => {
    const url = path
      .replace(':id', path.startsWith('/people') ? colleague.id : randomUUID())
      .replace(':resource', 'employee');
    await ageProof(verwaltung, '10 minutes 5 seconds');
    const refused = await verwaltung.call(method, url, body);
    assert.equal(refused.statusCode, 403, refused.body);
    assert.equal(refused.json().code, 'proof_required');
    assert.equal((await verwaltung.call('GET', '/session')).statusCode, 200);
  });
}

test('reading, and everything else, needs no recent proof', async () => {
  await ageProof(verwaltung, '5 days');
  for (const path of ['/people', '/key', '/passkeys', '/passkey-requirement', '/customers'])
    assert.equal((await verwaltung.call('GET', path)).statusCode, 200, path);
  assert.equal((await verwaltung.call('PATCH', '/business', { name: 'Neu' })).statusCode, 200);
});

test('a proof is still good after nine minutes', async () => {
  await ageProof(verwaltung, '9 minutes');
  const invitation = { email: `${randomUUID()}@b.example`, role: 'PFLEGE' };
  assert.equal((await verwaltung.call('POST', '/invitations', invitation)).statusCode, 201);
});

test('the password renews the proof of this session and of no other', async () => {
  const person = await createPerson(service);
  const other = await createPerson(service);
  for (const one of [person, other]) await ageProof(one, '1 hour');
  const renewed = await person.call('POST', '/proof', { password });
  assert.equal(renewed.statusCode, 204, renewed.body);
  assert.equal((await person.call('POST', '/key')).statusCode, 201);
  assert.equal((await other.call('POST', '/key')).json().code, 'proof_required');
});

test('wrong passwords renew nothing and are counted', async () => {
  const person = await createPerson(service);
  await ageProof(person, '1 hour');
  const wrong = await person.call('POST', '/proof', { password: 'falsch' });
  assert.equal(wrong.statusCode, 400);
  assert.deepEqual(
    wrong.json().errors.map(({ field, code }: Record<string, string>) => `${field}: ${code}`),
    ['password: wrong_password'],
  );
  assert.equal((await person.call('POST', '/key')).json().code, 'proof_required');
  assert.equal((await person.call('POST', '/proof', {})).json().errors[0].code, 'required');
  for (let count = 1; count < 10; count++) await person.call('POST', '/proof', { password: 'falsch' });
  const refused = await person.call('POST', '/proof', { password });
  assert.equal(refused.statusCode, 429, refused.body);
});

test('a passkey renews the proof, once per challenge, and only one of this person in this session', async () => {
  const person = await createPerson(service);
  assert.equal((await person.call('POST', '/proof/options')).json().code, 'passkey_missing');
  const authenticator = new SoftwareAuthenticator();
  const creation = (await person.call('POST', '/passkeys/options')).json();
  const added = await person.call('POST', '/passkeys', { credential: authenticator.create(creation) });
  assert.equal(added.statusCode, 201, added.body);
  await ageProof(person, '1 hour');
  const credential = authenticator.sign((await person.call('POST', '/proof/options')).json());
  const other = await createPerson(service);
  assert.equal((await other.call('POST', '/proof', { credential })).json().code, 'passkey_refused');
  assert.equal((await person.call('POST', '/proof', { credential })).statusCode, 204);
  assert.equal((await person.call('POST', '/key')).statusCode, 201);
  assert.equal((await person.call('POST', '/proof', { credential })).json().code, 'passkey_refused');
});

test('a new sign-in is a proof', async () => {
  const person = await createPerson(service);
  assert.equal((await person.call('POST', '/key')).statusCode, 201);
});
