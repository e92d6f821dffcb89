// Reads what belongs to objects that are to be deleted. Nobody can add to a locked object.
import type pg from 'pg';
import { tableOf } from '../definition/definition.ts';
import type { Row } from '../definition/validation.ts';
import { RaceError } from './races.ts';
import { belongingOf, type WrittenResource } from './resource.ts';
import { type Known, knownFrom, type State } from './state.ts';
import { countDependants, factColumns } from './statements.ts';

/** The most objects that one deletion removes. */
export const maxDependants = 10_000;

/** Number of dependants that an answer lists. */
export const listedDependants = 10;

/** Notes how many objects belong to each of `owners`, and the first of them. Intents may take away `most` of those. */
export async function readDependants(
  client: pg.ClientBase,
  resources: readonly WrittenResource[],
  tenantId: string,
  owners: readonly Known[],
  most: number,
  state: State,
): Promise<void> {
  for (const resource of resources) {
    for (const { resource: dependant, column } of resource.dependants) {
      const isNoted = (id: string) => state.dependants.has(`${id} ${belongingOf(dependant, column)}`);
      const own = owners.filter((owner) => owner.resource === resource && !isNoted(owner.id));
      if (own.length === 0) continue;
      const ids = own.map(({ id }) => id);
      for (const id of ids) noteNone(state, id, belongingOf(dependant, column));
      const { rows } = await client.query<{ owner_id: string; count: number; ids: string[] }>(
        countDependants(dependant, column),
        [tenantId, ids, listedDependants + most],
      );
      for (const { owner_id: ownerId, count, ids: first } of rows)
        state.dependants.set(`${ownerId} ${belongingOf(dependant, column)}`, { count, ids: new Set(first) });
    }
  }
}

/** Locks and notes everything below `roots`. Returns false and notes nothing if it is too much for one transaction. */
export async function readCascades(
  client: pg.ClientBase,
  resources: readonly WrittenResource[],
  tenantId: string,
  roots: readonly Known[],
  state: State,
): Promise<boolean> {
  let count = 0;

  async function readBelow(owner: WrittenResource, ids: readonly string[]): Promise<void> {
    for (const { resource: name, column } of owner.dependants) {
      for (const id of ids) noteNone(state, id, belongingOf(name, column));
      const dependant = resources.find(({ definition }) => definition.name === name)!;
      const { rows } = await client.query<Row & { id: string; version: number }>(
        `SELECT id, version, ${factColumns(dependant.definition, tableOf(name))} FROM ${tableOf(name)}
         WHERE tenant_id = $1 AND ${column} = ANY ($2) ORDER BY id LIMIT ${maxDependants + 1} FOR UPDATE`,
        [tenantId, ids],
      );
      count += rows.length;
      if (rows.length === 0 || count > maxDependants) continue;
      for (const row of rows) {
        const own = state.dependants.get(`${row[column]} ${belongingOf(name, column)}`)!;
        own.count++;
        own.ids.add(row.id);
        if (!state.objects.has(row.id)) state.load(knownFrom(dependant, row.id, row.version, row));
      }
      const below = rows.map(({ id }) => id);
      await readBelow(dependant, below);
    }
  }

  for (const resource of resources) {
    const ids = [...new Set(roots.filter((root) => root.resource === resource).map(({ id }) => id))];
    if (ids.length > 0) await readBelow(resource, ids);
  }
  state.hasTooManyDependants = count > maxDependants;
  if (state.hasTooManyDependants) state.dependants.clear();
  return !state.hasTooManyDependants;
}

function noteNone(state: State, ownerId: string, belonging: string): void {
  state.dependants.set(`${ownerId} ${belonging}`, { count: 0, ids: new Set() });
}

/** Describes the dependants of an object for an error. */
export function describeDependants({ id, resource }: Known, state: State) {
  return resource.dependants.flatMap(({ resource: dependant, column }) => {
    const own = state.dependantsOf(id, belongingOf(dependant, column));
    if (!own || own.count === 0) return [];
    return [
      { resource: dependant, count: own.count, ids: [...own.ids].toSorted().slice(0, listedDependants) },
    ];
  });
}

export function hasDependants({ id, resource }: Known, state: State): boolean {
  return resource.dependants.some(
    ({ resource: dependant, column }) =>
      (state.dependantsOf(id, belongingOf(dependant, column))?.count ?? 0) > 0,
  );
}

/** The object and everything below it, dependants first; undefined if there are too many. */
export function collectCascade(root: Known, state: State): Map<WrittenResource, Known[]> | undefined {
  const found = new Map<WrittenResource, Map<string, Known>>();
  let count = 0;
  const collect = (owner: Known): boolean =>
    owner.resource.dependants.every(({ resource: name, column }) => {
      const own = state.dependantsOf(owner.id, belongingOf(name, column));
      if (!own && !state.hasTooManyDependants)
        throw new RaceError('The object moved here, and nobody read what belongs to it.');
      if (!own) return false;
      const below = [...own.ids].flatMap((id) => state.objects.get(id) ?? []);
      count += below.length;
      if (count > maxDependants || below.length < own.count) return false;
      return below.every((known) => {
        if (!collect(known)) return false;
        found.getOrInsertComputed(known.resource, () => new Map()).set(known.id, known);
        return true;
      });
    });
  if (!collect(root)) return undefined;
  const ordered = [...found]
    .toSorted(([one], [other]) => other.place - one.place)
    .map(
      ([kind, objects]) =>
        [kind, [...objects.values()].toSorted((one, other) => (one.id < other.id ? -1 : 1))] as const,
    );
  return new Map([...ordered, [root.resource, [root]]]);
}
