// Finds objects by what an office calls them, for the import: by name, number or external id.
import type { FastifyInstance } from 'fastify';
import type pg from 'pg';
import { callNamesOf, foldName } from '../../../core/names.ts';
import { type Input, oneOf, optional, type Reading, readForm, uuid, words } from '../../auth/form.ts';
import type { Database } from '../../database/database.ts';
import { type Definition, uniqueColumnsOf } from '../../engine/definition/definition.ts';
import { representation } from '../../engine/sql/representation.ts';
import { validationError } from '../../errors.ts';
import { paceOf } from '../../http/request-pace.ts';

const maxNames = 200;
const maxNameLength = 200;
/** More objects of the same name are as ambiguous as these. */
const maxRows = 5000;

const namesInput: Input<string[]> = {
  isRequired: true,
  read(value): Reading<string[]> {
    if (!Array.isArray(value)) return { code: 'type', params: { type: 'array' } };
    if (value.length > maxNames) return { code: 'too_many_items', params: { max: maxNames } };
    const isName = (name: unknown) => typeof name === 'string' && name.length <= maxNameLength;
    return value.every(isName) ? { value } : { code: 'too_long', params: { max: maxNameLength } };
  },
};

export async function nameMatchRoutes(
  office: FastifyInstance,
  { database, resources }: { database: Database; resources: readonly Definition[] },
): Promise<void> {
  const form = { resource: oneOf(resources.map(({ name }) => name)), names: namesInput };

  /** For each name the ids of the objects that are called so, and the one that somebody assigned to it. */
  office.post('/name-matches', { config: { isHeavyRead: true } }, async (request) => {
    const { resource, names } = readForm(request, form);
    const definition = resources.find(({ name }) => name === resource)!;
    const { tenantId, deadline } = request;
    const query = {
      text: statementOf(definition),
      values: [tenantId, names, sortNamesOf(definition, names)],
    };
    const { rows } = await database.queryInTenants<{ json: string }>([tenantId], query, { deadline });
    const found = new Map<string, string[]>();
    const pace = paceOf(request);
    for (const { json } of rows) {
      const entity = JSON.parse(json);
      for (const name of callNamesOf(definition, entity)) {
        found.getOrInsertComputed(name, () => []).push(entity.id);
      }
      await pace.step();
    }
    const remembered = await findRemembered(request.tenantId, definition, names);
    return {
      data: names.map((name) => ({
        name,
        ids: found.get(foldName(name)) ?? [],
        rememberedId: remembered.get(foldName(name)),
      })),
    };
  });

  async function findRemembered(
    tenantId: string,
    { name: resource, table }: Definition,
    names: readonly string[],
  ): Promise<Map<string, string>> {
    const { rows } = await database.queryInTenants<{ name: string; id: string }>([tenantId], {
      text: `SELECT known.name, known.object_id AS id FROM remembered_name AS known
        JOIN ${table} AS subject ON subject.tenant_id = $1 AND subject.id = known.object_id
        WHERE known.tenant_id = $1 AND known.resource = $2 AND known.name = ANY ($3)`,
      values: [tenantId, resource, names.map(foldName)],
    });
    return new Map(rows.map(({ name, id }) => [name, id]));
  }

  const assignment = { resource: form.resource, name: words(maxNameLength), id: optional(uuid) };

  /** Remembers what a name in files means, or forgets it where no id is sent. */
  office.put('/remembered-names', async (request, reply) => {
    const { resource, name, id } = readForm(request, assignment);
    const { tenantId, actor, deadline } = request;
    const { table } = resources.find((definition) => definition.name === resource)!;
    const key = [tenantId, resource, foldName(name)];
    const { rowCount } = await database.queryInTenants(
      [tenantId],
      id === undefined
        ? {
            text: 'DELETE FROM remembered_name WHERE tenant_id = $1 AND resource = $2 AND name = $3',
            values: key,
          }
        : {
            text: `INSERT INTO remembered_name (tenant_id, resource, name, object_id, actor)
              SELECT $1, $2, $3, subject.id, $5 FROM ${table} AS subject WHERE subject.tenant_id = $1 AND subject.id = $4
              ON CONFLICT (tenant_id, resource, name) DO UPDATE SET object_id = excluded.object_id,
                actor = excluded.actor, remembered_at = excluded.remembered_at`,
            values: [...key, id, actor],
          },
      { deadline },
    );
    if (id !== undefined && rowCount === 0)
      throw validationError([{ path: ['id'], code: 'reference_not_found' }]);
    reply.code(204);
  });
}

/** A name may be a person's. */
export async function eraseRememberedNames(client: pg.ClientBase, tenantId: string): Promise<void> {
  await client.query('DELETE FROM remembered_name WHERE tenant_id = $1', [tenantId]);
}

/** Names that were folded before `foldName` knew more letters. A name that is equal now and already there counts. */
export async function respellRememberedNames(client: pg.ClientBase, tenantId: string): Promise<void> {
  const { rows } = await client.query<{ resource: string; name: string }>(
    `SELECT resource, name FROM remembered_name WHERE tenant_id = $1 AND octet_length(name) <> length(name)
     ORDER BY remembered_at DESC FOR UPDATE`,
    [tenantId],
  );
  const former = rows.filter(({ name }) => name !== foldName(name));
  await client.query(
    `WITH former AS (
       DELETE FROM remembered_name AS known USING unnest($2::text[], $3::text[], $4::text[]) AS sent (resource, name, folded)
       WHERE known.tenant_id = $1 AND known.resource = sent.resource AND known.name = sent.name
       RETURNING known.*, sent.folded
     )
     INSERT INTO remembered_name (tenant_id, resource, name, object_id, actor, remembered_at)
     SELECT tenant_id, resource, folded, object_id, actor, remembered_at FROM former ORDER BY remembered_at DESC
     ON CONFLICT DO NOTHING`,
    [
      tenantId,
      former.map(({ resource }) => resource),
      former.map(({ name }) => name),
      former.map(({ name }) => foldName(name)),
    ],
  );
}

/** Each condition has its own index. */
function statementOf(definition: Definition): string {
  const { table } = definition;
  const conditions = [
    'subject.sort_name IN (SELECT fold(name) FROM unnest($3::text[]) AS name)',
    ...uniqueColumnsOf(definition).map(({ name }) => `subject.${name} = ANY ($2)`),
  ];
  const parts = conditions.map(
    (condition) =>
      `(SELECT subject.id FROM ${table} AS subject WHERE subject.tenant_id = $1 AND ${condition} LIMIT ${maxRows})`,
  );
  return `SELECT ${representation(definition, 'subject')} AS json FROM ${table} AS subject
    WHERE subject.tenant_id = $1 AND subject.id IN (${parts.join(' UNION ')})`;
}

/** People sort by their last name: of "Jonas Harms" and "Harms, Jonas" it is one of the words, or several. */
function sortNamesOf({ nameField }: Definition, names: readonly string[]): string[] {
  if (nameField !== 'lastName') return [...names];
  return [
    ...new Set(
      names.flatMap((name) => {
        const words = name.replace(/,/g, ' ').split(/\s+/).filter(Boolean).slice(0, 6);
        return words.flatMap((_, start) =>
          words.slice(start).map((_, length) => words.slice(start, start + length + 1).join(' ')),
        );
      }),
    ),
  ];
}
