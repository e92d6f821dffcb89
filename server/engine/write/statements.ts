// The statements that look before a write, and the one that inserts.
import {
  type Definition,
  ownersOf,
  referencesOf,
  tableOf,
  uniqueColumnsOf,
} from '../definition/definition.ts';
import { currentId, formerHolder } from '../sql/former-names.ts';
import { journalled } from '../sql/journal.ts';
import { representation } from '../sql/representation.ts';
import { addedWords, wordColumns } from '../sql/search-words.ts';
import { type Statement, sentRecord, writtenColumns } from '../sql/statements.ts';

/** Reads the objects that $1 names by id or external id, former names included, and locks them in one order. */
export function buildRead(definition: Definition, lock: '' | 'FOR UPDATE' = ''): Statement {
  const { name, table } = definition;
  const byExternalId = `(SELECT ${table}.id FROM ${table}
          WHERE ${table}.tenant_id = sought.tenant_id AND ${table}.external_id = sought.external_id)`;
  return {
    name: `${lock ? 'lock' : 'read'} ${name}`,
    text: `
      WITH named AS MATERIALIZED (
        SELECT sought.*, CASE WHEN sought.id IS NULL THEN ${byExternalId} ELSE sought.id END AS direct_id
        FROM json_to_recordset($1) AS sought (place integer, tenant_id uuid, id uuid, external_id text)
      ), sought AS MATERIALIZED (
        SELECT named.place, named.tenant_id, named.direct_id,
          CASE WHEN named.id IS NOT NULL THEN (SELECT former.id FROM former_id AS former
              WHERE former.tenant_id = named.tenant_id AND former.former_id = named.id)
            WHEN named.direct_id IS NULL THEN (${formerHolder(name, 'external_id', 'named.external_id', 'named.tenant_id')})
          END AS former_id
        FROM named
      )
      SELECT sought.place, sought.former_id IS NOT NULL AS "isFormerName", stored.id, stored.version,
        ${representation(definition, 'stored')} AS json
      FROM (SELECT *, coalesce(former_id, direct_id) AS id FROM sought ORDER BY tenant_id, coalesce(former_id, direct_id)) AS sought,
        LATERAL (SELECT * FROM ${table} AS subject
          WHERE subject.tenant_id = sought.tenant_id AND subject.id = sought.id LIMIT 1 ${lock}) AS stored`,
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

/**
 * Inserts the rows in $1, of any tenants, with their journal entries, and returns their ids. References have been resolved. A
 * row without its owner, or with a unique value that is taken, is left out. Owners are locked before the journal's head:
 * a change of the owner takes both in this order.
 */
export function buildInsert(definition: Definition): Statement {
  const { name, table } = definition;
  const columns = ['tenant_id', 'id', ...writtenColumns(definition).map((column) => column.name)];
  const owned = ownersOf(definition).map(({ column, table: owner }) => {
    const exists = `EXISTS (SELECT FROM ${owner}
          WHERE ${owner}.tenant_id = sent.tenant_id AND ${owner}.id = sent.${column.name} FOR KEY SHARE)`;
    return column.field.isRequired ? exists : `(sent.${column.name} IS NULL OR ${exists})`;
  });
  return {
    name: `insert resolved ${name}`,
    text: `
      WITH sent AS MATERIALIZED (
        SELECT * FROM json_to_recordset($1) AS sent (${sentRecord(definition)})
      ), written AS (
        INSERT INTO ${table} (${columns.join(', ')})
        SELECT ${columns.map((column) => `sent.${column}`).join(', ')} FROM sent
        ${owned.length > 0 ? `WHERE ${owned.join(' AND ')}` : ''}
        ON CONFLICT DO NOTHING
        RETURNING tenant_id, id, ${wordColumns(definition, table)}
      ), ${addedWords(definition)}, ${journalled(definition, 'CREATED')}
      SELECT id FROM written`,
  };
}

/** Of each owner in $2: how many objects belong to it in this way, and the first $3 of them. */
export function countDependants(resource: string, column: string): string {
  return `SELECT ${column} AS owner_id, count(*)::integer AS count, (array_agg(id ORDER BY id))[1:$3] AS ids
    FROM ${tableOf(resource)} WHERE tenant_id = $1 AND ${column} = ANY ($2) GROUP BY ${column}`;
}
