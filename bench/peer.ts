// Another service that takes the same requests: its customers are created there first, if it lets us.

import { bodyCount, creationRequest, customerCount, fixedId } from './data/tenants.ts';
import type { Request } from './load/requests.ts';

const customer = {
  companyName: 'Kunde',
  address: { streetName: 'Ballindamm', houseNumber: '17a', zipCode: '20095', city: 'Hamburg' },
};

/** Creations for as many customers as elsewhere, all with the one key that we have. */
export async function preparePeer(origin: string, key: string): Promise<Request[]> {
  const customerIds: string[] = [];
  for (let number = 0; number < customerCount; number++) {
    customerIds.push((await createCustomer(origin, key)) ?? fixedId(number));
  }
  return Array.from({ length: bodyCount }, (_, number) =>
    creationRequest(number, key, customerIds[number % customerCount]),
  );
}

/** Undefined where the peer has no such path: it may take sites of any customer. */
async function createCustomer(origin: string, key: string): Promise<string | undefined> {
  const answer = await fetch(`${origin}/api/v1/customer`, {
    method: 'POST',
    headers: { ApiKey: key, 'Content-Type': 'application/json' },
    body: JSON.stringify(customer),
    signal: AbortSignal.timeout(10_000),
  });
  const text = await answer.text();
  if (answer.status !== 201) return undefined;
  const { id } = JSON.parse(text);
  return typeof id === 'string' ? id : undefined;
}
