// A list that brings the names of what its rows refer to: no second wave of requests.
import type { Column } from '../tables/columns.ts';
import { type Definition, type Entity, useDefinitions } from './definitions.ts';
import type { Named } from './named.ts';
import { listQuery } from './records.ts';

type Parameters = Record<string, string | undefined>;

/** Names of the shown columns, and of the owner, whom a narrow screen shows. */
export function useNamingList(definition: Definition, parameters: Parameters, shown: readonly Column[]) {
  const definitions = useDefinitions();
  const references = definition.fields.flatMap(({ name, reference }) => {
    const target = definitions.find((candidate) => candidate.name === reference?.resources[0]);
    const isWanted = reference?.isOwner || shown.some(({ id }) => id === name);
    return reference?.resources.length === 1 && target && isWanted
      ? [{ name, resources: reference.resources, embedded: name.replace(/Id$/, ''), target }]
      : [];
  });
  const include = references.map(({ embedded }) => embedded).join(',') || undefined;
  return listQuery(definition.collection, { ...parameters, include }, 100, (page, client) => {
    for (const entity of page.data)
      for (const { name, resources, embedded, target } of references) {
        const found = entity[embedded] as Entity | null | undefined;
        if (!found) continue;
        const named: Named = { definition: target, entity: found, isDeleted: false };
        client.setQueryData(['named', resources, entity[name]], named);
      }
  });
}
