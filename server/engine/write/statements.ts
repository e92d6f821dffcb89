// The statements of a resource that look before a write, insert, change and restore.

import { isRestorable, keptColumns, keptRow } from '../bin/bin.ts';
import {
  bareName,
  type Column,
  type Definition,
  looseReferencesOf,
  type Owner,
  ownersOf,
  referencesOf,
  sqlType,
  tableOf,
  uniqueColumnsOf,
  uniqueGroupsOf,
} from '../definition/definition.ts';
import { currentId, formerHolder } from '../read/former-names.ts';
import { representation } from '../read/representation.ts';
import { journalled } from './journal.ts';
import { addedWords, changedWords, formerWordColumns, wordColumns } from './search-words.ts';
import {
  authorRecord,
  isAtPlace,
  placeOf,
  type Statement,
  sentRecord,
  writtenColumns,
} from './statement-parts.ts';

/** The columns that `factsOf` reads. A date is the text that answers have. */
export function factColumns(definition: Definition, alias: string): string {
  const columns = [
    ...uniqueColumnsOf(definition),
    ...uniqueGroupsOf(definition).flat(),
    ...referencesOf(definition).map(({ column }) => column),
  ].map(({ name, field }) =>
    field.kind === 'date' ? `to_json(${alias}.${name}) #>> '{}' AS ${name}` : `${alias}.${name}`,
  );
  const waiting = looseReferencesOf(definition).map(({ externalColumn }) => `${alias}.${externalColumn}`);
  return [...new Set([...columns, ...waiting])].join(', ');
}

/**
 * Whether a stored row equals the sent one, apart from references, which the service resolves. Also false if only
 * digits of a decimal or white space of a list differ: the service compares those.
 */
function isSame(definition: Definition): string {
  const references = referencesOf(definition).flatMap(({ column, externalColumn }) => [
    column.name,
    externalColumn,
  ]);
  return writtenColumns(definition)
    .filter(({ name }) => !references.includes(name))
    .map(({ name, type }) => {
      const cast = type === 'json' || type === 'numeric' ? '::text' : '';
      return `stored.${name}${cast} IS NOT DISTINCT FROM sent.${name}${cast}`;
    })
    .join(' AND ');
}

/**
 * Reads the objects that $1 names by id or external id, former names included, and locks them in one order. A row without an
 * id was there, and is gone after the wait for its lock: it may have been merged. Most objects of a nightly run are as they
 * were sent: those lack their JSON.
 */
export function buildRead(definition: Definition, lock: '' | 'FOR UPDATE' = ''): Statement {
  const { name, table } = definition;
  const columns = writtenColumns(definition).map((column) => `${bareName(column.name)} ${column.type}`);
  const direct = (column: string) => `(SELECT ${table}.id FROM ${table}
          WHERE ${table}.tenant_id = sent.tenant_id AND ${table}.${column} = sent.${column})`;
  const former = (column: 'id' | 'external_id') =>
    formerHolder(name, column, `sent.${column}`, 'sent.tenant_id');
  return {
    name: `${lock ? 'lock' : 'read'} ${name}`,
    text: `
      WITH sent AS MATERIALIZED (
        SELECT sent.*, CASE WHEN sent.id IS NULL THEN ${direct('external_id')} ELSE ${direct('id')} END AS direct_id
        FROM json_to_recordset($1) AS sent (place integer, is_whole boolean, tenant_id uuid, id uuid, ${columns.join(', ')})
      ), found AS MATERIALIZED (
        SELECT sent.*, CASE WHEN sent.id IS NOT NULL THEN (${former('id')})
            WHEN sent.direct_id IS NULL THEN (${former('external_id')})
          END AS former_id
        FROM sent
      )
      SELECT sent.place, sent.former_id IS NOT NULL AS "isFormerName", stored.id, stored.version,
        ${factColumns(definition, 'stored')},
        CASE WHEN (sent.is_whole AND ${isSame(definition)}) IS NOT TRUE THEN ${representation(definition, 'stored')} END AS json
      FROM (SELECT *, coalesce(former_id, direct_id) AS stored_id FROM found
          WHERE coalesce(former_id, direct_id) IS NOT NULL ORDER BY tenant_id, coalesce(former_id, direct_id)) AS sent
        LEFT JOIN LATERAL (SELECT * FROM ${table} AS subject
          WHERE subject.tenant_id = sent.tenant_id AND subject.id = sent.stored_id LIMIT 1 ${lock}) AS stored ON true`,
  };
}

