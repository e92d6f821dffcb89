// Finds objects by what an office calls them: by name, number or external id, or as somebody assigned them.
import { calledByFields, callNamesOf, foldName } from '../../../core/definition/names.ts';
import type { Pace } from '../../../core/pace.ts';
import type { Database } from '../../database/database.ts';
import { type Definition, uniqueColumnsOf } from '../../engine/definition/definition.ts';
import { representation } from '../../engine/read/representation.ts';

/** More objects of the same name are as ambiguous as these. */
const maxRows = 5000;

/** A name in a file, and whose object it is where the file says so. */
export interface SoughtName {
  name: string;
  owner?: string | undefined;
}

export interface NameMatch extends SoughtName {
  ids: string[];
  rememberedId: string | undefined;
}

interface Search {
  database: Pick<Database, 'queryInTenants'>;
  resources: readonly Definition[];
  tenantId: string;
  deadline?: number;
  pace?: Pick<Pace, 'step'>;
}

/** The name under which an assignment is remembered. The same name of two owners is two names. */
export function rememberedNameOf({ name, owner }: SoughtName): string {
  return foldName(owner === undefined ? name : `${name} (${owner})`);
}

export async function findNames(
  search: Search,
  definition: Definition,
  sought: readonly SoughtName[],
): Promise<NameMatch[]> {
  const found = await findEntities(search, definition, [...new Set(sought.map(({ name }) => name))]);
  const remembered = await findRemembered(search, definition, sought.map(rememberedNameOf));
  const owners = await findOwners(search, definition, sought);
  return sought.map(({ name, owner }) => {
    const entities = found.get(foldName(name)) ?? [];
    const isOwned = ({ ownerId }: Found) => owner === undefined || owners.get(owner)?.includes(ownerId ?? '');
    return {
      name,
      ...(owner !== undefined && { owner }),
      ids: entities.filter(isOwned).map(({ id }) => id),
      rememberedId: remembered.get(rememberedNameOf({ name, owner })),
    };
  });
}

interface Found {
  id: string;
  ownerId: string | undefined;
}

async function findEntities(
  { database, tenantId, deadline, pace }: Search,
  definition: Definition,
  names: readonly string[],
): Promise<Map<string, Found[]>> {
  const query = {
    text: statementOf(definition),
    values: [tenantId, names, sortNamesOf(definition, names)],
  };
  const { rows } = await database.queryInTenants<{ json: string }>([tenantId], query, { deadline });
  const found = new Map<string, Found[]>();
  const owner = ownerOf(definition)?.field ?? '';
  for (const { json } of rows) {
    const entity = JSON.parse(json);
    for (const name of callNamesOf(definition, entity)) {
      found.getOrInsertComputed(name, () => []).push({ id: entity.id, ownerId: entity[owner] });
    }
    await pace?.step();
  }
  return found;
}

function ownerOf({ fields }: Definition): { field: string; resource: string } | undefined {
  const [field, owner] = Object.entries(fields).find(([, { reference }]) => reference?.isOwner) ?? [];
  return field ? { field, resource: owner!.reference!.resources[0]! } : undefined;
}

/** The ids of the owners, by their names. */
async function findOwners(
  search: Search,
  definition: Definition,
  sought: readonly SoughtName[],
): Promise<Map<string, string[]>> {
  const names = [...new Set(sought.flatMap(({ owner }) => owner ?? []))];
  const { resource } = ownerOf(definition) ?? {};
  const owners = search.resources.find(({ name }) => name === resource);
  if (!owners || names.length === 0) return new Map();
  const matches = await findNames(
    search,
    owners,
    names.map((name) => ({ name })),
  );
  return new Map(
    matches.map(({ name, ids, rememberedId }) => [
      name,
      ids.length === 0 && rememberedId ? [rememberedId] : ids,
    ]),
  );
}

async function findRemembered(
  { database, tenantId }: Search,
  { name: resource, table }: Definition,
  names: readonly string[],
): Promise<Map<string, string>> {
  const { rows } = await database.queryInTenants<{ name: string; id: string }>([tenantId], {
    text: `SELECT known.name, known.object_id AS id FROM remembered_name AS known
      JOIN ${table} AS subject ON subject.tenant_id = $1 AND subject.id = known.object_id
      WHERE known.tenant_id = $1 AND known.resource = $2 AND known.name = ANY ($3)`,
    values: [tenantId, resource, names],
  });
  return new Map(rows.map(({ name, id }) => [name, id]));
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
  // Lists of thousands of objects of one name would be very large.
  const fields = [...calledByFields(definition), ownerOf(definition)?.field ?? ''];
  const json = representation(definition, 'subject', {
    fields: new Map(fields.map((name) => [name, undefined])),
  });
  return `SELECT ${json} AS json FROM ${table} AS subject
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
