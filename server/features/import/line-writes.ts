// Writes checked lines inside a transaction that the caller opens and commits. A rejected line does not affect the
// others. A known externalId replaces the object, or merges into it.
import type pg from 'pg';
import { type Checked, isObject } from '../../engine/definition/validation.ts';
import { mergeInto, parseStored, underOwnName } from '../../engine/http/merge-patch.ts';
import { findDeleted } from '../../engine/sql/bin-look-up.ts';
import { toSentRow } from '../../engine/sql/creation-batches.ts';
import { newObjectId } from '../../engine/sql/object-id.ts';
import type { NewRow, Stored } from '../../engine/sql/rows.ts';
import { ApiError, validationError } from '../../errors.ts';
import type { Author } from '../../http/conventions.ts';
import type { JsonBody } from '../../http/json-body.ts';
import { type CheckedLine, type ImportedResource, withoutId } from './line-check.ts';
import { deleteLines } from './line-deletions.ts';
import { releaseRefused, takeLines } from './line-idempotency.ts';
import type { LineOutcome, Outcomes, Writer } from './line-outcomes.ts';
import { phasesOf } from './line-phases.ts';
import { isBlank, keepChangesSince, readChangesSince } from './line-versions.ts';

export async function writeLines(
  client: pg.ClientBase,
  resources: readonly ImportedResource[],
  lines: readonly CheckedLine[],
  writer: Writer,
): Promise<Outcomes> {
  const outcomes: Outcomes = new Map();
  for (const { writes, deletions } of phasesOf(lines)) {
    await upsertLines(client, resources, writes, writer, outcomes);
    await deleteLines(client, resources, deletions, writer, outcomes);
  }
  return outcomes;
}

/** Owners are written before their dependants: lines may name each other in any order. */
async function upsertLines(
  client: pg.ClientBase,
  resources: readonly ImportedResource[],
  lines: readonly CheckedLine[],
  writer: Writer,
  outcomes: Outcomes,
): Promise<void> {
  for (const resource of resources) {
    let waiting = lines.filter((line) => line.resource === resource);
    const currentNames = await findCurrentNames(client, resource, waiting, writer);
    while (waiting.length > 0) {
      // Of lines with the same externalId or id, each follows the one before it.
      const wave = firstOfEachName(waiting, currentNames);
      await writeWave(client, resource, [...wave], currentNames, writer, outcomes);
      // Another writer stored it between the look and the write: now it can be found and replaced.
      const overtaken = [...wave].filter(
        (line) => line.action !== 'create' && isExternalIdTaken(outcomes.get(line)!),
      );
      for (const line of overtaken) outcomes.delete(line);
      if (overtaken.length > 0) {
        const named = await findCurrentNames(client, resource, overtaken, writer);
        await writeWave(client, resource, overtaken, named, writer, outcomes);
      }
      waiting = waiting.filter((line) => !wave.has(line));
    }
  }
}

/** Lines that name their object by id or by a former name, with its current id and name. */
type CurrentNames = ReadonlyMap<CheckedLine, { id: string; name: string; isFormer: boolean }>;

async function findCurrentNames(
  client: pg.ClientBase,
  { definition: { name, table } }: ImportedResource,
  lines: readonly CheckedLine[],
  { tenantId }: Writer,
): Promise<CurrentNames> {
  const named = lines.filter((line) => nameOf(line) !== undefined);
  if (named.length === 0) return new Map();
  const current = 'subject.id, coalesce(subject.external_id, subject.id::text) AS name';
  const { rows } = await client.query<{ sent: string; id: string; name: string; is_former: boolean }>(
    `SELECT former.external_id AS sent, ${current}, true AS is_former FROM former_external_id AS former
     JOIN ${table} AS subject ON subject.tenant_id = $1 AND subject.id = former.id
     WHERE former.tenant_id = $1 AND former.resource = '${name}' AND former.external_id = ANY ($2)
       AND NOT EXISTS (SELECT FROM ${table} AS holder WHERE holder.tenant_id = $1 AND holder.external_id = former.external_id)
     UNION ALL SELECT former.former_id::text, ${current}, true FROM former_id AS former
     JOIN ${table} AS subject ON subject.tenant_id = $1 AND subject.id = former.id
     WHERE former.tenant_id = $1 AND former.former_id = ANY ($3)
     UNION ALL SELECT subject.id::text, ${current}, false FROM ${table} AS subject
     WHERE subject.tenant_id = $1 AND subject.id = ANY ($3)`,
    [
      tenantId,
      named.flatMap((line) => externalIdOf(line) ?? []),
      named.flatMap((line) => mergedIdOf(line) ?? []),
    ],
  );
  const bySent = new Map(rows.map(({ sent, is_former: isFormer, ...now }) => [sent, { ...now, isFormer }]));
  return new Map(
    named.flatMap((line) => {
      const found = bySent.get(nameOf(line)!);
      return found ? [[line, found] as const] : [];
    }),
  );
}

