// Links references that were kept by external id to the objects that have these ids now.
//
// A writer holds the journal's head until the commit. A statement after the write therefore sees everything that other
// writers of the tenant have committed.
import type pg from 'pg';
import type { Database } from '../../database/database.ts';
import { type Definition, looseReferencesOf, type Reference, referrersOf } from '../definition/definition.ts';
import type { Row } from '../definition/validation.ts';
import { findByExternalId } from '../read/former-names.ts';
import { journalled } from './journal.ts';
import { authorNames, authorRecord, isAtPlace, placeOf, type Statement } from './statement-parts.ts';

/** A written row with the author of the change. */
type Written = Row & { tenant_id: string; id: string };

/** The most that one statement links. `linkWaiting` links the rest, which keeps requests short. */
const maxLinks = 500;

export type Links = ReturnType<typeof buildLinks>;

export function buildLinks(definition: Definition, all: readonly Definition[]) {
  const references = looseReferencesOf(definition);
  const ownLink = isReferrer(definition) ? buildLink(definition) : undefined;
  const referrerLinks = referrersOf(definition, all).map(buildLink);

  /** The statements that link what these rows brought, or wait for; none for rows that do neither. */
  return function linksAfter(rows: readonly Written[], hasNewName: (row: Written) => boolean) {
    const isWaiting = (row: Written) =>
      references.some(({ externalColumn }) => row[externalColumn] !== undefined);
    const waiting = rows.filter(isWaiting).map(({ external_id: _, ...row }) => row);
    const brought = referrerLinks.length > 0 ? rows.filter(hasNewName).map(({ id: _, ...row }) => row) : [];
    return [
      ...(waiting.length > 0 ? [linkOf(ownLink!, waiting)] : []),
      ...(brought.length > 0 ? referrerLinks.map((link) => linkOf(link, brought)) : []),
    ];
  };
}

function linkOf(link: Statement, rows: readonly Row[]): pg.QueryConfig {
  const named = rows.map((row) =>
    Object.fromEntries(['tenant_id', 'id', 'external_id', ...authorNames].map((name) => [name, row[name]])),
  );
  return { ...link, values: [JSON.stringify(named), Math.ceil(maxLinks / rows.length)] };
}

/** Links the waiting objects in $1 by id, and objects that wait for one of their external ids. */
export function buildLink(referrer: Definition): Statement {
  const record = `tenant_id uuid, id uuid, external_id text, ${authorRecord}`;
  return linkNamed(
    `link ${referrer.name}`,
    referrer,
    `SELECT * FROM json_to_recordset($1) AS named (${record})`,
  );
}

/**
 * Links the objects of a transaction that collects its journal entries until just before the commit. It runs once the
 * transaction holds the journal's head.
 */
export function buildCollectedLinks(all: readonly Definition[]): Statement[] {
  return all.filter(isReferrer).map((referrer) => {
    const targets = new Set(looseReferencesOf(referrer).flatMap(({ resources }) => resources));
    const entries = (isNamed: string) =>
      `FROM pg_temp.journal AS entry WHERE entry.tenant_id = $1 AND ${isNamed}`;
    return linkNamed(
      `link collected ${referrer.name}`,
      referrer,
      `(SELECT DISTINCT ON (external_id) tenant_id, NULL::uuid AS id, external_id, ${authorNames.join(', ')}
        ${entries(`external_id IS NOT NULL AND resource IN ('${[...targets].join("', '")}')`)})
      UNION ALL (SELECT DISTINCT ON (resource_id) tenant_id, resource_id, NULL, ${authorNames.join(', ')}
        ${entries(`resource = '${referrer.name}'`)})`,
    );
  });
}

/** Limit for each name that a collected transaction brought. */
export const maxCollectedLinks = 100;

export function isReferrer(definition: Definition): boolean {
  return looseReferencesOf(definition).length > 0;
}

/**
 * Links the rows of `referrer` that `named` means, if their objects exist; at most $2 for each name. It waits for nobody: a
 * writer of such a row may in turn wait for the journal. It notes the rest in waiting_link.
 */
