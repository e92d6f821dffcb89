import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, test } from 'node:test';
import { faultCodes } from '../../server/errors.ts';
import { startService, validAddress, validCustomer, validSite } from '../service.ts';
import { countRows } from './stored-rows.ts';

const { owner, post, createCustomer, createTenant } = await startService();
const customerId = await createCustomer();

/** An expected item of errors[], without its sentence. */
type Expected = { field: string; pointer: string; code: string; params?: object };

function fault(field: string, code: string, params?: object): Expected {
  const pointer = field === '' ? '' : `/${field.replaceAll('.', '/')}`;
  return { field, pointer, code, ...(params && { params }) };
}

const codesSeen = new Set<string>();

async function assertRefused(path: string, body: unknown, expected: readonly Expected[]): Promise<void> {
  const before = await countRows(owner);
  const response = await post(path, body);
  assert.equal(response.statusCode, 400, response.body);
  const { code, errors } = response.json();
  assert.equal(code, 'validation_failed');
  const found = errors.map(({ message, ...item }: Expected & { message: string }) => {
    assert.ok(message.length > 10 && !message.includes('{') && !message.includes('undefined'), message);
    codesSeen.add(item.code);
    return item;
  });
  assert.deepEqual(found.sort(byField), [...expected].sort(byField));
  assert.equal(await countRows(owner), before, 'nothing is stored');
}

function byField(one: Expected, other: Expected): number {
  return one.field.localeCompare(other.field) || one.code.localeCompare(other.code);
}

/** The body with one member replaced by JSON as it is written here, or removed where there is none. */
function withMember(body: object, field: string, json: string | undefined): string {
  const [name = '', ...rest] = field.split('.');
  const members = Object.entries(body).filter(([other]) => other !== name);
  const inner = Object.entries(body).find(([other]) => other === name)?.[1] ?? {};
  const written = rest.length > 0 ? withMember(inner, rest.join('.'), json) : json;
  const texts = members.map(([other, value]) => `${JSON.stringify(other)}:${JSON.stringify(value)}`);
  if (written !== undefined) texts.push(`${JSON.stringify(name)}:${written}`);
  return `{${texts.join()}}`;
}

const siteBody = { ...validSite(customerId), address: { ...validAddress, location: { lat: 1, lng: 1 } } };
const customerBody = { ...validCustomer, address: siteBody.address };

const wrongTypes = {
  string: ['null', '5', 'true', '{}', '[]', '["x"]'],
  boolean: ['null', '0', '1', '"true"', '"false"', '""', '{}'],
  number: ['null', '"5"', '""', 'true', '[5]', '{}'],
  integer: [
    'null',
    '"5"',
    'true',
    '1.5',
    '[5]',
    '9007199254740991.4',
    '1.0000000000000000001',
    '1e-1',
    '1e-400',
  ],
  array: ['null', '{}', '"[]"', '0', 'true'],
  object: ['null', '[]', '"{}"', '0', 'true'],
};

const typeOfSiteField: Record<string, keyof typeof wrongTypes> = {
  customerId: 'string',
  name: 'string',
  address: 'object',
  'address.streetName': 'string',
  'address.houseNumber': 'string',
  'address.zipCode': 'string',
  'address.city': 'string',
  'address.location': 'object',
  'address.location.lat': 'number',
  'address.location.lng': 'number',
  needsAppointment: 'boolean',
  hasKey: 'boolean',
  comment: 'string',
  appointmentPreparationTimeInMinutes: 'integer',
  attendingIntervals: 'array',
  openingHours: 'array',
  serviceRecordRecipientId: 'string',
  callOutFee: 'number',
  assignedEmployeeId: 'string',
  contactPersonId: 'string',
  contractId: 'string',
  validFrom: 'string',
  validUntil: 'string',
  timeZone: 'string',
  externalId: 'string',
};

for (const [field, type] of Object.entries(typeOfSiteField)) {
  test(`${field} of a site is of type ${type}: nothing is coerced, and null is no value`, async () => {
    for (const json of wrongTypes[type]) {
      await assertRefused('/customer/site', withMember(siteBody, field, json), [
        fault(field, 'type', { type }),
      ]);
    }
  });
}

const required = {
  '/customer': ['companyName', 'address'],
  '/customer/site': ['customerId', 'name', 'address', 'needsAppointment', 'hasKey'],
};
const requiredInAddress = ['streetName', 'houseNumber', 'zipCode', 'city'].map((name) => `address.${name}`);

for (const [path, body] of [
  ['/customer', customerBody],
  ['/customer/site', siteBody],
] as const) {
  test(`a missing field of POST ${path} is reported at the field`, async () => {
    for (const field of [...required[path], ...requiredInAddress]) {
      await assertRefused(path, withMember(body, field, undefined), [fault(field, 'required')]);
    }
  });

  test(`all missing fields of POST ${path} are reported at once`, async () => {
    await assertRefused(
      path,
      {},
      required[path].map((field) => fault(field, 'required')),
    );
    const fields = [...required[path].filter((field) => field !== 'address'), ...requiredInAddress];
    await assertRefused(
      path,
      { address: {} },
      fields.map((field) => fault(field, 'required')),
    );
  });
}

