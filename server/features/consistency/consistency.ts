// Whether the stored data agrees with itself. Each check is a statement that returns what disagrees; nothing is
// changed.
import type pg from 'pg';
import { reachTenants } from '../../access/tenants.ts';
import { seeTenants } from '../../database/transactions.ts';
import { type Definition, ownersOf } from '../../engine/definition/definition.ts';
import { detailsName, selectWords, storedRows } from '../../engine/write/search-words.ts';
import { expected } from '../../telemetry/expected.ts';

export interface Finding {
  check: string;
  /** How many disagree, and some of them. */
  count: number;
  examples: string[];
}

const mostExamples = 5;

/**
 * `client` belongs to the owner of the database. One snapshot, so a running service does not disturb it. On a cluster it
 * is one for each worker, and a tenant has one worker.
 */
export async function checkConsistency(
  client: pg.ClientBase,
  definitions: readonly Definition[],
): Promise<Finding[]> {
  const findings = checksOf(definitions).map(({ check, sql }) => ({
    check,
    sql,
    count: 0,
    examples: [] as string[],
  }));
  await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
  try {
    await reachTenants(client, async (reached, tenants) => {
      await client.query(seeTenants(tenants));
      for (const finding of findings) {
        const found = await reached.query<{ what: string; count: number }>(
          `SELECT what, count(*) OVER ()::integer AS count FROM (${finding.sql}) AS wrong LIMIT ${mostExamples}`,
          [tenants],
        );
        finding.count += found.rows[0]?.count ?? 0;
        finding.examples.push(...found.rows.map(({ what }) => what));
      }
    });
    return findings.map(({ check, count, examples }) => ({
      check,
      count,
      examples: examples.slice(0, mostExamples),
    }));
  } finally {
    await client.query('ROLLBACK').catch(expected);
  }
}

/** `$1` are the tenants of the transaction. */
function checksOf(definitions: readonly Definition[]): { check: string; sql: string }[] {
  return [
    { check: 'journal', sql: journalWithGaps },
    { check: 'versions', sql: unite(definitions.map(versionsOffTheJournal)) },
    { check: 'deletions', sql: unite(definitions.map(objectsWithoutJournal)) },
    { check: 'bin', sql: unite(definitions.map(binOffTheJournal)) },
    { check: 'references', sql: unite(definitions.flatMap(objectsWithoutOwner)) },
    { check: 'words', sql: unite(definitions.flatMap(wrongWords)) },
  ];
}

function unite(statements: readonly string[]): string {
  return statements.join('\nUNION ALL ');
}

const journalWithGaps = `
  SELECT format('tenant %s: %s entries up to position %s, last position %s',
    tenant.tenant_id, coalesce(entries, 0), coalesce(highest, 0), head.last_position) AS what
  FROM unnest($1::uuid[]) AS tenant (tenant_id)
  LEFT JOIN journal_head AS head USING (tenant_id)
  LEFT JOIN (SELECT tenant_id, count(*) AS entries, max(position) AS highest FROM journal
    WHERE tenant_id = ANY ($1) GROUP BY tenant_id) AS counted USING (tenant_id)
  WHERE (coalesce(entries, 0), coalesce(highest, 0)) IS DISTINCT FROM (head.last_position, head.last_position)`;

/** The newest entry of each object that exists has its version. */
function versionsOffTheJournal({ name, table }: Definition): string {
  return `
    SELECT format('${name} %s: version %s, in the journal %s %s', object.id, object.version, newest.action, newest.version) AS what
    FROM ${table} AS object LEFT JOIN LATERAL (
      SELECT action, version FROM journal
      WHERE journal.tenant_id = object.tenant_id AND journal.resource_id = object.id AND journal.resource = '${name}'
      ORDER BY position DESC LIMIT 1) AS newest ON true
    WHERE object.tenant_id = ANY ($1)
      AND (newest.version IS DISTINCT FROM object.version OR newest.action = 'DELETED')`;
}

/** An object without a row has been deleted. */
function objectsWithoutJournal({ name, table }: Definition): string {
  return `
    SELECT format('${name} %s: missing, and not deleted in the journal', newest.resource_id) AS what
    FROM (SELECT DISTINCT ON (tenant_id, resource_id) tenant_id, resource_id, action FROM journal
      WHERE tenant_id = ANY ($1) AND resource = '${name}' ORDER BY tenant_id, resource_id, position DESC) AS newest
    WHERE newest.action <> 'DELETED' AND NOT EXISTS (
      SELECT FROM ${table} AS object WHERE object.tenant_id = newest.tenant_id AND object.id = newest.resource_id)`;
}

/** An object in the bin does not exist, and its newest entry is its deletion. */
function binOffTheJournal({ name, table }: Definition): string {
  return `
    SELECT format('${name} %s: in the bin with version %s, in the journal %s %s', bin.id, bin.version, newest.action, newest.version) AS what
    FROM deleted_object AS bin LEFT JOIN LATERAL (
      SELECT action, version FROM journal
      WHERE journal.tenant_id = bin.tenant_id AND journal.resource_id = bin.id AND journal.resource = '${name}'
      ORDER BY position DESC LIMIT 1) AS newest ON true
    WHERE bin.tenant_id = ANY ($1) AND bin.resource = '${name}'
      AND ((newest.action, newest.version) IS DISTINCT FROM ('DELETED', bin.version) OR EXISTS (
        SELECT FROM ${table} AS object WHERE object.tenant_id = bin.tenant_id AND object.id = bin.id))`;
}

function objectsWithoutOwner(definition: Definition): string[] {
  return ownersOf(definition).map(
    ({ column, table }) => `
    SELECT format('${definition.name} %s: %s %s does not exist', object.id, '${column.path.join('.')}', object.${column.name}) AS what
    FROM ${definition.table} AS object
    WHERE object.tenant_id = ANY ($1) AND object.${column.name} IS NOT NULL AND NOT EXISTS (
      SELECT FROM ${table} AS owner WHERE owner.tenant_id = object.tenant_id AND owner.id = object.${column.name})`,
  );
}

function wrongWords(definition: Definition): string[] {
  const { name, table } = definition;
  const wanted = `(${selectWords(definition, storedRows(definition, 'subject.tenant_id = ANY ($1)'))})`;
  const kept = `SELECT tenant_id, resource, word, id FROM search_word WHERE tenant_id = ANY ($1) 
    AND resource IN ('${table}', '${detailsName(table)}')`;
  return [
    `SELECT format('${name} %s: the word "%s" is missing', id, word) AS what FROM (${wanted} EXCEPT ${kept}) AS missing`,
    `SELECT format('${name} %s: the word "%s" is too many', id, word) AS what FROM (${kept} EXCEPT ${wanted}) AS extra`,
  ];
}
