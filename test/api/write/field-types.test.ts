import { test } from 'node:test';
import { assertRefused, fieldError, withMember } from '../../helpers/refusals.ts';
import { startService, validAddress, validCustomer, validSite } from '../../helpers/service.ts';

const service = await startService();
const customerId = await service.createCustomer();

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
      await assertRefused(service, '/customer/site', withMember(siteBody, field, json), [
        fieldError(field, 'type', { type }),
      ]);
    }
  });
}

const required = {
  '/customer': ['companyName', 'address'],
  '/customer/site': ['customerId', 'name', 'address', 'needsAppointment', 'hasKey'],
};
const requiredInAddress = ['streetName', 'houseNumber', 'zipCode', 'city'].map((name) => `address.${name}`);

/** An owner can be named in two ways, and the answer names both. */
function missing(field: string) {
  return field === 'customerId'
    ? fieldError(field, 'required', { name: field, instead: 'customerExternalId' })
    : fieldError(field, 'required');
}

for (const [path, body] of [
  ['/customer', customerBody],
  ['/customer/site', siteBody],
] as const) {
  test(`a missing field of POST ${path} is reported at the field`, async () => {
    for (const field of [...required[path], ...requiredInAddress]) {
      await assertRefused(service, path, withMember(body, field, undefined), [missing(field)]);
    }
  });

  test(`all missing fields of POST ${path} are reported together`, async () => {
    await assertRefused(service, path, {}, required[path].map(missing));
    const fields = [...required[path].filter((field) => field !== 'address'), ...requiredInAddress];
    await assertRefused(service, path, { address: {} }, fields.map(missing));
  });
}