const maxInteger = Number.MAX_SAFE_INTEGER;
const quoted = (text: string) => JSON.stringify(text);

type Case = readonly [field: string, values: readonly string[], code: string, params?: object, at?: string];

const badUuids = [
  '"urn:uuid:018f0000-abcd-7abc-8def-abcdefabcdef"',
  '"{018f0000-abcd-7abc-8def-abcdefabcdef}"',
  '"018f0000abcd7abc8defabcdefabcdef"',
  '"018f0000-abcd-7abc-8def-abcdefabcde"',
  '"018f0000-abcd-7abc-8def-abcdefabcdeg"',
  '" 018f0000-abcd-7abc-8def-abcdefabcdef"',
  '"018f0000-abcd-7abc-8def-abcdefabcdef\\n"',
  '""',
];
const badDates = [
  '"2025-02-30"',
  '"2025-02-29"',
  '"1900-02-29"',
  '"2025-04-31"',
  '"2025-13-01"',
  '"2025-00-10"',
  '"2025-01-00"',
  '"0000-01-01"',
  '"2025-1-1"',
  '"20250101"',
  '"2025-01-01T00:00:00Z"',
  '"12025-01-01"',
  '"-2025-01-01"',
  '"01.02.2025"',
  '"2025-01-01\\n"',
  '"٢٠٢٥-٠١-٠١"',
  '"infinity"',
  '""',
];
const blanks = ['""', '" "', '"\\t\\n\\u00a0\\u3000"'];
const badTexts = ['"a\\u0000b"', '"\\ud83c"', '"\\udf35\\ud83c"', '"\\uDC00 x"'];
const hundredAndOneItems = `[${Array(101).fill('{}').join()}]`;
const nested = (depth: number) => `[${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}]`;

const siteCases: readonly Case[] = [
  ['name', blanks, 'blank'],
  [
    'name',
    [quoted('x'.repeat(61)), quoted('🌵'.repeat(61)), quoted('é'.repeat(61))],
    'too_long',
    { max: 60 },
  ],
  ['comment', [quoted('x'.repeat(151)), quoted('🌵'.repeat(151))], 'too_long', { max: 150 }],
  ['externalId', [quoted('x'.repeat(101))], 'too_long', { max: 100 }],
  ['externalId', blanks, 'blank'],
  ['address.streetName', blanks, 'blank'],
  ['address.zipCode', blanks, 'blank'],
  ['address.city', blanks, 'blank'],
  ['appointmentPreparationTimeInMinutes', ['-1', '-9007199254740991'], 'too_small', { min: 0 }],
  [
    'appointmentPreparationTimeInMinutes',
    ['9007199254740992', '9007199254740993', '1e16', '1e300'],
    'too_large',
    { max: maxInteger },
  ],
  ['callOutFee', ['-0.01', '-1', '-5e-324', '-1e-400'], 'too_small', { min: 0 }],
  ['callOutFee', ['1e-1001', '1e-99999999999999999999'], 'too_precise', { max: 1000 }],
  ['callOutFee', ['1e309', '-1e309', `1${'0'.repeat(400)}`, '1e99999999999999999999'], 'number_out_of_range'],
  ['appointmentPreparationTimeInMinutes', ['1e309'], 'number_out_of_range'],
  ['address.location.lat', ['1e309'], 'number_out_of_range'],
  ['address.location.lat', ['90.000001', '180', '1e300'], 'too_large', { max: 90 }],
  ['address.location.lat', ['-90.000001'], 'too_small', { min: -90 }],
  ['address.location.lng', ['180.000001'], 'too_large', { max: 180 }],
  ['address.location.lng', ['-180.000001'], 'too_small', { min: -180 }],
  ...['customerId', 'serviceRecordRecipientId', 'assignedEmployeeId', 'contactPersonId', 'contractId'].map(
    (field): Case => [field, badUuids, 'invalid_uuid'],
  ),
  ['validFrom', badDates, 'invalid_date'],
  ['validUntil', badDates, 'invalid_date'],
  ['timeZone', ['""', '"Europe/Atlantis"', '"+01:00"'], 'invalid_time_zone'],
  ['openingHours', [hundredAndOneItems], 'too_many_items', { max: 100 }],
  ['attendingIntervals', [hundredAndOneItems], 'too_many_items', { max: 100 }],
  ['openingHours', ['[1]', '["x"]', '[null]', '[[]]'], 'type', { type: 'object' }, 'openingHours.0'],
  ['attendingIntervals', ['[{},5]'], 'type', { type: 'object' }, 'attendingIntervals.1'],
  ['openingHours', [nested(60), nested(10_000)], 'too_deep', { max: 50 }],
  ['openingHours', ['[{"a":[0,1e-2000]}]'], 'too_precise', { max: 1000 }, 'openingHours.0.a.1'],
  ['openingHours', ['[{"a":[0,1e309]}]'], 'number_out_of_range', undefined, 'openingHours.0.a.1'],
  [
    'openingHours',
    badTexts.map((json) => `[{"a":[0,${json}]}]`),
    'invalid_text',
    undefined,
    'openingHours.0.a.1',
  ],
  ['openingHours', badTexts.map((json) => `[{${json}:1}]`), 'invalid_text', undefined, 'openingHours.0'],
  ['openingHours', ['[{"__proto__":1}]'], 'forbidden_name', undefined, 'openingHours.0.__proto__'],
  ['__proto__', ['{"name":"x"}', 'null'], 'forbidden_name'],
  ['unknown', ['{"\\u005f_proto__":{}}'], 'forbidden_name', undefined, 'unknown.__proto__'],
  ['unknown', ['[1e309]'], 'number_out_of_range', undefined, 'unknown.0'],
  ...['name', 'comment', 'address.houseNumber', 'customerId', 'validFrom', 'unknown'].map(
    (field): Case => [field, badTexts, 'invalid_text'],
  ),
];

