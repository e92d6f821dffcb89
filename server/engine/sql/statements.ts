// The SQL that writes a resource, built once from its definition. Rows come as JSON: one parameter for any number.
import {
  columnsOf,
  type Definition,
  looseReferencesOf,
  type Owner,
  ownersOf,
  type Reference,
  shapeColumnsOf,
  sqlType,
  tableOf,
} from '../definition/definition.ts';
import { currentId, formerHolder } from './former-names.ts';
import { journalled } from './journal.ts';
import { isAtPlace, placeOf } from './places.ts';
import { representation } from './representation.ts';
import { addedWords, changedWords, formerWordColumns, wordColumns } from './search-words.ts';

export interface Statement {
  name: string;
  text: string;
}

/** Each column that a write fills, with its type. */
export function writtenColumns(definition: Definition): { name: string; type: string }[] {
  return [
    ...columnsOf(definition.fields).map((column) => ({ name: column.name, type: sqlType(column) })),
    ...shapeColumnsOf(definition).map(({ name }) => ({ name, type: 'boolean' })),
  ];
}

/** The records that $1 holds: the row, its owners' external ids, the version that it gets, and who writes it. */
export function sentRecord(definition: Definition): string {
  const columns = [
    ...[
      { name: 'tenant_id', type: 'uuid' },
      { name: 'id', type: 'uuid' },
    ],
    ...writtenColumns(definition),
    ...ownersOf(definition).map(({ externalColumn }) => ({ name: externalColumn, type: 'text' })),
    ...[
      { name: 'version', type: 'integer' },
      { name: 'actor', type: 'text' },
      { name: 'actor_id', type: 'uuid' },
      { name: 'request_id', type: 'uuid' },
      { name: 'origin', type: 'text' },
      { name: 'changes', type: 'json' },
    ],
  ];
  return columns.map(({ name, type }) => `${name} ${type}`).join(', ');
}

/** The column of `sent` with the id of a row's reference, which the body may name by external id. */
export function resolvedId({ column }: Reference): string {
  return `resolved_${column.name}`;
}

/** A step of its own: under row-level security PostgreSQL uses no index for a comparison with a sub-select. */
export function resolveOwner(owner: Owner): string {
  const { column, externalColumn, resource } = owner;
  return `CASE WHEN sent.${column.name} IS NULL THEN ${findByExternalId(resource, `sent.${externalColumn}`)}
    ELSE ${currentId(`sent.${column.name}`)} END AS ${resolvedId(owner)}`;
}

/** An SQL expression: the id of the tenant's object that has this external id, or had it before a merge. */
export function findByExternalId(resource: string, externalId: string, tenantId = 'sent.tenant_id'): string {
  const table = tableOf(resource);
  return `coalesce((SELECT ${table}.id FROM ${table} WHERE ${table}.tenant_id = ${tenantId} AND ${table}.external_id = ${externalId}),
    (${formerHolder(resource, 'external_id', externalId, tenantId)}))`;
}

/** Most rows name nothing externally, and look nothing up. */
export function resolveLoosely(reference: Reference): string {
  const { column, externalColumn, resources } = reference;
  const found = resources.map((resource) => findByExternalId(resource, `sent.${externalColumn}`));
  return `CASE WHEN sent.${column.name} IS NOT NULL THEN ${currentId(`sent.${column.name}`)}
    WHEN sent.${externalColumn} IS NOT NULL THEN coalesce(${found.join(', ')}) END AS ${resolvedId(reference)}`;
}

/** Without this or a lock, the planner joins all owners of the tenant instead of looking one up. */
const unlocked = 'OFFSET 0';

/**
 * Locks owners before the journal's head. The foreign key's own check would lock them after it. A change of the owner takes
 * both in this order, so another order would deadlock.
 */
export function ownerExists(owner: Owner, lock: typeof unlocked | 'FOR KEY SHARE' = 'FOR KEY SHARE'): string {
  const { column, externalColumn, table } = owner;
  const exists = `EXISTS (SELECT FROM ${table}
    WHERE ${table}.tenant_id = sent.tenant_id AND ${table}.id = sent.${resolvedId(owner)} ${lock})`;
  return column.field.isRequired
    ? exists
    : `((sent.${column.name} IS NULL AND sent.${externalColumn} IS NULL) OR ${exists})`;
}

