// PostgreSQL builds the JSON of a row: numbers and lists leave exactly as they came in, and Node parses nothing. Fields
// without a value are absent.
import {
  columnName,
  columnsOf,
  type Definition,
  type Reference,
  referencesOf,
  tableOf,
} from '../definition/definition.ts';
import type { Field, Fields } from '../definition/fields.ts';
import { type Embedded, type FieldTree, isChosen, type ObjectForm } from './object-form.ts';
import { jsonBytes, textBytes } from './page-size.ts';

/** An SQL expression of type text over the columns of the table, which is named `alias`, and of `joinEmbedded`. */
export function representation(definition: Definition, alias: string, form: ObjectForm = {}): string {
  const { fields: chosen, withExternalIds = false, embedded = [] } = form;
  const references = referencesOf(definition).filter(
    ({ externalName }) => withExternalIds || chosen?.has(externalName),
  );
  const fields = Object.fromEntries(
    Object.entries(definition.fields).filter(
      ([name]) => !references.some((one) => one.externalName === name),
    ),
  );
  const common = {
    version: `${alias}.version`,
    createdAt: timestamp(`${alias}.created_at`),
    updatedAt: timestamp(`${alias}.updated_at`),
  };
  const members = [
    member('id', `to_json(${alias}.id)`),
    ...fieldMembers(fields, alias, [], chosen),
    ...references.map((reference) =>
      member(reference.externalName, `to_json(${externalIdOf(reference, alias)})`),
    ),
    ...Object.entries(common)
      .filter(([name]) => isChosen(chosen, [name]))
      .map(([name, value]) => member(name, value)),
    ...embedded.map((object) => member(object.name, embeddedObject(object))),
  ];
  return `'{' || ${joined(members)} || '}'`;
}

/** The resources of a reference are looked through in their order. */
function embeddedObject({ name, targets, fields }: Embedded): string {
  const cases = targets.map((target) => {
    const alias = aliasOf(name, target);
    return `WHEN ${alias}.id IS NOT NULL THEN ${representation(target, alias, { fields })}`;
  });
  return `CASE ${cases.join(' ')} END`;
}

/** The rows of embedded objects. The limit makes PostgreSQL look each one up, and not join all of the tenant. */
function joinEmbedded(embedded: readonly Embedded[], alias: string): string {
  return embedded
    .flatMap(({ name, reference, targets }) =>
      targets.map(
        (target) => `LEFT JOIN LATERAL (SELECT * FROM ${target.table} AS named
          WHERE named.tenant_id = ${alias}.tenant_id AND named.id = ${alias}.${reference.column.name} LIMIT 1
        ) AS ${aliasOf(name, target)} ON true`,
      ),
    )
    .join(' ');
}

function aliasOf(name: string, { table }: Definition): string {
  return `${columnName([name])}_as_${table}`;
}

/** SQL for objects in a form. */
export interface Selection {
  json: string;
  /** SQL that follows the table in FROM. */
  joins: string;
  /** The size of each chosen value without a limit. */
  sizes: readonly string[];
}

export function selectObjects(definition: Definition, alias: string, form: ObjectForm = {}): Selection {
  const { fields, embedded = [] } = form;
  return {
    json: representation(definition, alias, form),
    joins: joinEmbedded(embedded, alias),
    sizes: [
      ...sizesOf(definition, alias, fields),
      ...embedded.flatMap(({ name, targets, fields: inner }) =>
        targets.flatMap((target) => sizesOf(target, aliasOf(name, target), inner)),
      ),
    ],
  };
}

export function sizesOf(definition: Definition, alias: string, chosen?: FieldTree): string[] {
  return columnsOf(definition.fields)
    .filter(({ path }) => isChosen(chosen, path))
    .flatMap(({ name, field: { kind, schema } }) => {
      if (kind === 'list') return [jsonBytes(`${alias}.${name}`)];
      const isUnlimited = kind === 'text' && !schema.maxLength && !schema.enum;
      return isUnlimited ? [textBytes(`${alias}.${name}`)] : [];
    });
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

function fieldMembers(
  fields: Fields,
  alias: string,
  parents: readonly string[],
  chosen: FieldTree | undefined,
): string[] {
  return Object.entries(fields)
    .filter(([name]) => isChosen(chosen, [name]))
    .map(([name, field]) => {
      const path = [...parents, name];
      if (!field.fields) return member(name, jsonValue(field, `${alias}.${columnName(path)}`));
      const members = fieldMembers(field.fields, alias, path, chosen?.get(name));
      // An empty group is absent.
      return member(name, `'{' || nullif(${joined(members)}, '') || '}'`);
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

/** Formats a time in UTC, exact to the microsecond like the stored value. */
export function timestamp(column: string): string {
  return `to_char(${column} AT TIME ZONE 'UTC', '\\"YYYY-MM-DD"T"HH24:MI:SS.US"Z"\\"')`;
}
