// The SQL of the bin: a deletion moves rows into it, a restoration moves them back.
import { labelFieldsOf } from '../../../core/definition/names.ts';
import { bareName, columnsOf, type Definition } from '../definition/definition.ts';
import { representation } from '../read/representation.ts';
import { journalled } from '../write/journal.ts';
import { removedWords, wordColumns } from '../write/search-words.ts';
import {
  authorRecord,
  isAtPlace,
  placeOf,
  type Statement,
  writtenColumns,
} from '../write/statement-parts.ts';

/** How long a deleted object can be restored. */
export const binDays = 30;

/** An SQL condition: an expired object is gone, even before upkeep removes it. */
export function isRestorable(alias: string): string {
  return `${alias}.deleted_at > now() - interval '${binDays} days'`;
}

/** Moves the rows that $1 names to the bin, and leaves a tombstone of each in the journal. */
export function buildDelete(definition: Definition): Statement {
  const { name, table } = definition;
  const kept = keptColumns(definition).map((column) => `${table}.${column.name}`);
  return {
    name: `delete ${name}`,
    text: `
      WITH named AS MATERIALIZED (
        SELECT * FROM json_to_recordset($1) AS named
          (tenant_id uuid, id uuid, root_id uuid, ${authorRecord}),
          LATERAL (SELECT ${placeOf('subject')} FROM ${table} AS subject
            WHERE subject.tenant_id = named.tenant_id AND subject.id = named.id LIMIT 1) AS found
      ), written AS (
        DELETE FROM ${table} USING named WHERE ${isAtPlace(table, 'named')}
        RETURNING ${table}.tenant_id, ${table}.id, ${table}.external_id, ${table}.version,
          coalesce(named.root_id, named.id) AS root_id,
          named.actor, named.actor_id, named.request_id, named.origin, ${nameChanges(definition)} AS changes,
          (SELECT row_to_json(kept) FROM (SELECT ${kept.join(', ')}) AS kept) AS content,
          ${binText(definition)} AS bin_text, ${wordColumns(definition, table)}
      ), binned AS (
        INSERT INTO deleted_object (tenant_id, resource, id, external_id, root_id, version, actor, actor_id, content, search_text)
        SELECT tenant_id, '${name}', id, external_id, root_id, version, actor, actor_id, content, bin_text FROM written
      ), sent AS (SELECT * FROM written), ${removedWords(definition)}, ${journalled(definition, 'DELETED')}
      SELECT id FROM written`,
  };
}

/** The object's name, for as long as the journal keeps values: the bin forgets it earlier. */
function nameChanges(definition: Definition): string {
  const names = labelFieldsOf(definition);
  const members = columnsOf(definition.fields)
    .filter(({ path }) => names.includes(path.join('.')))
    .map(({ name, path }) => `('${path[0]}', to_json(${definition.table}.${name}))`);
  return `(SELECT json_object_agg(name, json_build_object('from', value))
            FROM (VALUES ${members.join(', ')}) AS named (name, value) WHERE value IS NOT NULL)`;
}

export function keptColumns(definition: Definition): { name: string; type: string }[] {
  return [
    { name: 'created_at', type: 'timestamptz' },
    { name: 'updated_at', type: 'timestamptz' },
    ...writtenColumns(definition),
  ];
}

const searchedCharacters = 150;

function binText({ table, fields }: Definition): string {
  const texts = columnsOf(fields)
    .filter(({ field }) => field.kind === 'text' && !field.schema.enum)
    .map(({ name }) => `left(${table}.${name}, ${searchedCharacters})`);
  return `fold(concat_ws(' ', ${texts.join(', ')}))`;
}

/** Content of the table "bin" as rows of the resource, named "kept". */
export function keptRow(columns: readonly { name: string; type: string }[]): string {
  return `json_to_record(bin.content) AS kept (${columns.map(({ name, type }) => `${bareName(name)} ${type}`).join(', ')})`;
}

/** An SQL condition: the newest tombstone of an object that the bin has forgotten. Its changes still name it. */
export const namedByTombstone = `entry.action = 'DELETED' AND entry.changes IS NOT NULL AND NOT EXISTS (
    SELECT FROM journal AS later WHERE later.tenant_id = entry.tenant_id AND later.resource_id = entry.resource_id
      AND later.resource = entry.resource AND later.position > entry.position)`;

/** An SQL expression: what the tombstone named "entry" says of its object. */
export const tombstoneRepresentation = `(SELECT json_object_agg(key, value) FROM (
    SELECT 'id' AS key, to_json(entry.resource_id) AS value
    UNION ALL SELECT 'externalId', to_json(entry.external_id) WHERE entry.external_id IS NOT NULL
    UNION ALL SELECT key, value -> 'from' FROM json_each(entry.changes)) AS members)::text`;

/** An SQL expression: the object in the bin as its resource is answered, over the table named "bin". */
export function binRepresentation(definitions: readonly Definition[]): string {
  const cases = definitions.map(
    (definition) => `WHEN '${definition.name}' THEN (
        SELECT ${representation(definition, 'subject')}
        FROM (SELECT bin.id, bin.version, kept.* FROM ${keptRow(keptColumns(definition))}) AS subject)`,
  );
  return `CASE bin.resource ${cases.join(' ')} END`;
}
