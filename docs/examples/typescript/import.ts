// Imports many objects. Results arrive while lines are sent.
import { createStamm, type ImportLine } from '@stamm/client';

const stamm = createStamm({ baseUrl: process.env.STAMM_URL!, apiKey: process.env.STAMM_KEY! });
const address = { streetName: 'Am Wall', houseNumber: '5', zipCode: '28195', city: 'Bremen' };

// `revive: false` leaves deleted what the office has deleted: such a line fails with 409 and the id to restore.
const lines: ImportLine[] = [
  { type: 'customer', revive: false, data: { externalId: 'TS-1', companyName: 'Weser Büro AG', address } },
  {
    type: 'contact-person',
    revive: false,
    data: { externalId: 'TS-1-P', customerExternalId: 'TS-1', lastName: 'Petersen' },
  },
  { type: 'customer', revive: false, data: { externalId: 'TS-2', companyName: '', address } },
];

// After a broken connection or a restart of the service, the client sends the lines again under the same key: no line is
// stored twice. It throws if it does not get to the end.
const run = stamm.import(lines, { idempotencyKey: 'typescript-import-2026-11-17' });
for (;;) {
  const { done, value } = await run.next();
  if (done) {
    console.log(`created ${value.created}, failed ${value.failed}`);
    break;
  }
  if (value.status >= 400) console.log(`line ${value.line} ${value.code}`);
}
