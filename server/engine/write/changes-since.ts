// A merge that says which version its sender read changes only the fields that the sender changed since.
import { isDeepStrictEqual } from 'node:util';
import type pg from 'pg';
import type { Author } from '../../http/conventions.ts';
import type { JsonBody } from '../../http/json-body.ts';
import { isObject } from '../definition/validation.ts';
import { bodyOf } from './merge-patch.ts';
import type { Stored } from './rows.ts';

type Fields = Record<string, unknown>;

export interface Since {
  /** The fields that changed since the sender read them, as they were then. Null where the journal has forgotten. */
  former: Fields | null;
  /** Fields that somebody else changed. */
  byOthers: Set<string>;
}

interface ChangedField {
  id: string;
  since: number;
  /** Null for an entry without a field. */
  field: string | null;
  from: unknown;
  is_by_others: boolean;
  is_forgotten: boolean;
}

const laterChanges = (journal: string) => `
      SELECT entry.version, entry.changes, entry.actor_id FROM ${journal} AS entry
      WHERE entry.tenant_id = $1 AND entry.resource_id = sent.id AND entry.version > sent.version AND entry.action = 'CHANGED'`;

/**
 * One row per field, however often it changed. The oldest change says what the sender read. Within an import, "journal"
 * is the temporary table that collects its own entries.
 */
const changedFields = `
  WITH entries AS MATERIALIZED (
    SELECT sent.id, sent.version AS since, entry.* FROM unnest($2::uuid[], $3::integer[]) AS sent (id, version)
    CROSS JOIN LATERAL (${laterChanges('public.journal')} UNION ALL ${laterChanges('journal')}) AS entry
  ), changed AS (
    SELECT entries.id, since, named.field, min(version) AS version,
      bool_or(coalesce(actor_id <> $4, true)) AS is_by_others, bool_or(changes IS NULL) AS is_forgotten
    FROM entries LEFT JOIN LATERAL json_object_keys(changes) AS named (field) ON true
    GROUP BY entries.id, since, named.field
  )
  SELECT changed.id, changed.since, field, is_by_others, is_forgotten, oldest.changes -> field -> 'from' AS "from"
  FROM changed JOIN entries AS oldest USING (id, since, version)`;

/** Reads what changed after the version that a sender read, by `sinceKey`. */
export async function readChangesSince(
  client: pg.ClientBase,
  tenantId: string,
  read: readonly { id: string; version: number }[],
  { actorId }: Author,
): Promise<Map<string, Since>> {
  const found = new Map<string, Since>();
  if (read.length === 0) return found;
  const unique = [...new Map(read.map((one) => [sinceKey(one.id, one.version), one])).values()];
  const { rows } = await client.query<ChangedField>(changedFields, [
    tenantId,
    unique.map(({ id }) => id),
    unique.map(({ version }) => version),
    actorId ?? null,
  ]);
  for (const { id, since: version, field, from, ...change } of rows) {
    const since = found.getOrInsertComputed(sinceKey(id, version), () => ({
      former: {},
      byOthers: new Set(),
    }));
    if (change.is_forgotten) since.former = null;
    if (field === null) continue;
    if (since.former) since.former[field] = from;
    if (change.is_by_others) since.byOthers.add(field);
  }
  return found;
}

export function sinceKey(id: string, version: number): string {
  return `${id} ${version}`;
}

/**
 * The patch without the fields that the sender did not change. `conflicts`: fields that somebody else changed, too. Where
 * nobody knows what the sender read, every difference is one.
 */
export function keepChangesSince(
  patch: JsonBody,
  current: Stored,
  { former, byOthers }: Since,
): { patch: JsonBody; conflicts: string[] } {
  const stored = bodyOf(current).value as Fields;
  const conflicts: string[] = [];
  const keep = (changes: Fields, read: unknown, now: unknown, path: readonly string[] = []): Fields => {
    const kept: Fields = {};
    for (const [name, value] of Object.entries(changes)) {
      const [before, after] = [memberOf(read, name), memberOf(now, name)];
      const at = [...path, name];
      if (former && isSame(before, after)) kept[name] = value;
      else if (isObject(value) && (isObject(before) || isObject(after)))
        kept[name] = keep(value, before, after, at);
      else if (!former || !isSame(value, before)) {
        kept[name] = value;
        if (!isSame(value, after) && (!former || byOthers.has(at[0]!))) conflicts.push(at.join('.'));
      }
    }
    return kept;
  };
  if (!isObject(patch.value)) return { patch, conflicts };
  const value = keep(patch.value, { ...stored, ...former }, stored);
  return { patch: { ...patch, value, exact: patch.exact && likeIn(patch.exact, value) }, conflicts };
}

function memberOf(group: unknown, name: string): unknown {
  return isObject(group) ? group[name] : undefined;
}

/** Returns the same members with their exact numbers. */
function likeIn(exact: unknown, value: unknown): unknown {
  if (!isObject(exact) || !isObject(value)) return exact;
  return Object.fromEntries(Object.keys(value).map((name) => [name, likeIn(exact[name], value[name])]));
}

function isSame(one: unknown, other: unknown): boolean {
  const isNothing = (value: unknown) => value === undefined || value === null || isBlank(value);
  return (isNothing(one) && isNothing(other)) || isDeepStrictEqual(one, other);
}

/** A spreadsheet shows a blank text and an empty list as an empty cell. */
export function isBlank(value: unknown): boolean {
  return value === '' || (Array.isArray(value) && value.length === 0);
}
