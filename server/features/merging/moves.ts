// Moves everything that refers to merged objects to the one that stays, with a journal entry of each.
import type pg from 'pg';
import { type Definition, type Reference, referencesOf } from '../../engine/definition/definition.ts';
import { journalled } from '../../engine/sql/journal.ts';
import type { Statement } from '../../engine/sql/statements.ts';
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
        move: moveStatement(target, definition, references),
      },
    ];
  });

  /** Locks what refers to locked objects. All rows are locked before the journal's head, as everywhere. */
  async function lock(
    client: pg.ClientBase,
    tenantId: string,
    formerIds: readonly string[],
  ): Promise<Map<Referrer, string[]>> {
    const found = new Map<Referrer, string[]>();
    let count = 0;
    for (const referrer of referrers) {
      const { rows } = await client.query<{ id: string }>(referrer.find, [tenantId, formerIds]);
      count += rows.length;
      if (count > maxMoves) throw new ApiError('too_many_references');
      const ids = rows.map(({ id }) => id);
      if (ids.length > 0) found.set(referrer, ids);
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

  return { lock, move };
}

function findQuery({ table }: Definition, references: readonly Reference[]): string {
  const refers = references.map(({ column }) => `${column.name} = ANY ($2)`);
  return `SELECT id FROM ${table} WHERE tenant_id = $1 AND (${refers.join(' OR ')})
    ORDER BY id LIMIT ${maxMoves + 1} FOR NO KEY UPDATE`;
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
