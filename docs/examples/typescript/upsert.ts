// Keeps a customer under your own id: replaces it, then changes one field.
import { createStamm } from '@stamm/client';

const stamm = createStamm({
  baseUrl: process.env.STAMM_URL!,
  apiKey: process.env.STAMM_KEY!,
  origin: 'erp',
});

// What the office has deleted stays deleted: 409 with the id to restore.
const options = { revive: false };

// Creates or replaces: fields that are not sent are cleared.
const address = { streetName: 'Am Markt', houseNumber: '1', zipCode: '28195', city: 'Bremen' };
const body = { companyName: 'Rathaus Café', address };
const { version, changed } = await stamm.customers.replace('K-10023', body, options);
console.log(`version ${version}, changed ${changed}`);

// Merges: fields that are not sent stay.
const patch = { phone: '+49 421 123456' };
const customer = await stamm.customers.merge({ externalId: 'K-10023' }, patch, options);
console.log(`phone ${customer.phone}`);
