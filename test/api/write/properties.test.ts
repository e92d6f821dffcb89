// What holds for any input at all. A failure prints the seed and the smallest input that shows it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { assertErrorShape } from '../../helpers/declared-answers.ts';
import { exchange, listen, postBytes } from '../../helpers/raw-client.ts';
import { startService, validCustomer, validSite } from '../../helpers/service.ts';
import { assertStored, columnsOfBody, countRows } from '../../helpers/stored-rows.ts';

const { app, owner, tenant, post, createCustomer } = await startService();
const port = await listen(app);
const customerId = await createCustomer();

const storable = (constraints: fc.StringConstraints = {}) =>
  fc.string({ unit: 'binary', ...constraints }).filter((text) => !text.includes('\0'));
const codePoints = (text: string) => [...text].length;
const visible = (maxLength: number) =>
  storable({ minLength: 1, maxLength }).filter((text) => /\S/u.test(text) && codePoints(text) <= maxLength);
const optionalText = (maxLength: number) =>
  storable({ maxLength }).filter((text) => codePoints(text) <= maxLength);
const anyCaseUuid = fc
  .tuple(fc.uuid(), fc.boolean())
  .map(([id, isUpper]) => (isUpper ? id.toUpperCase() : id));
const finite = (min: number, max: number) => fc.double({ min, max, noNaN: true });
const day = fc
  .date({ min: new Date('0001-01-01'), max: new Date('9999-12-31'), noInvalidDate: true })
  .map((date) => date.toISOString().slice(0, 10).padStart(10, '0'));

/** A decimal of any length, as JSON text that must arrive in the database digit by digit. */
const decimal = fc
  .tuple(fc.bigInt({ min: 0n, max: 10n ** 40n }), fc.stringMatching(/^[0-9]{1,30}$/))
  .map(([whole, fraction]) => JSON.rawJSON(`${whole}.${fraction}`));

const item = fc.dictionary(
  storable({ maxLength: 8 }).filter((name) => name !== '__proto__'),
  fc.oneof(
    storable({ maxLength: 12 }),
    fc.boolean(),
    fc.constant(null),
    finite(-1e300, 1e300).map((number) => (Object.is(number, -0) ? 0 : number)),
    decimal,
    fc.array(fc.integer(), { maxLength: 3 }),
    fc.record({ nested: fc.array(storable({ maxLength: 5 }), { maxLength: 2 }) }),
  ),
  { maxKeys: 5 },
);
const items = fc.array(item, { maxLength: 6 });

const address = fc.record(
  {
    streetName: visible(80),
    houseNumber: optionalText(10),
    zipCode: visible(10),
    city: visible(40),
    location: fc.record({ lat: finite(-90, 90), lng: finite(-180, 180) }, { requiredKeys: [] }),
  },
  { requiredKeys: ['streetName', 'houseNumber', 'zipCode', 'city'] },
);

const customer = fc.record(
  {
    companyName: visible(100),
    address,
    email: fc.emailAddress({ size: 'small' }),
    phone: optionalText(30),
    vatId: optionalText(20),
    comment: optionalText(150),
    status: fc.constantFrom('ACTIVE', 'INACTIVE'),
  },
  { requiredKeys: ['companyName', 'address'] },
);

const site = fc
  .record(
    {
      customerId: fc.constantFrom(customerId, customerId.toUpperCase()),
      name: visible(60),
      address,
      needsAppointment: fc.boolean(),
      hasKey: fc.boolean(),
      comment: optionalText(150),
      appointmentPreparationTimeInMinutes: fc.maxSafeNat(),
      attendingIntervals: items,
      openingHours: items,
      serviceRecordRecipientId: anyCaseUuid,
      callOutFee: decimal,
      assignedEmployeeId: anyCaseUuid,
      contactPersonId: anyCaseUuid,
      contractId: anyCaseUuid,
      validFrom: day,
      validUntil: day,
    },
    { requiredKeys: ['customerId', 'name', 'address', 'needsAppointment', 'hasKey'] },
  )
  .map((body) => {
    const { validFrom: one, validUntil: other } = body;
    if (one === undefined || other === undefined || one <= other) return body;
    return { ...body, validFrom: other, validUntil: one };
  });

test('any valid customer is created and stored as sent', async () => {
  await fc.assert(
    fc.asyncProperty(customer, async (body) => {
      const response = await post('/customer', body);
      assert.equal(response.statusCode, 201, response.body);
      const row = { status: 'ACTIVE', ...columnsOfBody(body) };
      await assertStored(owner, 'customer', response.json().id, row);
    }),
    { numRuns: 150 },
  );
});

test('any valid site is created and stored as sent', async () => {
  const defaults = { opening_hours: [], time_zone: 'Europe/Berlin' };
  await fc.assert(
    fc.asyncProperty(site, async (body) => {
      const response = await post('/customer/site', body);
      assert.equal(response.statusCode, 201, response.body);
      await assertStored(owner, 'site', response.json().id, { ...defaults, ...columnsOfBody(body) });
    }),
    { numRuns: 200 },
  );
});

