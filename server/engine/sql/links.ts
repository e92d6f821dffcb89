// Links references that were kept by external id to the objects that have these ids now.
//
// A writer holds the journal's head until the commit. A statement after the write therefore sees everything that other
// writers of the tenant have committed.
import type pg from 'pg';
import type { Database } from '../../database/database.ts';
import { type Definition, looseReferencesOf, type Reference, referrersOf } from '../definition/definition.ts';
import type { Row } from '../definition/validation.ts';
import { journalled } from './journal.ts';
import { isAtPlace, placeOf } from './places.ts';
import { findByExternalId, type Statement } from './statements.ts';

/** A written row with the author of the change. */
type Written = Row & { tenant_id: string; id: string };

/** What one statement links. `linkWaiting` links the rest, which keeps requests short. */
const maxLinks = 500;

const authorColumns = ['actor', 'actor_id', 'request_id', 'origin'] as const;
const authorTypes = 'actor text, actor_id uuid, request_id uuid, origin text';

export type Links = ReturnType<typeof buildLinks>;

export function buildLinks(definition: Definition, all: readonly Definition[]) {
  const references = looseReferencesOf(definition);
  const ownLink = references.length > 0 ? buildOwnLink(definition) : undefined;
  const awaitingLinks = referrersOf(definition, all).map((referrer) =>
    buildAwaitingLink(referrer, definition.name),
  );

  /** The statements that link what these rows brought, or wait for; none for rows that do neither. */
  function linksAfter(
    rows: readonly Written[],
    hasNewExternalId: (row: Written) => boolean,
  ): pg.QueryConfig[] {
    const waiting = ownLink
      ? rows.filter((row) => references.some(({ externalColumn }) => row[externalColumn] !== undefined))
      : [];
    const brought =
      awaitingLinks.length > 0
        ? rows.filter((row) => row.external_id !== undefined && hasNewExternalId(row))
        : [];
    return [
      ...(waiting.length > 0 ? [{ ...ownLink!, values: [toJson(waiting)] }] : []),
      ...(brought.length > 0
        ? awaitingLinks.map((link) => ({
            ...link,
            values: [toJson(brought), Math.ceil(maxLinks / brought.length)],
          }))
        : []),
    ];
  }

  async function link(
    client: pg.ClientBase,
    rows: readonly Written[],
    hasNewExternalId: (row: Written) => boolean = () => true,
  ): Promise<void> {
    for (const statement of linksAfter(rows, hasNewExternalId)) await client.query(statement);
  }

  return { linksAfter, link };
}

function toJson(rows: readonly Written[]): string {
  return JSON.stringify(
    rows.map(({ tenant_id, id, external_id, actor, actor_id, request_id, origin }) => ({
      tenant_id,
      id,
      external_id,
      actor,
      actor_id,
      request_id,
      origin,
    })),
  );
}

/** For rows that wait themselves: their objects may have been committed since they were looked for. */
function buildOwnLink(definition: Definition): Statement {
  return buildLink(
    `link ${definition.name}`,
    definition,
    `awaiting AS (
      SELECT named.*, own.*, NULL::text AS crowded_id
      FROM json_to_recordset($1) AS named (tenant_id uuid, id uuid, ${authorTypes}), LATERAL (
        SELECT ${waitingColumns('subject', looseReferencesOf(definition))} FROM ${definition.table} AS subject
        WHERE subject.tenant_id = named.tenant_id AND subject.id = named.id LIMIT 1) AS own
    )`,
  );
}

/** For rows of `referrer` that wait for what was written. */
function buildAwaitingLink(referrer: Definition, target: string): Statement {
  const references = looseReferencesOf(referrer).filter(({ resources }) => resources.includes(target));
  return buildLink(
    `link ${referrer.name} to ${target}`,
    referrer,
    `named AS (SELECT * FROM json_to_recordset($1) AS named (tenant_id uuid, external_id text, ${authorTypes})),
    ${awaiting(referrer, references, '$2')}`,
  );
}

/** Where a row is, and what it waits for. */
function waitingColumns(alias: string, references: readonly Reference[]): string {
  return [placeOf(alias), ...references.map(({ externalColumn }) => `${alias}.${externalColumn}`)].join(', ');
}