const customerCases: readonly Case[] = [
  ['companyName', blanks, 'blank'],
  ['companyName', [quoted('x'.repeat(101)), quoted('🌵'.repeat(101))], 'too_long', { max: 100 }],
  ['customerNumber', [quoted('x'.repeat(31))], 'too_long', { max: 30 }],
  ['phone', [quoted('1'.repeat(31))], 'too_long', { max: 30 }],
  ['vatId', [quoted('1'.repeat(21))], 'too_long', { max: 20 }],
  ['comment', [quoted('x'.repeat(151))], 'too_long', { max: 150 }],
  ['email', ['"nobody"', '""', '"a b@c"'], 'invalid_email'],
  ['status', ['"active"', '""', '"DELETED"'], 'invalid_choice', { choices: ['ACTIVE', 'INACTIVE'] }],
];

for (const [path, body, cases] of [
  ['/customer/site', siteBody, siteCases],
  ['/customer', customerBody, customerCases],
] as const) {
  for (const [field, values, code, params, at = field] of cases) {
    test(`POST ${path} refuses ${field} with ${code} at ${at}`, async () => {
      for (const json of values)
        await assertRefused(path, withMember(body, field, json), [fault(at, code, params)]);
    });
  }
}

test('a body that is not JSON is refused with invalid_json at its root', async () => {
  for (const path of ['/customer', '/customer/site']) {
    await assertRefused(path, '{"name":"x"', [fault('', 'invalid_json')]);
  }
});

test('a validity that ends before it begins is refused, also beside other faults', async () => {
  const dates = { validFrom: '2025-03-02', validUntil: '2025-03-01' };
  const order = fault('validUntil', 'date_order', { other: 'validFrom' });
  await assertRefused('/customer/site', { ...siteBody, ...dates }, [order]);
  await assertRefused('/customer/site', { ...siteBody, ...dates, name: '' }, [order, fault('name', 'blank')]);
});

test('the faults of all fields are reported at once, together with an owner that is not there', async () => {
  const body = {
    customerId: randomUUID(),
    name: 'x'.repeat(61),
    address: { streetName: 'S', houseNumber: '', zipCode: ' ', location: { lat: 91, lng: '9' } },
    hasKey: null,
    callOutFee: -1,
    openingHours: [{}, 1],
    validFrom: '2025-02-30',
  };
  await assertRefused('/customer/site', body, [
    fault('customerId', 'reference_not_found', { resource: 'customer' }),
    fault('name', 'too_long', { max: 60 }),
    fault('address.zipCode', 'blank'),
    fault('address.city', 'required'),
    fault('address.location.lat', 'too_large', { max: 90 }),
    fault('address.location.lng', 'type', { type: 'number' }),
    fault('needsAppointment', 'required'),
    fault('hasKey', 'type', { type: 'boolean' }),
    fault('callOutFee', 'too_small', { min: 0 }),
    fault('openingHours.1', 'type', { type: 'object' }),
    fault('validFrom', 'invalid_date'),
  ]);
});

test("a customer that does not exist and another tenant's are refused with the same bytes", async () => {
  const { key } = await createTenant('Another business');
  const foreign = await createCustomer({}, { headers: { apikey: key } });
  const answers = await Promise.all(
    [randomUUID(), foreign].map(async (id) => {
      const response = await post('/customer/site', validSite(id));
      assert.equal(response.statusCode, 400);
      assert.equal(response.json().errors[0].code, 'reference_not_found');
      return response.body.replace(response.json().requestId, '');
    }),
  );
  assert.equal(answers[0], answers[1]);
});

after(() => {
  assert.deepEqual([...codesSeen].sort(), [...faultCodes].sort(), 'every code is produced by a case above');
});
