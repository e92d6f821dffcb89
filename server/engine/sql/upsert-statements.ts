// The SQL of upserts that arrive together: one statement compares them with the stored objects, one writes the
// differences.
import {
  columnsOf,
  type Definition,
  looseReferencesOf,
  ownersOf,
  uniqueColumnsOf,
} from '../definition/definition.ts';
import { journalled } from './journal.ts';
import { isAtPlace, placeOf } from './places.ts';
import { representation } from './representation.ts';
import { changedWords, formerWordColumns, wordColumns } from './search-words.ts';
import {
  ownerExists,
  resolvedId,
  resolveLoosely,
  resolveOwner,
  type Statement,
  sentRecord,
  writtenColumns,
} from './statements.ts';

/**
 * Finds the objects with the external ids of the rows in $1, of any tenants, and locks nothing. It returns JSON only
 * for a merge or where a column differs: most objects of a nightly run are unchanged.
 */
export function buildComparison(definition: Definition): Statement {
  const loose = looseReferencesOf(definition);
  const references = [...ownersOf(definition), ...loose];
  const resolutions = [...ownersOf(definition).map(resolveOwner), ...loose.map(resolveLoosely)];
  const resolved = references.map((reference) => `, ${resolvedId(reference)}`).join('');
  const sameness = columnsOf(definition.fields).map(({ name, field }) => {
    const reference = references.find(({ column }) => column.name === name);
    const kept = loose.find(({ externalColumn }) => externalColumn === name);
    if (reference) return `stored.${name} IS NOT DISTINCT FROM sent.${resolvedId(reference)}`;
    if (kept)
      return `stored.${name} IS NOT DISTINCT FROM CASE WHEN sent.${resolvedId(kept)} IS NULL THEN sent.${name} END`;
    // Digits of a decimal and white space of a list are compared by the service, which knows what they mean.
    const cast = field.kind === 'list' || field.kind === 'decimal' ? '::text' : '';
    return `stored.${name}${cast} IS NOT DISTINCT FROM sent.${name}${cast}`;
  });
  return {
    name: `compare ${definition.name}`,
    text: `
      WITH sent AS MATERIALIZED (
        SELECT ${['sent.*', ...resolutions].join(', ')}
        FROM json_to_recordset($1) AS sent (place integer, is_merge boolean, ${sentRecord(definition)})
      ), compared AS MATERIALIZED (
        SELECT sent.place, sent.is_merge IS NOT TRUE AND ${sameness.join(' AND ')} AS is_same, stored.* ${resolved}
        FROM sent, LATERAL (SELECT * FROM ${definition.table} AS subject
          WHERE subject.tenant_id = sent.tenant_id AND subject.external_id = sent.external_id LIMIT 1) AS stored
      )
      SELECT place, id, version, is_same, CASE WHEN NOT is_same THEN ${representation(definition, 'compared')} END AS json
        ${resolved}
      FROM compared`,
  };
}

/**
 * Replaces rows by those in $1 that still have the version before. It skips rows that are locked, lack their owner,
 * or have a taken unique value. It does not wait for them. A merge gets the object back.
 */
export function buildGuardedUpdate(definition: Definition): Statement {
  const { table } = definition;
  const names = writtenColumns(definition).map(({ name }) => name);
  const ownerGuards = ownersOf(definition).map(
    (owner) => `(current.${owner.column.name} = sent.${owner.column.name} OR ${ownerExists(owner)})`,
  );
  const uniqueGuards = uniqueColumnsOf(definition).map(
    ({
      name,
    }) => `(sent.${name} IS NULL OR current.${name} = sent.${name} OR NOT EXISTS (SELECT FROM ${table} AS holder
            WHERE holder.tenant_id = sent.tenant_id AND holder.${name} = sent.${name}))`,
  );
  return {
    name: `update unlocked ${definition.name}`,
    text: `
      WITH sent AS MATERIALIZED (
        SELECT sent.* ${ownersOf(definition)
          .map((owner) => `, sent.${owner.column.name} AS ${resolvedId(owner)}`)
          .join('')}
        FROM json_to_recordset($1) AS sent (is_merge boolean, ${sentRecord(definition)})
      ), locked AS MATERIALIZED (
        SELECT sent.*, current.place, ${formerWordColumns(definition, 'current')}
        FROM sent, LATERAL (SELECT ${placeOf('subject')}, subject.* FROM ${table} AS subject
          WHERE subject.tenant_id = sent.tenant_id AND subject.id = sent.id AND subject.version = sent.version - 1
          LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED) AS current
        WHERE ${[...ownerGuards, ...uniqueGuards].join(' AND ')}
      ), written AS (
        UPDATE ${table} SET (${names.join(', ')}) = ROW (${names.map((name) => `sent.${name}`).join(', ')}),
          version = sent.version, updated_at = now()
        FROM locked AS sent WHERE ${isAtPlace(table, 'sent')}
        RETURNING ${table}.tenant_id, ${table}.id, ${wordColumns(definition, table)},
          sent.former_text, sent.former_details,
          CASE WHEN sent.is_merge THEN ${representation(definition, table)} END AS json
      ), ${changedWords(definition)}, ${journalled(definition, 'CHANGED')}
      SELECT id, json FROM written`,
  };
}