function firstOfEachName(lines: readonly CheckedLine[], currentNames: CurrentNames): Set<CheckedLine> {
  const seen = new Set<string>();
  return new Set(
    lines.filter((line) => {
      const name = currentNames.get(line)?.name ?? nameOf(line);
      if (name === undefined) return true;
      if (seen.has(name)) return false;
      seen.add(name);
      return true;
    }),
  );
}

function externalIdOf({ checked }: CheckedLine): string | undefined {
  const { external_id: externalId } = checked.row;
  return typeof externalId === 'string' ? externalId : undefined;
}

function isExternalIdTaken(outcome: LineOutcome): boolean {
  return outcome instanceof ApiError && outcome.code === 'conflict' && outcome.details.field === 'externalId';
}

/** A line and the row that it becomes. */
interface Write {
  line: CheckedLine;
  /** Of a merge, the whole object. */
  checked: Checked;
  row: NewRow;
  current: Stored | undefined;
  /** Fields that somebody else changed as well, since the sender read them. */
  conflicts: readonly string[];
}

/** Lines of one resource with external ids that differ. */
async function writeWave(
  client: pg.ClientBase,
  resource: ImportedResource,
  lines: readonly CheckedLine[],
  currentNames: CurrentNames,
  writer: Writer,
  outcomes: Outcomes,
): Promise<void> {
  const { writes, replacement } = resource;
  const { tenantId, author } = writer;
  const all = await prepareWrites(client, resource, lines, currentNames, writer);
  const isLost = ({ line, current }: Write) => mergedIdOf(line) !== undefined && !current;
  for (const { line } of all.filter(isLost)) outcomes.set(line, new ApiError('not_found'));
  await rejectRevivals(client, resource, all, tenantId, outcomes);
  const prepared = all.filter(({ line }) => !outcomes.has(line));
  const invalid = prepared.filter(({ checked }) => checked.fieldErrors.length > 0);
  const unrepeated = await takeLines(
    client,
    writer,
    prepared
      .filter(({ checked }) => checked.fieldErrors.length === 0)
      .map((write) => ({ ...write, id: write.row.id })),
    outcomes,
  );
  const isInConflict = ({ conflicts }: Write) => conflicts.length > 0;
  for (const { line, conflicts } of unrepeated.filter(isInConflict))
    outcomes.set(line, new ApiError('version_mismatch', { details: { field: conflicts[0]! } }));
  const resolvable = [...unrepeated.filter((write) => !isInConflict(write)), ...invalid].filter(
    ({ checked }) => replacement.canResolveOwners(checked.fieldErrors),
  );
  const ownerErrors = await writes.resolveReferencesOfAll(
    client,
    tenantId,
    resolvable.map(({ row }) => row),
  );
  for (const { line, checked } of invalid) outcomes.set(line, validationError(checked.fieldErrors));
  resolvable.forEach(({ line, checked }, index) => {
    const found = ownerErrors[index]!;
    if (found.length > 0) outcomes.set(line, validationError([...checked.fieldErrors, ...found]));
  });

  const open = unrepeated.filter(({ line }) => !outcomes.has(line));
  await create(
    client,
    resource,
    open.filter(({ current }) => !current),
    author,
    outcomes,
  );
  await replace(
    client,
    resource,
    open.filter(({ current }) => current),
    author,
    outcomes,
  );
  await releaseRefused(client, tenantId, unrepeated, outcomes);
}

/** Lines that would create an object whose external id is in the bin, and must not. */
async function rejectRevivals(
  client: pg.ClientBase,
  { definition }: ImportedResource,
  all: readonly Write[],
  tenantId: string,
  outcomes: Outcomes,
): Promise<void> {
  const sought = all.flatMap(({ line, current }) => {
    const externalId = externalIdOf(line);
    const isNew = !current && externalId !== undefined && line.body.fieldErrors.length === 0;
    return isNew && !line.mayRevive ? [{ line, tenantId, externalId }] : [];
  });
  const errors = await findDeleted(client, definition, sought);
  sought.forEach(({ line }, index) => {
    if (errors[index]) outcomes.set(line, errors[index]);
  });
}

