// Moves everything that refers to merged objects to the one that stays, with a journal entry of each.
import type pg from 'pg';
import {
  type Definition,
  type Reference,
  referencesOf,
  uniqueGroupsOf,
} from '../../engine/definition/definition.ts';
import { journalled } from '../../engine/write/journal.ts';
import type { Statement } from '../../engine/write/statement-parts.ts';
import { ApiError } from '../../errors.ts';
import { type Author, authorColumns } from '../../http/conventions.ts';

/** The most objects that one merge moves: it holds the tenant's journal until its end. */
export const maxMoves = 20_000;

const rowsPerStatement = 1000;

export interface Moved {
  resource: string;
  count: number;
}

interface Referrer {
  definition: Definition;
  find: string;
  /** Find objects whose values, unique together, would be the same. */
  collisions: { text: string; field: string }[];
  move: Statement;
}

export type Moves = ReturnType<typeof buildMoves>;

export function buildMoves(target: Definition, all: readonly Definition[]) {
  const referrers = all.flatMap((definition): Referrer[] => {
    const references = referencesOf(definition).filter(({ resources }) => resources.includes(target.name));
    if (references.length === 0) return [];
    return [
      {
        definition,
        find: findQuery(definition, references),
        collisions: collisionQueries(definition, references),
        move: moveStatement(target, definition, references),
      },
    ];
  });

  /** Locks what refers to locked objects. All rows are locked before the journal's head, as everywhere. */
  async function lock(
    client: pg.ClientBase,
    tenantId: string,
    { formerIds, id }: { formerIds: readonly string[]; id: string },
  ): Promise<Map<Referrer, string[]>> {
    const found = new Map<Referrer, string[]>();
    let count = 0;
    for (const referrer of referrers) {
      const { rows } = await client.query<{ id: string }>(referrer.find, [tenantId, formerIds]);
      count += rows.length;
      if (count > maxMoves) throw new ApiError('too_many_references');
      const ids = rows.map((row) => row.id);
      if (ids.length > 0) found.set(referrer, ids);
      for (const { text, field } of ids.length > 0 ? referrer.collisions : []) {
        const { rows: colliding } = await client.query<{ id: string }>(text, [tenantId, [...formerIds, id]]);
        if (colliding[0]) throw new ApiError('conflict', { details: { field, id: colliding[0].id } });
      }
    }
    return found;
  }

  async function move(
    client: pg.ClientBase,
    tenantId: string,
    locked: ReadonlyMap<Referrer, readonly string[]>,
    { formerIds, id }: { formerIds: readonly string[]; id: string },
    author: Author,
  ): Promise<Moved[]> {
    const { actor, actor_id, request_id, origin } = authorColumns(author);
    for (const [{ move: statement }, ids] of locked) {
      for (let start = 0; start < ids.length; start += rowsPerStatement) {
        const some = ids.slice(start, start + rowsPerStatement);
        const values = [tenantId, some, formerIds, id, actor, actor_id, request_id, origin];
        await client.query({ ...statement, values });
      }
    }
    return [...locked].map(([{ definition }, ids]) => ({ resource: definition.name, count: ids.length }));
  }

  return { lock, move, statements: referrers.map((one) => one.move) };
}

function findQuery({ table }: Definition, references: readonly Reference[]): string {
  const refers = references.map(({ column }) => `${column.name} = ANY ($2)`);
  return `SELECT id FROM ${table} WHERE tenant_id = $1 AND (${refers.join(' OR ')})
    ORDER BY id LIMIT ${maxMoves + 1} FOR NO KEY UPDATE`;
}

function collisionQueries(definition: Definition, references: readonly Reference[]): Referrer['collisions'] {
  return uniqueGroupsOf(definition).flatMap((group) => {
    const moved = references.find(({ column }) => group.includes(column))?.column.name;
    if (!moved) return [];
    const others = group.filter(({ name }) => name !== moved).map(({ name }) => name);
    const text = `SELECT (array_agg(id ORDER BY id))[1] AS id FROM ${definition.table}
      WHERE tenant_id = $1 AND ${moved} = ANY ($2) AND ${others.map((name) => `${name} IS NOT NULL`).join(' AND ')}
      GROUP BY ${others.join(', ')} HAVING count(*) > 1 LIMIT 1`;
    return [{ text, field: group.at(-1)!.path.join('.') }];
  });
}

function moveStatement(
  target: Definition,
  definition: Definition,
  references: readonly Reference[],
): Statement {
  const { table, name } = definition;
  const isMoved = ({ column }: Reference) => `before.${column.name} = ANY ($3)`;
  const settings = references.map(
    (reference) =>
      `${reference.column.name} = CASE WHEN ${isMoved(reference)} THEN $4::uuid ELSE before.${reference.column.name} END`,
  );
  const changes = references.map(
    (reference) => `CASE WHEN ${isMoved(reference)} THEN
          '"${reference.column.path[0]}":{"from":' || to_json(before.${reference.column.name}) || ',"to":' || to_json($4::uuid) || '}' END`,
  );
  return {
    name: `move ${name} of ${target.name}`,
    text: `
      WITH before AS MATERIALIZED (
        SELECT id, ${references.map(({ column }) => column.name).join(', ')} FROM ${table}
        WHERE tenant_id = $1 AND id = ANY ($2)
      ), written AS (
        UPDATE ${table} SET ${settings.join(', ')}, version = ${table}.version + 1, updated_at = now()
        FROM before WHERE ${table}.tenant_id = $1 AND ${table}.id = before.id
        RETURNING ${table}.tenant_id, ${table}.id, ${table}.external_id, ${table}.version,
          $5::text AS actor, $6::uuid AS actor_id, $7::uuid AS request_id, $8::text AS origin,
          ('{' || concat_ws(',', ${changes.join(', ')}) || '}')::json AS changes
      ), sent AS (SELECT * FROM written), ${journalled(definition, 'CHANGED')}
      SELECT count(*) FROM written`,
  };
}
