// Everything that a business stores, with names in place of ids: two businesses can be compared.

import type { Answer } from '../api/import/import-client.ts';
import type { TestService } from './service.ts';

/** Up to 500 objects of each kind, and the history of each object. */
export async function readStored({ get }: TestService, key: string) {
  const readAll = async (path: string): Promise<Answer[]> =>
    (await get(`${path}limit=500`, { headers: { apikey: key } })).json().data;
  const objects: Answer[] = [];
  const kinds = new Map<string, string>();
  for (const collection of ['customers', 'contact-persons', 'sites']) {
    for (const object of await readAll(`/${collection}?include=externalIds&`)) {
      const { id, createdAt: _created, updatedAt: _updated, customerId: _owner, ...rest } = object;
      kinds.set(id, collection);
      for (const name of ['contactPersonId', 'serviceRecordRecipientId'])
        if (rest[name] !== undefined) rest[name] = kinds.get(rest[name]) ?? 'deleted';
      objects.push(rest);
    }
  }
  const histories = Map.groupBy(await readAll('/changes?'), ({ id }) => id);
  const changes = [...histories.values()]
    .map((entries) =>
      entries.map(({ resource, externalId, action, version }) => [resource, externalId, action, version]),
    )
    .map((entries) => JSON.stringify(entries));
  return { objects: objects.map((object) => JSON.stringify(object)).toSorted(), changes: changes.toSorted() };
}