/** Rows that wait for one of `named`, each once, and of each name at most so many. */
function awaiting(referrer: Definition, references: readonly Reference[], most: string): string {
  const waiting = references.map(
    ({
      externalColumn,
    }) => `SELECT subject.id, ${waitingColumns('subject', looseReferencesOf(referrer))} FROM ${referrer.table} AS subject
        WHERE subject.tenant_id = named.tenant_id AND subject.${externalColumn} = named.external_id`,
  );
  return `found AS MATERIALIZED (
      SELECT named.tenant_id, ${authorColumns.map((name) => `named.${name}`).join(', ')}, named.external_id, waiting.*
      FROM named, LATERAL (${waiting.join(' UNION ALL ')} LIMIT ${most}) AS waiting
    ), awaiting AS (
      SELECT DISTINCT ON (tenant_id, id) found.tenant_id, found.id, ${authorColumns.map((name) => `found.${name}`).join(', ')},
        ${['place', ...looseReferencesOf(referrer).map(({ externalColumn }) => externalColumn)].map((name) => `found.${name}`).join(', ')},
        CASE WHEN count(*) OVER (PARTITION BY tenant_id, external_id) >= ${most} THEN external_id END AS crowded_id
      FROM found ORDER BY tenant_id, id
    )`;
}

/**
 * Links those rows of `awaiting` whose objects exist. It waits for nobody: a writer of such a row may in turn wait for the
 * journal. What it leaves is noted in waiting_link.
 */
function buildLink(name: string, referrer: Definition, source: string): Statement {
  const { table } = referrer;
  const references = looseReferencesOf(referrer);
  const found = ({ column }: Reference) => `found_${column.name}`;
  const lookUps = references.map((reference) => {
    const { externalColumn, resources } = reference;
    const objects = resources.map((resource) =>
      findByExternalId(resource, `awaiting.${externalColumn}`, 'awaiting.tenant_id'),
    );
    return `CASE WHEN awaiting.${externalColumn} IS NOT NULL THEN coalesce(${objects.join(', ')}) END AS ${found(reference)}`;
  });
  const anyFound = `coalesce(${references.map(found).join(', ')}) IS NOT NULL`;
  const settings = references.flatMap((reference) => [
    `${reference.column.name} = coalesce(linkable.${found(reference)}, ${table}.${reference.column.name})`,
    `${reference.externalColumn} = CASE WHEN linkable.${found(reference)} IS NULL THEN ${table}.${reference.externalColumn} END`,
  ]);
  const changes = references.map(
    (reference) => `CASE WHEN linkable.${found(reference)} IS NOT NULL THEN
          '"${reference.column.path[0]}":{"to":' || to_json(linkable.${found(reference)}) || '},"${reference.externalName}":{"from":' || to_json(linkable.${reference.externalColumn}) || '}' END`,
  );
  const kept = references.map(
    (reference) =>
      `SELECT tenant_id, '${referrer.name}', ${reference.externalColumn}, ${authorColumns.join(', ')} FROM linkable
        WHERE ${found(reference)} IS NOT NULL AND (id IN (SELECT id FROM written)) IS NOT TRUE`,
  );
  return {
    name,
    text: `
      WITH ${source}, linkable AS MATERIALIZED (
        SELECT * FROM (SELECT awaiting.*, ${lookUps.join(', ')} FROM awaiting OFFSET 0) AS looked_up WHERE ${anyFound}
      ), locked AS MATERIALIZED (
        SELECT ${placeOf('subject')} FROM linkable JOIN ${table} AS subject ON ${isAtPlace('subject', 'linkable')}
        FOR NO KEY UPDATE OF subject SKIP LOCKED
      ), written AS (
        UPDATE ${table} SET ${settings.join(', ')}, version = ${table}.version + 1, updated_at = now()
        FROM locked JOIN linkable USING (place) WHERE ${isAtPlace(table, 'locked')}
        RETURNING ${table}.tenant_id, ${table}.id, ${table}.external_id, ${table}.version,
          ${authorColumns.map((column) => `linkable.${column}`).join(', ')},
          ('{' || concat_ws(',', ${changes.join(', ')}) || '}')::json AS changes
      ), sent AS (SELECT * FROM written), ${journalled(referrer, 'CHANGED')}, kept AS (
        INSERT INTO waiting_link (tenant_id, resource, external_id, ${authorColumns.join(', ')})
        ${kept.join(' UNION ')} UNION
        SELECT tenant_id, '${referrer.name}', crowded_id, ${authorColumns.join(', ')} FROM awaiting WHERE crowded_id IS NOT NULL
        ORDER BY 1, 2, 3 ON CONFLICT DO NOTHING RETURNING tenant_id
      )
      SELECT (SELECT count(*) FROM written)::integer AS linked, (SELECT count(*) FROM kept)::integer AS left_open`,
  };
}