/** Valid bodies in which one member is something else, and JSON of any kind. */
const anyJson = fc.oneof(
  fc
    .tuple(site, fc.constantFrom(...Object.keys(validSite('')), 'openingHours', 'callOutFee'), fc.jsonValue())
    .map(([body, name, value]) => ({ ...body, [name]: value })),
  fc
    .tuple(customer, fc.constantFrom('companyName', 'address', 'email', 'status', 'x'), fc.jsonValue())
    .map(([body, name, value]) => ({ ...body, [name]: value })),
  fc.jsonValue(),
);
const anyPath = fc.constantFrom('/customer', '/customer/site');

async function assertCreatedOrRefused(path: string, body: string | Buffer): Promise<void> {
  const before = await countRows(owner);
  const response = await post(path, body);
  assert.ok([201, 400].includes(response.statusCode), response.body);
  assert.equal(await countRows(owner), before + (response.statusCode === 201 ? 1 : 0));
}

test('any JSON is answered with 201 and one row, or with 400 and none', async () => {
  await fc.assert(
    fc.asyncProperty(anyPath, anyJson, (path, value) => assertCreatedOrRefused(path, JSON.stringify(value))),
    { numRuns: 400 },
  );
});

test('any bytes as a body are answered with 201 and one row, or with 400 and none', async () => {
  const cutOrChanged = fc.tuple(customer, fc.nat(), fc.nat(255)).map(([body, position, byte]) => {
    const bytes = Buffer.from(JSON.stringify(body));
    bytes[position % bytes.length] = byte;
    return bytes;
  });
  const bytes = fc.oneof(fc.uint8Array({ maxLength: 200 }).map(Buffer.from), cutOrChanged);
  await fc.assert(
    fc.asyncProperty(anyPath, bytes, (path, body) => assertCreatedOrRefused(path, body)),
    { numRuns: 400 },
  );
});

const documented = [201, 400, 401, 403, 413, 415];

/** Sends bytes that may be anything. An answer is documented, and there is no row without its 201. */
async function assertAnsweredOrClosed(bytes: Buffer): Promise<void> {
  const before = await countRows(owner);
  const { answers, isClosedByServer, isGivenUp } = await exchange(port, bytes, {
    givesUpAfterMs: 400,
    answers: 9,
  });
  assert.ok(answers.length > 0 || isClosedByServer);
  const staysInApi = /^\s*[A-Z]+ \/api\/v1\//.test(bytes.toString('latin1'));
  for (const answer of answers) {
    assert.ok(documented.includes(answer.status) || (answer.status === 404 && !staysInApi), answer.body);
    if (answer.status >= 400) assertErrorShape(answer);
  }
  const created = answers.filter((answer) => answer.status === 201).length;
  if (!isGivenUp) assert.equal(await countRows(owner), before + created);
}

const path = '/api/v1/customer';
const body = JSON.stringify(validCustomer);
const complete = Buffer.from(postBytes(path, body, { ApiKey: tenant.key, Connection: 'close' }));

test('any bytes on the socket are answered or the connection is closed', async () => {
  const changed = fc
    .array(fc.tuple(fc.nat(complete.length - 1), fc.nat(255)), { minLength: 1, maxLength: 4 })
    .map((changes) => {
      const bytes = Buffer.from(complete);
      for (const [position, byte] of changes) bytes[position] = byte;
      return bytes;
    });
  const bytes = fc.oneof(
    { weight: 1, arbitrary: fc.uint8Array({ minLength: 1, maxLength: 100 }).map(Buffer.from) },
    { weight: 4, arbitrary: changed },
  );
  await fc.assert(fc.asyncProperty(bytes, assertAnsweredOrClosed), { numRuns: 250 });
  const { answers } = await exchange(port, complete);
  assert.equal(answers[0]?.status, 201, 'the service answers as before');
});

test('any headers are answered with a documented status', async () => {
  const name = fc.oneof(
    fc.constantFrom(
      ...['ApiKey', 'Content-Type', 'Content-Encoding', 'Accept-Language', 'Accept', 'Expect', 'Range'],
      ...[
        'Transfer-Encoding',
        'X-Forwarded-For',
        'Cookie',
        'If-Match',
        'Upgrade',
        'Trailer',
        'TE',
        'User-Agent',
      ],
    ),
    fc.stringMatching(/^[A-Za-z-]{1,20}$/),
  );
  const value = fc.oneof(
    fc.constantFrom(
      tenant.key,
      'application/json',
      '100-continue',
      'chunked',
      'gzip',
      'de;q=0.5',
      '*',
      '',
      '::1',
    ),
    fc.string({ maxLength: 40 }),
    fc.uint8Array({ maxLength: 20 }).map((bytes) =>
      Buffer.from(bytes)
        .toString('latin1')
        .replace(/[\r\n]/g, ''),
    ),
  );
  const headers = fc.array(fc.tuple(name, value), { maxLength: 6 });
  await fc.assert(
    fc.asyncProperty(headers, (soup) => {
      const own = { ApiKey: tenant.key, Connection: 'close', ...Object.fromEntries(soup) };
      return assertAnsweredOrClosed(Buffer.from(postBytes(path, body, own), 'latin1'));
    }),
    { numRuns: 250 },
  );
});
