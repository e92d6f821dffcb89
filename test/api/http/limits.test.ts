// The limits of each resource, written down here once more, so that a slip in a definition is seen.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { startService, validCustomer, validSite } from '../../helpers/service.ts';

const service = await startService();
const customerId = await service.createCustomer();
const siteId = (await service.post('/customer/site', validSite(customerId))).json().id;

interface Limits {
  body: object;
  /** The longest text of each field, in characters. */
  lengths?: Record<string, number>;
  /** Smallest and largest number, and the step beyond them. */
  ranges?: Record<string, readonly [min: number, max: number, step: number]>;
  choices?: Record<string, string>;
  required: string[];
}

const centimetres = [1, 1000, 1] as const;

const limits: Record<string, Limits> = {
  '/customer': {
    body: validCustomer,
    required: ['companyName', 'address'],
    lengths: { companyName: 100, customerNumber: 30, phone: 30, vatId: 20, comment: 150, externalId: 100 },
    choices: { status: 'ACTIVE|INACTIVE' },
  },
  '/customer/site': {
    body: validSite(customerId),
    required: ['customerId', 'name', 'address', 'needsAppointment', 'hasKey'],
    lengths: { name: 60, comment: 150, externalId: 100 },
    ranges: {
      appointmentPreparationTimeInMinutes: [0, Number.MAX_SAFE_INTEGER, 1],
      callOutFee: [0, Number.MAX_VALUE, 0.01],
    },
  },
  '/customer/contact-person': {
    body: { customerId, lastName: 'x' },
    required: ['customerId', 'lastName'],
    lengths: { lastName: 60, firstName: 60, role: 60, phone: 30, mobile: 30, comment: 150 },
    choices: { salutation: 'MR|MRS|DIVERSE|NONE', language: 'de|en' },
  },
  '/customer/contract': {
    body: { customerId, startDate: '2026-01-01', type: 'CARE' },
    required: ['customerId', 'startDate', 'type'],
    lengths: { contractNumber: 40 },
    ranges: { noticePeriodInMonths: [0, 120, 1], netPrice: [0, Number.MAX_VALUE, 0.01] },
    choices: {
      type: 'CARE|RENTAL|CARE_AND_RENTAL|ONE_OFF',
      billingInterval: 'MONTHLY|QUARTERLY|YEARLY|PER_VISIT',
      status: 'DRAFT|ACTIVE|TERMINATED|EXPIRED',
    },
  },
  '/customer/site/plant': {
    body: { siteId, botanicalName: 'x' },
    required: ['siteId', 'botanicalName'],
    lengths: {
      ...{ botanicalName: 120, commonName: 100, building: 60, floor: 60, room: 60, position: 60 },
      ...{ labelCode: 64, comment: 150 },
    },
    ranges: { quantity: [1, 9999, 1], heightInCm: [1, 2000, 1] },
    choices: { status: 'HEALTHY|NEEDS_ATTENTION|CRITICAL|REPLACED|REMOVED', ownership: 'CUSTOMER|RENTED' },
  },
  '/customer/site/container': {
    body: { name: 'x', cultureSystem: 'SOIL' },
    required: ['name', 'cultureSystem'],
    lengths: { name: 60, color: 30, labelCode: 64, comment: 150 },
    ranges: {
      ...{
        lengthInCm: centimetres,
        widthInCm: centimetres,
        heightInCm: centimetres,
        diameterInCm: centimetres,
      },
      volumeInLitres: [0.1, 5000, 0.01],
    },
    choices: {
      cultureSystem: 'SOIL|HYDROCULTURE|SELF_WATERING|SUBSTRATE|OTHER',
      material: 'PLASTIC|CERAMIC|METAL|WOOD|FIBREGLASS|STONE|OTHER',
      ownership: 'CUSTOMER|RENTED',
    },
  },
  '/product': {
    body: { name: 'x', kind: 'PLANT' },
    required: ['name', 'kind'],
    lengths: { name: 100, articleNumber: 40, description: 2000 },
    ranges: { netPrice: [0, Number.MAX_VALUE, 0.01], vatRate: [0, 100, 0.01] },
    choices: { kind: 'PLANT|CONTAINER|SUBSTRATE|FERTILIZER|ACCESSORY|SERVICE' },
  },
  '/employee': {
    body: { firstName: 'x', lastName: 'y' },
    required: ['firstName', 'lastName'],
    lengths: { firstName: 60, lastName: 60, employeeNumber: 30, phone: 30 },
  },
};

for (const [path, { body, required, lengths = {}, ranges = {}, choices = {} }] of Object.entries(limits)) {
  /** Answers with the faulty fields and their codes, or with nothing. */
  const faultsOf = async (change: object): Promise<string[]> => {
    const response = await service.post(path, { ...body, ...change });
    if (response.statusCode === 201) return [];
    return response
      .json()
      .errors.map(({ field, code }: { field: string; code: string }) => `${field}: ${code}`);
  };

  test(`${path} demands the required fields, and nothing else`, async () => {
    for (const field of required) {
      const code = field === 'botanicalName' ? 'required_one_of' : 'required';
      assert.deepEqual(await faultsOf({ [field]: undefined }), [`${field}: ${code}`]);
    }
    assert.deepEqual(await faultsOf({}), []);
  });

  test(`${path} takes texts up to their length in code points, and no longer ones`, async () => {
    for (const [field, max] of Object.entries(lengths)) {
      // Different each time: some of these must be unique.
      const longest = randomUUID().slice(0, 8) + '🌱'.repeat(max - 8);
      assert.deepEqual(await faultsOf({ [field]: longest }), [], field);
      assert.deepEqual(await faultsOf({ [field]: `${longest}x` }), [`${field}: too_long`]);
    }
  });

  test(`${path} takes numbers from the smallest to the largest, and none beyond`, async () => {
    for (const [field, [min, max, step]] of Object.entries(ranges)) {
      assert.deepEqual(await faultsOf({ [field]: min }), [], field);
      assert.deepEqual(await faultsOf({ [field]: min - step }), [`${field}: too_small`]);
      assert.deepEqual(await faultsOf({ [field]: max }), [], field);
      if (max < Number.MAX_VALUE)
        assert.deepEqual(await faultsOf({ [field]: max + step }), [`${field}: too_large`]);
      if (step === 1) assert.deepEqual(await faultsOf({ [field]: min + 0.5 }), [`${field}: type`]);
    }
  });

  test(`${path} takes its choices, and no other`, async () => {
    for (const [field, list] of Object.entries(choices)) {
      for (const choice of list.split('|')) assert.deepEqual(await faultsOf({ [field]: choice }), [], choice);
      assert.deepEqual(await faultsOf({ [field]: 'NO_SUCH_CHOICE' }), [`${field}: invalid_choice`]);
    }
  });
}