function linkNamed(name: string, referrer: Definition, named: string): Statement {
  const { table } = referrer;
  const references = looseReferencesOf(referrer);
  const author = authorNames.join(', ');
  const columns = [
    placeOf('subject'),
    ...references.map(({ externalColumn }) => `subject.${externalColumn}`),
  ];
  const waiting = (isMeant: string) => `SELECT subject.id, ${columns.join(', ')} FROM ${table} AS subject
          WHERE subject.tenant_id = named.tenant_id AND ${isMeant}`;
  const target = ({ resources }: Reference, externalId: string, tenantId: string) =>
    `coalesce(${resources.map((one) => findByExternalId(one, externalId, tenantId)).join(', ')})`;
  const isWaiting = references.map(({ externalColumn }) => `subject.${externalColumn} IS NOT NULL`);
  const branches = [
    waiting(`subject.id = named.id AND (${isWaiting.join(' OR ')})`),
    ...references.map((reference) =>
      waiting(`subject.${reference.externalColumn} = named.external_id
            AND ${target(reference, 'named.external_id', 'named.tenant_id')} IS NOT NULL`),
    ),
  ];
  const found = ({ column }: Reference) => `found_${column.name}`;
  const lookUps = references.map(
    (reference) => `CASE WHEN waiting.${reference.externalColumn} IS NOT NULL
            THEN ${target(reference, `waiting.${reference.externalColumn}`, 'waiting.tenant_id')} END AS ${found(reference)}`,
  );
  const settings = references.flatMap((reference) => [
    `${reference.column.name} = coalesce(linkable.${found(reference)}, ${table}.${reference.column.name})`,
    `${reference.externalColumn} = CASE WHEN linkable.${found(reference)} IS NULL THEN ${table}.${reference.externalColumn} END`,
  ]);
  const changes = references.map(
    (reference) => `CASE WHEN linkable.${found(reference)} IS NOT NULL THEN
          '"${reference.column.path[0]}":{"to":' || to_json(linkable.${found(reference)}) || '},"${reference.externalName}":{"from":' || to_json(linkable.${reference.externalColumn}) || '}' END`,
  );
  const left = references.map(
    (reference) => `SELECT tenant_id, '${referrer.name}', ${reference.externalColumn}, ${author} FROM linkable
        WHERE ${found(reference)} IS NOT NULL AND (id IN (SELECT id FROM written)) IS NOT TRUE`,
  );
  return {
    name,
    text: `
      WITH named AS MATERIALIZED (${named}), found AS MATERIALIZED (
        SELECT named.tenant_id, named.external_id, ${authorNames.map((column) => `named.${column}`).join(', ')}, meant.*
        FROM named, LATERAL (${branches.join(' UNION ALL ')} LIMIT $2) AS meant
      ), waiting AS (
        SELECT DISTINCT ON (tenant_id, id) found.*,
          CASE WHEN count(*) OVER (PARTITION BY tenant_id, external_id) >= $2 THEN external_id END AS crowded_id
        FROM found ORDER BY tenant_id, id, external_id
      ), linkable AS MATERIALIZED (
        SELECT * FROM (SELECT waiting.*, ${lookUps.join(', ')} FROM waiting OFFSET 0) AS looked_up
        WHERE coalesce(${references.map(found).join(', ')}) IS NOT NULL
      ), locked AS MATERIALIZED (
        SELECT ${placeOf('subject')} FROM linkable JOIN ${table} AS subject ON ${isAtPlace('subject', 'linkable')}
        FOR NO KEY UPDATE OF subject SKIP LOCKED
      ), written AS (
        UPDATE ${table} SET ${settings.join(', ')}, version = ${table}.version + 1, updated_at = now()
        FROM locked JOIN linkable USING (place) WHERE ${isAtPlace(table, 'locked')}
        RETURNING ${table}.tenant_id, ${table}.id, ${table}.external_id, ${table}.version,
          ${authorNames.map((column) => `linkable.${column}`).join(', ')},
          ('{' || concat_ws(',', ${changes.join(', ')}) || '}')::json AS changes
      ), sent AS (SELECT * FROM written), ${journalled(referrer, 'CHANGED')}, kept AS (
        INSERT INTO waiting_link (tenant_id, resource, external_id, ${author})
        ${left.join(' UNION ')} UNION
        SELECT tenant_id, '${referrer.name}', crowded_id, ${author} FROM waiting WHERE crowded_id IS NOT NULL
        ORDER BY 1, 2, 3 ON CONFLICT DO NOTHING RETURNING tenant_id
      )
      SELECT (SELECT count(*) FROM written)::integer AS linked, (SELECT count(*) FROM kept)::integer AS left_open`,
  };
}

const maxTurns = 20;

/** Makes the links that were left open, of all tenants. Any number of processes may do so at the same time. */
export async function linkWaiting(database: Database, all: readonly Definition[]): Promise<void> {
  const { rows: tenants } = await database.pool.query<{ id: string }>(
    'SELECT tenants_with_waiting_links() AS id',
  );
  const links = new Map(all.filter(isReferrer).map((referrer) => [referrer.name, buildLink(referrer)]));
  for (const { id: tenantId } of tenants) {
    // The rest of a long list waits for the next time, to let other tenants have their turn.
    for (let turns = 0; turns < maxTurns && (await linkNext(database, tenantId, links)); turns++);
  }
}

/** Returns whether to go on. Rows that somebody else has locked wait for the next time. */
async function linkNext(
  database: Database,
  tenantId: string,
  links: ReadonlyMap<string, Statement>,
): Promise<boolean> {
  return database.inTenants([tenantId], async (client) => {
    const { rows } = await client.query<{ resource: string }>(
      `DELETE FROM waiting_link WHERE tenant_id = $1 AND (resource, external_id) = (
         SELECT resource, external_id FROM waiting_link WHERE tenant_id = $1 LIMIT 1 FOR UPDATE SKIP LOCKED)
       RETURNING *`,
      [tenantId],
    );
    const statement = rows[0] && links.get(rows[0].resource);
    if (!statement) return rows.length > 0;
    const { rows: counts } = await client.query<{ linked: number; left_open: number }>(
      linkOf(statement, rows),
    );
    return counts[0]!.linked > 0 || counts[0]!.left_open === 0;
  });
}
