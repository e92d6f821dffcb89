// Finds objects by what an office calls them, for the import: by name, number or external id.
import type { FastifyInstance } from 'fastify';
import { callNamesOf, foldName } from '../../../core/names.ts';
import { type Input, oneOf, type Reading, readForm } from '../../auth/form.ts';
import type { Database } from '../../database/database.ts';
import { type Definition, uniqueColumnsOf } from '../../engine/definition/definition.ts';
import { representation } from '../../engine/sql/representation.ts';

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

  /** For each name the ids of the objects that are called so. */
  office.post('/name-matches', async (request) => {
    const { resource, names } = readForm(request, form);
    const definition = resources.find(({ name }) => name === resource)!;
    const { tenantId, deadline } = request;
    const query = {
      text: statementOf(definition),
      values: [tenantId, names, sortNamesOf(definition, names)],
    };
    const { rows } = await database.queryInTenants<{ json: string }>([tenantId], query, { deadline });
    const found = new Map<string, string[]>();
    for (const { json } of rows) {
      const entity = JSON.parse(json);
      for (const name of callNamesOf(definition, entity)) {
        found.set(name, [...(found.get(name) ?? []), entity.id]);
      }
    }
    return { data: names.map((name) => ({ name, ids: found.get(foldName(name)) ?? [] })) };
  });
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
