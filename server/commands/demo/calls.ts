// Calls that other systems made with the demo's data: changes, a deletion and deliveries to look at.
import type { Database } from '../../database/database.ts';
import { createEndpoint } from '../../features/webhooks/endpoints.ts';

interface Call {
  method: string;
  path: string;
  body?: object;
}

const address = { streetName: 'Osterstraße', houseNumber: '12', zipCode: '20259', city: 'Hamburg' };
const removed = { companyName: 'Blumenladen Osterstraße', address, externalId: 'SHOP-88214' };

/** They leave as many objects as there were. */
const calls: readonly Call[] = [
  { method: 'GET', path: '/sites?city=Hamburg' },
  { method: 'PATCH', path: '/customers/by-external-id/KD-10001', body: { phone: '040 555 0140' } },
  { method: 'PATCH', path: '/customers/by-external-id/KD-10001', body: { phone: '040 555 0141' } },
  { method: 'PATCH', path: '/customers/by-external-id/KD-10002', body: { comment: 'Rechnung per E-Mail' } },
  { method: 'POST', path: '/customer', body: removed },
  { method: 'DELETE', path: `/customers/by-external-id/${removed.externalId}` },
  // Refused: the office can correct these.
  { method: 'POST', path: '/customer', body: { companyName: 'Praxis am Park', adress: address } },
  {
    method: 'POST',
    path: '/customer',
    body: { companyName: 'Kanzlei Nord', address, email: 'kanzlei(at)nord' },
  },
  { method: 'GET', path: '/site' },
];

/** No receiver has a name below .example: its deliveries wait, as for a system that is down. */
const receiver = 'https://erp.gruen-und-gut.example/stamm';

export async function makeCalls(
  database: Database,
  { origin, tenantId, key }: { origin: string; tenantId: string; key: string },
): Promise<void> {
  await database.inTenants([tenantId], (client) =>
    createEndpoint(client, tenantId, { url: receiver, resources: null }),
  );
  for (const { method, path, body } of calls) {
    const response = await fetch(`${origin}/api/v1${path}`, {
      method,
      headers: {
        ApiKey: key,
        'User-Agent': 'ERP-Connector/2.4',
        'Stamm-Origin': 'erp',
        ...(body && { 'Content-Type': 'application/json' }),
      },
      ...(body && { body: JSON.stringify(body) }),
    });
    await response.arrayBuffer();
  }
}
