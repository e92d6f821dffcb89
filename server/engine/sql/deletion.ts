// Moves objects to the bin, inside a transaction.
import type pg from 'pg';
import { ApiError } from '../../errors.ts';
import { type Author, authorColumns } from '../../http/conventions.ts';
import { type Definition, dependantsOf, ownersOf } from '../definition/definition.ts';
import { buildDelete } from './bin.ts';
import { type Dependant, lockDependants } from './dependants.ts';
import { RaceError } from './races.ts';
import type { Deleted, Deletion } from './rows.ts';

export function buildDeletion(definition: Definition, all: readonly Definition[]) {
  const places = dependantsOf(definition, all).flatMap((dependant) =>
    ownersOf(dependant)
      .filter((owner) => owner.resource === definition.name)
      .map(({ column }) => ({ dependant, column })),
  );

  /** Moves a locked object to the bin, with everything that belongs to it if it is a cascade. Answers what was deleted. */
  async function deleteRow(
    client: pg.ClientBase,
    tenantId: string,
    id: string,
    author: Author,
    isCascade = false,
  ): Promise<Deleted[]> {
    const outcome = (await deleteRows(client, tenantId, [{ id, isCascade }], author)).get(id)!;
    if (outcome instanceof ApiError) throw outcome;
    return outcome;
  }

  /** The same for many objects, in as many statements as one takes. Answers by their ids. */
  async function deleteRows(
    client: pg.ClientBase,
    tenantId: string,
    deletions: readonly Deletion[],
    author: Author,
  ): Promise<Map<string, Deleted[] | ApiError>> {
    const cascades = idsOf(deletions.filter(({ isCascade }) => isCascade));
    const below =
      cascades.length > 0 ? await lockDependants(client, tenantId, definition, cascades, all) : [];
    // Half as many may suit one statement.
    if (!below && deletions.length > 1) throw new RaceError('Too many dependants.');
    const single = below ? idsOf(deletions.filter(({ isCascade }) => !isCascade)) : idsOf(deletions);
    const dependants = await findDependants(client, tenantId, single);
    const roots = idsOf(deletions).filter((id) => !dependants.has(id));
    const gone = [...(below ?? []), { definition, objects: roots.map((id) => ({ id, rootId: id })) }];
    for (const { definition: kind, objects } of gone) await remove(client, kind, tenantId, objects, author);
    const deleted = new Map<string, Deleted[]>(roots.map((id) => [id, []]));
    for (const { definition: kind, objects } of gone) {
      for (const [rootId, own] of Map.groupBy(objects, (object) => object.rootId))
        deleted.get(rootId)!.push({ resource: kind.name, ids: idsOf(own) });
    }
    return new Map<string, Deleted[] | ApiError>([...deleted, ...dependants]);
  }

  /** The errors of objects that others belong to: one statement per kind and way to belong. */
  async function findDependants(
    client: pg.ClientBase,
    tenantId: string,
    ids: readonly string[],
  ): Promise<Map<string, ApiError>> {
    const found = new Map<string, { resource: string; count: number; ids: string[] }[]>();
    for (const { dependant, column } of ids.length > 0 ? places : []) {
      const { rows } = await client.query<{ owner_id: string; count: number; ids: string[] }>(
        `SELECT ${column.name} AS owner_id, count(*)::integer AS count, (array_agg(id ORDER BY id))[1:10] AS ids
         FROM ${dependant.table} WHERE tenant_id = $1 AND ${column.name} = ANY ($2) GROUP BY ${column.name}`,
        [tenantId, ids],
      );
      for (const { owner_id: ownerId, ...counted } of rows)
        found.getOrInsertComputed(ownerId, () => []).push({ resource: dependant.name, ...counted });
    }
    return new Map(
      [...found].map(([id, own]) => [id, new ApiError('has_dependants', { details: { dependants: own } })]),
    );
  }

  return { deleteRow, deleteRows };
}

async function remove(
  client: pg.ClientBase,
  definition: Definition,
  tenantId: string,
  objects: readonly Dependant[],
  author: Author,
): Promise<void> {
  if (objects.length === 0) return;
  const named = objects.map(({ id, rootId }) => ({
    tenant_id: tenantId,
    id,
    root_id: rootId,
    ...authorColumns(author),
  }));
  await client.query({ ...buildDelete(definition), values: [JSON.stringify(named)] });
}

function idsOf(objects: readonly { id: string }[]): string[] {
  return objects.map(({ id }) => id);
}