/** The object that has the external id of a sent row already. */
function holder({ name }: Definition): string {
  return `CASE WHEN sent.external_id IS NOT NULL THEN ${findByExternalId(name, 'sent.external_id')} END AS external_id_holder`;
}

/**
 * Inserts any number of rows, of any tenants, with their journal entries. Returns the ids of the written rows. Also
 * returns rows that lack only a free external id, with its holder. A row without its owner, or with another unique
 * value that is taken, is left out. Sorting looks everything up before the first row is written, so that no look-up
 * meets rows of the same statement.
 */
export function buildInsert(definition: Definition): Statement {
  const owners = ownersOf(definition);
  const loose = looseReferencesOf(definition);
  const names = writtenColumns(definition).map(({ name }) => name);
  const written = new Map([
    ...[...owners, ...loose].map(
      (reference) => [reference.column.name, `sent.${resolvedId(reference)}`] as const,
    ),
    // An external id is kept only until its object is there.
    ...loose.map(
      (reference) =>
        [
          reference.externalColumn,
          `CASE WHEN sent.${resolvedId(reference)} IS NULL THEN sent.${reference.externalColumn} END`,
        ] as const,
    ),
  ]);
  const values = names.map((name) => written.get(name) ?? `sent.${name}`);
  const isFree = ['sent.external_id_holder IS NULL', ...owners.map((owner) => ownerExists(owner))];
  const isTaken = [
    'sent.external_id_holder IS NOT NULL',
    ...owners.map((owner) => ownerExists(owner, unlocked)),
  ];
  const resolutions = [...owners.map(resolveOwner), ...loose.map(resolveLoosely)].map((one) => `, ${one}`);
  return {
    name: `insert ${definition.name}`,
    text: `
      WITH sent AS MATERIALIZED (
        SELECT sent.*, ${holder(definition)} ${resolutions.join('')}
        FROM json_to_recordset($1) AS sent (${sentRecord(definition)})
        ORDER BY sent.tenant_id, sent.id
      ), written AS (
        INSERT INTO ${definition.table} (tenant_id, id, ${names.join(', ')})
        SELECT sent.tenant_id, sent.id, ${values.join(', ')} FROM sent
        WHERE ${isFree.join(' AND ')}
        ON CONFLICT DO NOTHING
        RETURNING tenant_id, id, ${wordColumns(definition, definition.table)}
      ), ${addedWords(definition)}, ${journalled(definition, 'CREATED')}
      SELECT id, NULL AS external_id_holder FROM written
      UNION ALL SELECT sent.id, sent.external_id_holder FROM sent WHERE ${isTaken.join(' AND ')}`,
  };
}

/** The objects that $1 names by tenant and id, as the transaction that inserted them leaves them. */
export function buildReadInserted(definition: Definition): Statement {
  return {
    name: `read inserted ${definition.name}`,
    text: `
      SELECT stored.id, stored.version, ${representation(definition, 'stored')} AS json
      FROM json_to_recordset($1) AS sent (tenant_id uuid, id uuid), LATERAL (SELECT * FROM ${definition.table} AS subject
        WHERE subject.tenant_id = sent.tenant_id AND subject.id = sent.id LIMIT 1) AS stored`,
  };
}

/** Replaces rows by those in $1, whose versions are known because they are locked; returns what they are then. */
export function buildUpdate(definition: Definition): Statement {
  const names = writtenColumns(definition).map(({ name }) => name);
  const { table } = definition;
  return {
    name: `update ${definition.name}`,
    text: `
      WITH sent AS MATERIALIZED (
        SELECT sent.*, stored.*
        FROM json_to_recordset($1) AS sent (${sentRecord(definition)}), LATERAL (
          SELECT ${placeOf('subject')}, ${formerWordColumns(definition, 'subject')} FROM ${table} AS subject
          WHERE subject.tenant_id = sent.tenant_id AND subject.id = sent.id LIMIT 1) AS stored
      ), written AS (
        UPDATE ${table} SET (${names.join(', ')}) = ROW (${names.map((name) => `sent.${name}`).join(', ')}),
          version = sent.version, updated_at = now()
        FROM sent WHERE ${isAtPlace(table, 'sent')}
        RETURNING ${table}.tenant_id, ${table}.id, ${table}.version, ${wordColumns(definition, table)},
          sent.former_text, sent.former_details,
          ${representation(definition, table)} AS json
      ), ${changedWords(definition)}, ${journalled(definition, 'CHANGED')}
      SELECT id, version, json FROM written`,
  };
}
