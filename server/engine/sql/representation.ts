// PostgreSQL builds the JSON of a row: numbers and lists leave exactly as they came in, and Node parses nothing. Fields
// without a value are absent.
import {
  columnName,
  type Definition,
  type Reference,
  referencesOf,
  tableOf,
} from '../definition/definition.ts';
import type { Field, Fields } from '../definition/fields.ts';

/** An SQL expression of type text over the columns of the table, which is named `alias`. */
export function representation(
  definition: Definition,
  alias: string,
  { withExternalIds = false }: { withExternalIds?: boolean } = {},
): string {
  const references = withExternalIds ? referencesOf(definition) : [];
  const fields = Object.fromEntries(
    Object.entries(definition.fields).filter(
      ([name]) => !references.some((one) => one.externalName === name),
    ),
  );
  const members = [
    member('id', `to_json(${alias}.id)`),
    ...fieldMembers(fields, alias, []),
    ...references.map((reference) =>
      member(reference.externalName, `to_json(${externalIdOf(reference, alias)})`),
    ),
    member('version', `${alias}.version`),
    member('createdAt', timestamp(`${alias}.created_at`)),
    member('updatedAt', timestamp(`${alias}.updated_at`)),
  ];
  return `'{' || ${joined(members)} || '}'`;
}

/** The external id of the object that a row names. If that object has not arrived, the one that was sent. */
export function externalIdOf(
  { column, externalColumn, resources, isOwner }: Reference,
  alias: string,
): string {
  const found = resources.map(
    (name) => `(SELECT named.external_id FROM ${tableOf(name)} AS named
      WHERE named.tenant_id = ${alias}.tenant_id AND named.id = ${alias}.${column.name})`,
  );
  return `coalesce(${[...found, ...(isOwner ? [] : [`${alias}.${externalColumn}`])].join(', ')})`;
}

function fieldMembers(fields: Fields, alias: string, parents: readonly string[]): string[] {
  return Object.entries(fields).map(([name, field]) => {
    const path = [...parents, name];
    if (!field.fields) return member(name, jsonValue(field, `${alias}.${columnName(path)}`));
    // An empty group is absent.
    return member(name, `'{' || nullif(${joined(fieldMembers(field.fields, alias, path))}, '') || '}'`);
  });
}

/** NULL if the value is NULL: concat_ws then omits the member. */
function member(name: string, value: string): string {
  return `'"${name}":' || ${value}`;
}

function joined(members: readonly string[]): string {
  return `concat_ws(',', ${members.join(', ')})`;
}

function jsonValue(field: Field, column: string): string {
  switch (field.kind) {
    case 'integer':
    case 'decimal':
    case 'double':
    case 'list':
      return `${column}::text`;
    default:
      return `to_json(${column})`;
  }
}

/** In UTC and exact to the microsecond, like the stored value. */
export function timestamp(column: string): string {
  return `to_char(${column} AT TIME ZONE 'UTC', '\\"YYYY-MM-DD"T"HH24:MI:SS.US"Z"\\"')`;
}
