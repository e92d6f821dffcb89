// Keeps a customer under your own id: replaces it, then changes one field.
import { createStamm } from '@stamm/client';

const stamm = createStamm({
  baseUrl: process.env.STAMM_URL!,
  apiKey: process.env.STAMM_KEY!,
  origin: 'erp',
});

// Creates or replaces: fields that are not sent are cleared.
const { version, changed } = await stamm.customers.replace('K-10023', {
  companyName: 'Rathaus Café',
  address: { streetName: 'Am Markt', houseNumber: '1', zipCode: '28195', city: 'Bremen' },
});
console.log(`version ${version}, changed ${changed}`);

// Merges: fields that are not sent stay.
const customer = await stamm.customers.merge({ externalId: 'K-10023' }, { phone: '+49 421 123456' });
console.log(`phone ${customer.phone}`);