/**
 * For a transaction that collects its journal entries until just before the commit. Links its objects once it holds
 * the journal's head.
 */
export function buildCollectedLinks(all: readonly Definition[]): Statement[] {
  return all
    .filter((definition) => looseReferencesOf(definition).length > 0)
    .map((referrer) => {
      const references = looseReferencesOf(referrer);
      const targets = [...new Set(references.flatMap(({ resources }) => resources))];
      const isWaiting = references.map(({ externalColumn }) => `own.${externalColumn} IS NOT NULL`);
      return buildLink(
        `link collected ${referrer.name}`,
        referrer,
        `entries AS MATERIALIZED (SELECT * FROM pg_temp.journal WHERE tenant_id = $1),
        named AS (
          SELECT DISTINCT ON (external_id) tenant_id, external_id, ${authorColumns.join(', ')} FROM entries
          WHERE external_id IS NOT NULL AND resource IN (${targets.map((target) => `'${target}'`).join(', ')})
        ), ${awaiting(referrer, references, '$2').replace('awaiting AS', 'brought AS')},
        awaiting AS (
          SELECT * FROM brought UNION ALL
          SELECT own.tenant_id, own.id, ${authorColumns.map((name) => `entry.${name}`).join(', ')},
            ${waitingColumns('own', references)}, NULL
          FROM (SELECT DISTINCT ON (resource_id) * FROM entries WHERE resource = '${referrer.name}') AS entry
          JOIN ${referrer.table} AS own ON own.tenant_id = entry.tenant_id AND own.id = entry.resource_id
          WHERE (${isWaiting.join(' OR ')}) AND own.id NOT IN (SELECT id FROM brought)
        )`,
      );
    });
}

/** Of each name that a collected transaction brought. */
export const maxCollectedLinks = 100;

const maxTurns = 20;

/** Makes the links that were left open, of all tenants. Any number of processes may do so at the same time. */
export async function linkWaiting(database: Database, all: readonly Definition[]): Promise<void> {
  const { rows: tenants } = await database.pool.query<{ id: string }>(
    'SELECT tenants_with_waiting_links() AS id',
  );
  if (tenants.length === 0) return;
  const statements = new Map(
    all
      .filter((definition) => looseReferencesOf(definition).length > 0)
      .map((referrer) => [
        referrer.name,
        buildLink(
          `link waiting ${referrer.name}`,
          referrer,
          `named AS (SELECT * FROM json_to_recordset($1) AS named (tenant_id uuid, external_id text, ${authorTypes})),
          ${awaiting(referrer, looseReferencesOf(referrer), '$2')}`,
        ),
      ]),
  );
  for (const { id: tenantId } of tenants) {
    // The rest of a long list waits for the next time, to let other tenants have their turn.
    for (let turns = 0; turns < maxTurns && (await linkNext(database, tenantId, statements)); turns++);
  }
}

/** Whether to go on. What somebody else has locked waits for the next time. */
async function linkNext(
  database: Database,
  tenantId: string,
  statements: ReadonlyMap<string, Statement>,
): Promise<boolean> {
  return database.inTenants([tenantId], async (client) => {
    const { rows } = await client.query<{ resource: string }>(
      `DELETE FROM waiting_link WHERE tenant_id = $1 AND (resource, external_id) = (
         SELECT resource, external_id FROM waiting_link WHERE tenant_id = $1 LIMIT 1 FOR UPDATE SKIP LOCKED)
       RETURNING *`,
      [tenantId],
    );
    const statement = rows[0] && statements.get(rows[0].resource);
    if (!statement) return rows.length > 0;
    const { rows: counts } = await client.query<{ linked: number; left_open: number }>({
      ...statement,
      values: [JSON.stringify(rows), maxLinks],
    });
    return counts[0]!.linked > 0 || counts[0]!.left_open === 0;
  });
}