/**
 * Finds who answers to the names in $1: what bodies of this resource refer to, and its unique values. `kind` is a resource,
 * for an id; a resource and a unique column, for its value; or empty, for an id that need not exist. Former names count.
 * LIMIT makes each an index look-up, even with wrong statistics.
 */
export function buildFindNames(definition: Definition): Statement {
  const find = (resource: string, column: string) => {
    const table = tableOf(resource);
    const kind = column === 'id' ? resource : `${resource}.${column}`;
    const own = `SELECT ${table}.id, false AS is_former FROM ${table} WHERE ${table}.tenant_id = sought.tenant_id
          AND sought.kind = '${kind}' AND ${table}.${column} = sought.${column === 'id' ? 'id' : 'value'}`;
    const former = formerHolder(resource, 'external_id', 'sought.value', 'sought.tenant_id').replace(
      'holder.id',
      'holder.id, true',
    );
    return column === 'external_id' ? [own, `${former} AND sought.kind = '${kind}'`] : [own];
  };
  const branches = new Set([
    ...uniqueColumnsOf(definition).flatMap((column) => find(definition.name, column.name)),
    ...ownersOf(definition).flatMap(({ resource }) => find(resource, 'id')),
    ...referencesOf(definition).flatMap(({ resources }) =>
      resources.flatMap((one) => find(one, 'external_id')),
    ),
  ]);
  return {
    name: `find names of ${definition.name}`,
    text: `
      WITH sought AS MATERIALIZED (
        SELECT sought.place, sought.tenant_id, sought.kind, sought.value, ${currentId('sought.id', 'sought.tenant_id')} AS id
        FROM json_to_recordset($1) AS sought (place integer, tenant_id uuid, kind text, id uuid, value text)
      )
      SELECT sought.place, sought.id AS current_id, found.id, found.is_former
      FROM sought LEFT JOIN LATERAL (${[...branches].join(' UNION ALL ')} LIMIT 1) AS found ON true`,
  };
}

/** Finds who holds the values in $1 that are unique together. LIMIT makes each an index look-up. */
export function buildFindTogether({ name, table }: Definition, group: readonly Column[]): Statement {
  const sought = group.map((column) => `${bareName(column.name)} ${sqlType(column)}`);
  const isSame = group.map((column) => `subject.${column.name} = sought.${column.name}`);
  return {
    name: `find ${name} by ${group.map((column) => column.name).join(' and ')}`,
    text: `
      SELECT sought.place, found.id
      FROM json_to_recordset($1) AS sought (place integer, tenant_id uuid, ${sought.join(', ')}), LATERAL (
        SELECT subject.id FROM ${table} AS subject
        WHERE subject.tenant_id = sought.tenant_id AND ${isSame.join(' AND ')} LIMIT 1) AS found`,
  };
}

/** Finds objects in the bin by the external ids in $1. Of several that had one after each other, the last. */
export function buildFindDeleted({ name }: Definition): Statement {
  return {
    name: `find deleted ${name}`,
    text: `
      SELECT sought.place, found.id
      FROM json_to_recordset($1) AS sought (place integer, tenant_id uuid, external_id text), LATERAL (
        SELECT bin.id FROM deleted_object AS bin
        WHERE bin.tenant_id = sought.tenant_id AND bin.resource = '${name}' AND bin.external_id = sought.external_id
          AND ${isRestorable('bin')}
        ORDER BY bin.deleted_at DESC LIMIT 1) AS found`,
  };
}

