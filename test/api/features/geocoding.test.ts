import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, afterEach, before, describe, test } from 'node:test';
import pino from 'pino';
import { startGeocoding } from '../../../server/features/map/geocoding.ts';
import { createPerson, type OfficePerson } from '../../helpers/office.ts';
import { startService, type TestService, validAddress, validSite } from '../../helpers/service.ts';
import { until } from '../../helpers/waiting.ts';

interface Question {
  street: string;
  postalcode: string;
  city: string;
  userAgent: string;
  url: URL;
}

type Behaviour = (question: Question, response: ServerResponse) => void;

const place = (lat: string, lon: string) => [{ lat, lon, display_name: 'Ein Haus, Hamburg', type: 'house' }];
const answerWith =
  (body: unknown): Behaviour =>
  (_question, response) =>
    response.end(JSON.stringify(body));

/** A geocoder that answers as Nominatim does, and notes how it was asked. */
async function startGeocoder() {
  const geocoder = {
    url: '',
    questions: [] as Question[],
    mostTogether: 0,
    shortestGapMs: Number.POSITIVE_INFINITY,
    behaviour: answerWith(place('53.55031', '9.99281')) as Behaviour,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
  let together = 0;
  let askedAt = Number.NEGATIVE_INFINITY;
  const server = createServer((request, response) => {
    geocoder.mostTogether = Math.max(geocoder.mostTogether, ++together);
    geocoder.shortestGapMs = Math.min(geocoder.shortestGapMs, performance.now() - askedAt);
    askedAt = performance.now();
    response.on('close', () => {
      together--;
    });
    const url = new URL(request.url!, 'http://geocoder');
    const { street = '', postalcode = '', city = '' } = Object.fromEntries(url.searchParams);
    const question = { street, postalcode, city, userAgent: request.headers['user-agent']!, url };
    geocoder.questions.push(question);
    geocoder.behaviour(question, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  geocoder.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/search?key=secret`;
  return geocoder;
}

describe('the geocoder', () => {
  let service: TestService;
  let geocoder: Awaited<ReturnType<typeof startGeocoder>>;
  const stops: (() => Promise<void>)[] = [];

  before(async () => {
    service = await startService();
    geocoder = await startGeocoder();
  });
  afterEach(async () => {
    for (const stop of stops.splice(0)) await stop();
    geocoder.behaviour = answerWith(place('53.55031', '9.99281'));
    geocoder.questions.length = 0;
    geocoder.mostTogether = 0;
    geocoder.shortestGapMs = Number.POSITIVE_INFINITY;
  });
  after(() => geocoder.close());

  const quick = { intervalMs: 20, idleMs: 20, lockRetryMs: 20, timeoutMs: 60_000, pauseSeconds: () => 0.02 };

  function start(limits: Partial<typeof quick> = {}): void {
    const log = pino({ level: 'silent' });
    const options = {
      url: geocoder.url,
      publicUrl: 'https://stamm.example',
      database: service.database,
      log,
    };
    stops.push(startGeocoding({ ...options, limits: { ...quick, ...limits } }));
  }

  async function createBusiness() {
    const { tenantId, key } = await service.createTenant();
    const options = { headers: { apikey: key } };
    const person = await createPerson(service, { tenantId });
    const customerId = await service.createCustomer({}, options);
    const createSite = async (name: string, address: Record<string, unknown> = {}): Promise<string> => {
      const body = { ...validSite(customerId), name, address: { ...validAddress, ...address } };
      const response = await service.post('/customer/site', body, options);
      assert.equal(response.statusCode, 201, response.body);
      return response.json().id;
    };
    return { tenantId, options, person, createSite };
  }

  async function readProposals(person: OfficePerson) {
    const response = await person.call('GET', '/map/proposals');
    assert.equal(response.statusCode, 200, response.body);
    return response.json();
  }

  const askedFor = (city: string) => geocoder.questions.filter((question) => question.city === city);

  test('proposes a position and changes nothing until somebody accepts it', async () => {
    const { person, createSite, options } = await createBusiness();
    const id = await createSite('Lobby', { city: 'Vorschlag' });
    await createSite('Mit Position', { city: 'Ohne Frage', location: { lat: 1, lng: 1 } });
    start();
    await until('the proposal is there', async () => (await readProposals(person)).total === 1);
    const { data, nextAfter } = await readProposals(person);
    assert.equal(nextAfter, null);
    assert.deepEqual(
      [data[0].siteId, data[0].name, data[0].lat, data[0].lng, data[0].foundAs],
      [id, 'Lobby', 53.55031, 9.99281, 'Ein Haus, Hamburg'],
    );
    assert.equal(data[0].approximatePosition.source, 'postcode');
    assert.equal((await service.get(`/sites/${id}`, options)).json().address.location, undefined);
    const [question] = askedFor('Vorschlag');
    assert.equal(question!.street, '17a Ballindamm');
    assert.equal(question!.postalcode, '20095');
    assert.match(question!.userAgent, /^Stamm\/\S+ \(\+https:\/\/stamm\.example\)$/);
    assert.deepEqual(
      ['format', 'limit', 'key'].map((name) => question!.url.searchParams.get(name)),
      ['jsonv2', '1', 'secret'],
    );
    assert.equal(askedFor('Ohne Frage').length, 0);

    const patch = { address: { location: { lat: data[0].lat, lng: data[0].lng } } };
    const accepted = await person.call('PATCH', `/sites/${id}`, patch);
    assert.equal(accepted.statusCode, 200, accepted.body);
    assert.equal((await readProposals(person)).total, 0);
  });

  test('asks each address once, one after the other, with a pause between', async () => {
    const { person, createSite } = await createBusiness();
    for (let number = 0; number < 5; number++) await createSite(`Haus ${number}`, { city: 'Nacheinander' });
    start({ intervalMs: 50 });
    start({ intervalMs: 50 });
    await until('all proposals are there', async () => (await readProposals(person)).total === 5);
    const { createSite: createOther } = await createBusiness();
    await createOther('Danach', { city: 'Danach' });
    await until('a later site is asked for', () => askedFor('Danach').length === 1);
    assert.equal(askedFor('Nacheinander').length, 5);
    assert.equal(geocoder.mostTogether, 1, 'of two processes only one asks');
    assert.ok(geocoder.shortestGapMs >= 45, `a gap of ${geocoder.shortestGapMs} ms`);
  });

  test('takes businesses in turns', async () => {
    const large = await createBusiness();
    for (let number = 0; number < 6; number++) await large.createSite(`Haus ${number}`, { city: 'Viele' });
    const small = await createBusiness();
    await small.createSite('Klein', { city: 'Wenige' });
    start();
    await until('all are asked for', () => askedFor('Viele').length === 6);
    // A question that an earlier test cut off is asked again.
    const order = geocoder.questions.map(({ city }) => city).filter((city) => city !== 'Danach');
    assert.ok(order.indexOf('Wenige') <= 1, order.join());
  });

  test('a rejected proposal does not come back; a changed address is asked for anew', async () => {
    const { person, createSite, options, tenantId } = await createBusiness();
    const id = await createSite('Umzug', { city: 'Alt' });
    start();
    await until('the proposal is there', async () => (await readProposals(person)).total === 1);
    const pflege = await createPerson(service, { tenantId, role: 'PFLEGE' });
    const path = `/map/proposals/${id}/rejection`;
    assert.equal((await pflege.call('POST', path)).statusCode, 403);
    const stranger = await createBusiness();
    assert.equal((await stranger.person.call('POST', path)).statusCode, 404);
    assert.equal((await readProposals(stranger.person)).total, 0);
    assert.equal((await person.call('POST', path)).statusCode, 204);
    assert.equal((await person.call('POST', path)).statusCode, 404);
    assert.equal((await readProposals(person)).total, 0);

    geocoder.behaviour = answerWith(place('48.1', '11.5'));
    await service.patch(`/sites/${id}`, { address: { city: 'Neu' } }, options);
    await until(
      'the new address has a proposal',
      async () => (await readProposals(person)).data[0]?.lat === 48.1,
    );
    assert.equal(askedFor('Alt').length, 1);
    for (const stop of stops.splice(0)) await stop();
    await service.patch(`/sites/${id}`, { address: { city: 'Neuer' } }, options);
    assert.equal((await readProposals(person)).total, 0, 'a proposal dies with its address');
    await service.delete(`/sites/${id}`, options);
  });

  const failures: Record<string, Behaviour> = {
    'an error': (_question, response) => response.writeHead(503).end('away'),
    'too many requests': (_question, response) => response.writeHead(429, { 'retry-after': '0' }).end(),
    'no JSON': (_question, response) => response.end('<html>'),
    'no list': answerWith({ lat: '53', lon: '9' }),
    'a place that is none': answerWith([{ lat: '91', lon: 'x' }]),
    'an empty place': answerWith([null]),
    'a redirect': (_question, response) => response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end(),
    'an endless answer': (_question, response) => void response.write(`[${' '.repeat(300_000)}`),
    'a broken connection': (_question, response) => void response.destroy(),
  };
  for (const [name, behaviour] of Object.entries(failures)) {
    test(`tries again after ${name}`, async () => {
      const { person, createSite } = await createBusiness();
      await createSite('Geduld', { city: name });
      geocoder.behaviour = behaviour;
      start();
      await until('it was asked twice', () => askedFor(name).length >= 2);
      assert.equal((await readProposals(person)).total, 0);
      geocoder.behaviour = answerWith(place('53.5', '10'));
      await until('the proposal is there', async () => (await readProposals(person)).total === 1);
      assert.equal(geocoder.mostTogether, 1);
    });
  }

  test('gives up a question that gets no answer', async () => {
    const { person, createSite } = await createBusiness();
    await createSite('Stille', { city: 'Stille' });
    geocoder.behaviour = () => {};
    start({ timeoutMs: 50 });
    await until('it was asked twice', () => askedFor('Stille').length >= 2);
    geocoder.behaviour = answerWith(place('53.5', '10'));
    await stops.pop()!();
    start();
    await until('the proposal is there', async () => (await readProposals(person)).total === 1);
  });

  test('remembers addresses that the geocoder does not know or refuses', async () => {
    const { person, createSite } = await createBusiness();
    await createSite('Unbekannt', { city: 'Unbekannt' });
    await createSite('Abgelehnt', { city: 'Abgelehnt' });
    await createSite('Lang', { city: 'Lang', streetName: 'x'.repeat(400) });
    await createSite('Bekannt', { city: 'Bekannt' });
    geocoder.behaviour = (question, response) => {
      if (question.city === 'Abgelehnt') response.writeHead(400).end('{"error":"what"}');
      else response.end(JSON.stringify(question.city === 'Unbekannt' ? [] : place('53.5', '10')));
    };
    start();
    await until('the known one has a proposal', async () => (await readProposals(person)).total === 1);
    const { createSite: createOther } = await createBusiness();
    await createOther('Danach', { city: 'Später' });
    await until('a later site is asked for', () => askedFor('Später').length === 1);
    assert.deepEqual(
      ['Unbekannt', 'Abgelehnt', 'Lang', 'Bekannt'].map((city) => askedFor(city).length),
      [1, 1, 0, 1],
    );
  });
});