async function create(
  client: pg.ClientBase,
  { writes }: ImportedResource,
  creations: readonly Write[],
  author: Author,
  outcomes: Outcomes,
): Promise<void> {
  if (creations.length === 0) return;
  const written = await writes.insertRows(
    client,
    creations.map(({ row }) => toSentRow({ row, author })),
  );
  creations.forEach(({ line, row }, index) => {
    const outcome = written[index]!;
    outcomes.set(line, outcome === 'written' ? { outcome: 'created', id: row.id } : outcome);
  });
}

/** What does not differ is not written, and gets no new version. */
async function replace(
  client: pg.ClientBase,
  { writes, replacement }: ImportedResource,
  replacements: readonly Write[],
  author: Author,
  outcomes: Outcomes,
): Promise<void> {
  const updates = replacements.map(({ line, checked, row, current }) => ({
    line,
    row,
    current: current!,
    changes: replacement.findChanges(current!, checked, row),
  }));
  const changed = updates.filter(({ changes }) => Object.keys(changes).length > 0);
  const conflicts = await writes.findUpdateConflicts(client, changed);
  for (const { line, row, changes } of updates) {
    const outcome = Object.keys(changes).length > 0 ? 'replaced' : 'unchanged';
    outcomes.set(line, conflicts.get(row) ?? { outcome, id: row.id });
  }
  const sound = changed.filter(({ row }) => !conflicts.has(row));
  // If two of these want the same value, the statement fails, and each is tried by itself.
  if (sound.length > 0) await writes.updateRows(client, sound, author);
}

/** Finds the objects that lines replace or are merged into. A creation has none: its external id must be free. */
async function prepareWrites(
  client: pg.ClientBase,
  { definition, check, writes }: ImportedResource,
  lines: readonly CheckedLine[],
  currentNames: CurrentNames,
  { tenantId, author }: Writer,
): Promise<Write[]> {
  const isSought = ({ action, body, checked }: CheckedLine) =>
    action === 'merge'
      ? body.fieldErrors.length === 0
      : action === 'replace' && checked.fieldErrors.length === 0;
  const sought = lines.filter((line) => externalIdOf(line) !== undefined && isSought(line));
  const stored = await writes.findAll(
    client,
    tenantId,
    'external_id',
    sought.map((line) => externalIdOf(line)!),
  );
  const idOf = (line: CheckedLine) =>
    line.action === 'create' ? undefined : (currentNames.get(line)?.id ?? mergedIdOf(line));
  const byId = await writes.findAll(
    client,
    tenantId,
    'id',
    lines.flatMap((line) => idOf(line) ?? []),
  );
  const findCurrent = (line: CheckedLine): Stored | undefined => {
    const id = idOf(line);
    if (id === undefined) return line.action === 'create' ? undefined : stored.get(externalIdOf(line) ?? '');
    const object = byId.get(id);
    return object && { ...object, isFormerName: currentNames.get(line)?.isFormer ?? false };
  };
  const since = await readChangesSince(
    client,
    tenantId,
    lines.flatMap((line) => {
      const current = findCurrent(line);
      const isOlder = line.version !== undefined && current && line.version < current.version;
      return isOlder && !current.isFormerName ? [{ id: current.id, version: line.version! }] : [];
    }),
    author,
  );
  return lines.map((line) => {
    const id = mergedIdOf(line);
    const current = findCurrent(line);
    const isMerged = line.action === 'merge' && current;
    const body = current && id === undefined ? underOwnName(line.body, current) : line.body;
    const sent = id !== undefined && current ? withoutBlankClears(withoutId(body), current) : body;
    const { patch, conflicts } =
      current && since.has(current.id)
        ? keepChangesSince(sent, current, since.get(current.id)!)
        : { patch: sent, conflicts: [] };
    const isRenamed = body !== line.body;
    const checked = isMerged
      ? check(mergeInto(definition, current, patch))
      : isRenamed
        ? check(body)
        : line.checked;
    const row = { ...checked.row, tenant_id: tenantId, id: current?.id ?? newObjectId() };
    return { line, checked, row, current, conflicts };
  });
}

function nameOf(line: CheckedLine): string | undefined {
  return externalIdOf(line) ?? mergedIdOf(line);
}

/** The object's own id, of a line that is merged by it. */
function mergedIdOf({ action, checked }: CheckedLine): string | undefined {
  return action === 'merge' ? (checked.row.id as string | undefined) : undefined;
}

/** To clear what a spreadsheet shows as an empty cell changes nothing. */
function withoutBlankClears(patch: JsonBody, current: Stored): JsonBody {
  const stored = parseStored(current.json).value as Record<string, unknown>;
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
