// A merge that says which version its sender read changes only the fields that the sender changed since.
import { isDeepStrictEqual } from 'node:util';
import type pg from 'pg';
import { isObject } from '../../engine/definition/validation.ts';
import { parseStored } from '../../engine/http/merge-patch.ts';
import type { Stored } from '../../engine/sql/rows.ts';
import type { Author } from '../../http/conventions.ts';
import type { JsonBody } from '../../http/json-body.ts';

type Fields = Record<string, unknown>;

interface Since {
  /** The fields that changed since the sender read them, as they were then. Null where the journal has forgotten. */
  former: Fields | null;
  /** Those that somebody else changed. */
  byOthers: Set<string>;
}

interface ChangedField {
  id: string;
  /** Null for an entry without a field. */
  field: string | null;
  from: unknown;
  is_by_others: boolean;
  is_forgotten: boolean;
}

/**
 * One row per field, however often it changed. The oldest change says what the sender read. Within an import, "journal"
 * is the temporary table that collects its own entries.
 */
const changedFields = `
  WITH since AS (
    SELECT entry.resource_id, changed.field, min(entry.position) AS position,
      bool_or(coalesce(entry.actor_id <> $4, true)) AS is_by_others, bool_or(entry.changes IS NULL) AS is_forgotten
    FROM public.journal AS entry
    JOIN unnest($2::uuid[], $3::integer[]) AS sent (id, version)
      ON sent.id = entry.resource_id AND entry.version > sent.version
    LEFT JOIN LATERAL json_object_keys(entry.changes) AS changed (field) ON true
    WHERE entry.tenant_id = $1 AND entry.action = 'CHANGED' GROUP BY entry.resource_id, changed.field
  )
  SELECT since.resource_id AS id, field, is_by_others, is_forgotten, oldest.changes -> field -> 'from' AS "from"
  FROM since JOIN public.journal AS oldest ON oldest.tenant_id = $1 AND oldest.position = since.position`;

/** By object, what happened after the version that the sender read. */
export async function readChangesSince(
  client: pg.ClientBase,
  tenantId: string,
  read: readonly { id: string; version: number }[],
  { actorId }: Author,
): Promise<ReadonlyMap<string, Since>> {
  const found = new Map<string, Since>();
  if (read.length === 0) return found;
  const ids = read.map(({ id }) => id);
  const versions = read.map(({ version }) => version);
  const { rows } = await client.query<ChangedField>(changedFields, [
    tenantId,
    ids,
    versions,
    actorId ?? null,
  ]);
  for (const { id, field, from, ...change } of rows) {
    const since = found.getOrInsertComputed(id, () => ({ former: {}, byOthers: new Set() }));
    if (change.is_forgotten) since.former = null;
    if (field === null) continue;
    if (since.former) since.former[field] = from;
    if (change.is_by_others) since.byOthers.add(field);
  }
  return found;
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
  const stored = parseStored(current.json).value as Fields;
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

/** The same members with their exact numbers. */
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