/** Whether one of these ids belonged to an object that was merged into another. LIMIT makes it an index look-up. */
function isFormer(ids: readonly string[]): string {
  return `coalesce(${ids.join(', ')}) IS NOT NULL AND EXISTS (SELECT FROM former_id AS former
            WHERE former.tenant_id = sent.tenant_id AND former.former_id = ANY (ARRAY[${ids.join(', ')}]) LIMIT 1)`;
}

/**
 * Inserts the rows in $1, of any tenants, with their journal entries, and returns their ids. References have been resolved. A
 * row without its owner, with a unique value that is taken, or with a former id, is left out. Owners are locked before the journal's head:
 * a change of the owner takes both in this order.
 */
export function buildInsert(definition: Definition): Statement {
  const { name, table } = definition;
  const columns = ['tenant_id', 'id', ...writtenColumns(definition).map((column) => column.name)];
  const loose = looseReferencesOf(definition).map(({ column }) => `sent.${column.name}`);
  return {
    name: `insert ${name}`,
    text: `
      WITH sent AS MATERIALIZED (
        SELECT * FROM json_to_recordset($1) AS sent (${sentRecord(definition)})
      ), written AS (
        INSERT INTO ${table} (${columns.map(bareName).join(', ')})
        SELECT ${columns.map((column) => `sent.${column}`).join(', ')} FROM sent
        ${whereOwnersExist(definition, loose.length > 0 ? [`NOT (${isFormer(loose)})`] : [])}
        ON CONFLICT DO NOTHING
        RETURNING tenant_id, id, ${wordColumns(definition, table)}
      ), ${addedWords(definition)}, ${journalled(definition, 'CREATED')}
      SELECT id FROM written`,
  };
}

function whereOwnersExist(definition: Definition, more: readonly string[] = []): string {
  const conditions = [...ownersOf(definition).map(ownerExists), ...more];
  return conditions.length > 0 ? `WHERE ${conditions.join(' AND ')}` : '';
}

/** The foreign key's own check would lock the owner after the journal's head, which could deadlock. */
function ownerExists({ column, table }: Owner): string {
  const exists = `EXISTS (SELECT FROM ${table}
          WHERE ${table}.tenant_id = sent.tenant_id AND ${table}.id = sent.${column.name} FOR KEY SHARE)`;
  return column.field.isRequired ? exists : `(sent.${column.name} IS NULL OR ${exists})`;
}

/**
 * Replaces rows by those in $1 that still have the version that was read. It skips rows that are locked, lack their owner,
 * or have a taken unique value. It does not wait for them. A merge gets the object back.
 */
export function buildUpdate(definition: Definition): Statement {
  const { table } = definition;
  const names = writtenColumns(definition).map(({ name }) => name);
  const ownerGuards = ownersOf(definition).map(
    (owner) => `(current.${owner.column.name} = sent.${owner.column.name} OR ${ownerExists(owner)})`,
  );
  const uniqueGuards = uniqueColumnsOf(definition).map(
    ({ name }) => `(sent.${name} IS NULL OR current.${name} = sent.${name}
          OR NOT EXISTS (SELECT FROM ${table} AS holder WHERE holder.tenant_id = sent.tenant_id AND holder.${name} = sent.${name}))`,
  );
  const groupGuards = uniqueGroupsOf(definition).map((group) => {
    const each = (toSql: (name: string) => string, joint: string) =>
      group.map(({ name }) => toSql(name)).join(joint);
    return `(${each((name) => `sent.${name} IS NULL`, ' OR ')}
          OR (${each((name) => `current.${name} = sent.${name}`, ' AND ')})
          OR NOT EXISTS (SELECT FROM ${table} AS holder WHERE holder.tenant_id = sent.tenant_id AND ${each((name) => `holder.${name} = sent.${name}`, ' AND ')}))`;
  });
  return {
    name: `update ${definition.name}`,
    text: `
      WITH sent AS MATERIALIZED (
        SELECT * FROM json_to_recordset($1) AS sent (is_merge boolean, read_version integer, ${sentRecord(definition)})
      ), locked AS MATERIALIZED (
        SELECT sent.*, current.place, ${formerWordColumns(definition, 'current')}
        FROM sent, LATERAL (SELECT ${placeOf('subject')}, subject.* FROM ${table} AS subject
          WHERE subject.tenant_id = sent.tenant_id AND subject.id = sent.id AND subject.version = sent.read_version
          LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED) AS current
        WHERE ${[...ownerGuards, ...uniqueGuards, ...groupGuards].join(' AND ')}
      ), written AS (
        UPDATE ${table} SET (${names.map(bareName).join(', ')}) = ROW (${names.map((name) => `sent.${name}`).join(', ')}),
          version = sent.version, updated_at = now()
        FROM locked AS sent WHERE ${isAtPlace(table, 'sent')}
        RETURNING ${table}.tenant_id, ${table}.id, ${wordColumns(definition, table)},
          sent.former_text, sent.former_details,
          CASE WHEN sent.is_merge THEN ${representation(definition, table)} END AS json
      ), ${changedWords(definition)}, ${journalled(definition, 'CHANGED')}
      SELECT id, json FROM written`,
  };
}

