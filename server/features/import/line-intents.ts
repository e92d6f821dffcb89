// Lines as intents: what each of them makes of the object that it names.
import type pg from 'pg';
import { type Checked, isObject } from '../../engine/definition/validation.ts';
import { isBlank, keepChangesSince, type Since } from '../../engine/write/changes-since.ts';
import { buildClaim } from '../../engine/write/idempotency.ts';
import type { Claim, Intent, ObjectName, Outcome } from '../../engine/write/intent.ts';
import { bodyOf, mergeInto, underOwnName } from '../../engine/write/merge-patch.ts';
import type { Writing } from '../../engine/write/resource.ts';
import type { Stored } from '../../engine/write/rows.ts';
import { type WriteWatch, writeObjects } from '../../engine/write/write.ts';
import { ApiError, validationError } from '../../errors.ts';
import type { Author } from '../../http/conventions.ts';
import type { JsonBody } from '../../http/json-body.ts';
import { type CheckedLine, withoutId } from './line-check.ts';

export type Outcomes = Map<CheckedLine, Outcome>;

export interface Writer {
  tenantId: string;
  author: Author;
  idempotencyKey: string | undefined;
}

/** Writes lines inside a transaction that the caller opens and commits. A rejected line does not affect the others. */
export async function writeLines(
  client: pg.ClientBase,
  writing: Writing,
  lines: readonly CheckedLine[],
  writer: Writer,
  watch: WriteWatch,
): Promise<Outcomes> {
  const outcomes: Outcomes = new Map();
  const intents = new Map(lines.map((line) => [toIntent(line, writer), line]));
  for (const [intent, outcome] of await writeObjects(client, writing, [...intents.keys()], watch))
    outcomes.set(intents.get(intent)!, outcome);
  return outcomes;
}

function toIntent(line: CheckedLine, { tenantId, author, idempotencyKey }: Writer): Intent {
  const { resource, action, isCascade, version, checked } = line;
  const isDeletion = action === 'delete';
  const name = objectNameOf(line);
  return {
    resource,
    tenantId,
    author,
    name,
    // An invalid line is rejected for its fields.
    claim: name || checked.fieldErrors.length === 0 ? claimOf(line, idempotencyKey) : undefined,
    sent: isDeletion ? {} : checked.row,
    whole: name && action === 'replace' ? checked : undefined,
    since: version,
    deletion: isDeletion ? { isCascade } : undefined,
    mayRevive: line.mayRevive,
    mayWait: true,
    decide(current, since) {
      if (isDeletion && checked.fieldErrors.length > 0) throw validationError(checked.fieldErrors);
      if (isDeletion) return undefined;
      return action === 'merge' ? mergeLine(line, current, since) : replaceBy(line, current);
    },
  };
}

/** Line n takes the key "<key>:<n>". The import holds one lock for all of them. */
function claimOf({ line }: CheckedLine, key: string | undefined): Claim | undefined {
  if (key === undefined) return undefined;
  return { ...buildClaim(`${key}:${line.number}`, '/import', line.bytes), isAlone: true };
}

/** An invalid line names nothing: its errors do not depend on stored objects. */
function objectNameOf({ action, body, checked }: CheckedLine): ObjectName | undefined {
  const { id, external_id: externalId } = checked.row as { id?: string; external_id?: unknown };
  if (action === 'create') return undefined;
  if (id !== undefined) return { id };
  const { fieldErrors } = action === 'merge' ? body : checked;
  return typeof externalId === 'string' && fieldErrors.length === 0 ? { externalId } : undefined;
}

function replaceBy({ body, checked, resource }: CheckedLine, current: Stored | undefined): Checked {
  return current?.isFormerName ? resource.check(underOwnName(body, current)) : checked;
}

function mergeLine(line: CheckedLine, current: Stored | undefined, since: Since | undefined): Checked {
  const { resource, checked } = line;
  const isById = checked.row.id !== undefined;
  if (isById && !current) throw new ApiError('not_found');
  if (!current) return checked;
  const sent = isById ? withoutBlankClears(withoutId(line.body), current) : underOwnName(line.body, current);
  const { patch, conflicts } = since
    ? keepChangesSince(sent, current, since)
    : { patch: sent, conflicts: [] };
  const merged = resource.check(mergeInto(resource.definition, current, patch));
  const isInConflict = conflicts.length > 0 && merged.fieldErrors.length === 0;
  if (isInConflict) throw new ApiError('version_mismatch', { details: { field: conflicts[0]! } });
  return merged;
}

/** To clear what a spreadsheet shows as an empty cell changes nothing. */
function withoutBlankClears(patch: JsonBody, current: Stored): JsonBody {
  const stored = bodyOf(current).value as Record<string, unknown>;
  const keep = (changes: unknown, before: unknown): unknown => {
    if (!isObject(changes) || !isObject(before)) return changes;
    return Object.fromEntries(
      Object.entries(changes)
        .filter(([name, value]) => value !== null || !isBlank(before[name]))
        .map(([name, value]) => [name, keep(value, before[name])]),
    );
  };
  return { ...patch, value: keep(patch.value, stored), exact: patch.exact && keep(patch.exact, stored) };
}
