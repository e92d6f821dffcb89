// Creates a customer and a site that belongs to it.
import { createStamm } from '@stamm/client';

const stamm = createStamm({ baseUrl: process.env.STAMM_URL!, apiKey: process.env.STAMM_KEY! });
const address = { streetName: 'Ballindamm', houseNumber: '17a', zipCode: '20095', city: 'Hamburg' };

// Use a key per object of yours: repeating the call then creates nothing twice.
const customer = await stamm.customers.create(
  { companyName: 'Hotel Alsterblick GmbH', address },
  { idempotencyKey: 'typescript-first-customer' },
);
console.log(`customer ${customer.id}`);

const site = await stamm.sites.create(
  { customerId: customer.id, name: 'Lobby', address, needsAppointment: true, hasKey: false },
  { idempotencyKey: 'typescript-first-site' },
);
console.log(`site ${site.id}`);