/**
 * Restores the objects that $1 names, with the next version and with references that have been resolved. The journal calls
 * it a creation: readers of the feed know the object as deleted. Its former names are its own again.
 */
export function buildRestore(definition: Definition): Statement {
  const { name, table } = definition;
  const written = writtenColumns(definition).map((column) => bareName(column.name));
  const resolved = [
    ...referencesOf(definition).map(({ column }) => ({ name: column.name, type: 'uuid' })),
    ...looseReferencesOf(definition).map(({ externalColumn }) => ({ name: externalColumn, type: 'text' })),
  ];
  const isResolved = new Set(resolved.map((column) => column.name));
  const kept = keptColumns(definition).filter((column) => !isResolved.has(column.name));
  const named = ['tenant_id uuid', 'id uuid', ...resolved.map((column) => `${column.name} ${column.type}`)];
  return {
    name: `restore ${name}`,
    text: `
      WITH sent AS MATERIALIZED (
        SELECT named.*, bin.version + 1 AS version, NULL::json AS changes, kept.*
        FROM json_to_recordset($1) AS named (${named.join(', ')}, ${authorRecord}),
          LATERAL (SELECT * FROM deleted_object AS subject
            WHERE subject.tenant_id = named.tenant_id AND subject.resource = '${name}' AND subject.id = named.id LIMIT 1) AS bin,
          ${keptRow(kept)}
      ), written AS (
        INSERT INTO ${table} (tenant_id, id, version, created_at, ${written.join(', ')})
        SELECT tenant_id, id, version, created_at, ${written.join(', ')} FROM sent
        ${whereOwnersExist(definition)}
        ON CONFLICT DO NOTHING
        RETURNING tenant_id, id, external_id, ${wordColumns(definition, table)}
      ), emptied AS (
        DELETE FROM deleted_object USING written
        WHERE deleted_object.tenant_id = written.tenant_id AND deleted_object.resource = '${name}' AND deleted_object.id = written.id
      ), renamed AS (
        DELETE FROM former_id USING written WHERE former_id.tenant_id = written.tenant_id AND former_id.former_id = written.id
      ), renamed_externally AS (
        DELETE FROM former_external_id USING written WHERE former_external_id.tenant_id = written.tenant_id
          AND former_external_id.resource = '${name}' AND former_external_id.external_id = written.external_id
      ), ${addedWords(definition)}, ${journalled(definition, 'CREATED')}
      SELECT id FROM written`,
  };
}

/** Counts the objects that belong to each owner in $2 in this way, and returns the first $3 of them. */
export function countDependants(resource: string, column: string): string {
  return `SELECT ${column} AS owner_id, count(*)::integer AS count, (array_agg(id ORDER BY id))[1:$3] AS ids
    FROM ${tableOf(resource)} WHERE tenant_id = $1 AND ${column} = ANY ($2) GROUP BY ${column}`;
}
