// Writes checked lines inside a transaction that somebody else opens and commits. What is wrong with one line is its
// own outcome; a line whose externalId is known replaces what has it.
import { randomUUIDv7 } from 'node:crypto';
import type pg from 'pg';
import { toSentRow } from '../../engine/sql/creation-batches.ts';
import type { NewRow, Stored } from '../../engine/sql/row-store.ts';
import { ApiError, validationError } from '../../errors.ts';
import type { Author } from '../../http/conventions.ts';
import type { CheckedLine, ImportedResource } from './line-check.ts';
import { claimLine, type LineClaim, releaseKeys, takeKeys } from './line-idempotency.ts';

export type LineOutcome =
  | { outcome: 'created' | 'replaced' | 'unchanged'; id: string; isReplay?: true }
  | ApiError;

export interface Writer {
  tenantId: string;
  author: Author;
  idempotencyKey: string | undefined;
}

type Outcomes = Map<CheckedLine, LineOutcome>;

/** Owners are written before what they own, so that lines may name each other in any order. */
export async function writeLines(
  client: pg.ClientBase,
  resources: readonly ImportedResource[],
  lines: readonly CheckedLine[],
  writer: Writer,
): Promise<Outcomes> {
  const outcomes: Outcomes = new Map();
  for (const resource of resources) {
    let waiting = lines.filter((line) => line.resource === resource);
    while (waiting.length > 0) {
      // Of lines with the same externalId each replaces the one before it.
      const wave = firstOfEachExternalId(waiting);
      await writeWave(client, resource, [...wave], writer, outcomes);
      // Somebody else stored it between the look and the write, so that now it can be found and replaced.
      const overtaken = [...wave].filter((line) => isExternalIdTaken(outcomes.get(line)!));
      for (const line of overtaken) outcomes.delete(line);
      if (overtaken.length > 0) await writeWave(client, resource, overtaken, writer, outcomes);
      waiting = waiting.filter((line) => !wave.has(line));
    }
  }
  return outcomes;
}

function firstOfEachExternalId(lines: readonly CheckedLine[]): Set<CheckedLine> {
  const seen = new Set<string>();
  return new Set(
    lines.filter((line) => {
      const externalId = externalIdOf(line);
      if (externalId === undefined) return true;
      if (seen.has(externalId)) return false;
      seen.add(externalId);
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

/** A sound line and the row that it becomes. */
interface Write {
  line: CheckedLine;
  row: NewRow;
  current: Stored | undefined;
  claim: LineClaim | undefined;
}

/** Lines of one resource with external ids that differ. */
async function writeWave(
  client: pg.ClientBase,
  resource: ImportedResource,
  lines: readonly CheckedLine[],
  writer: Writer,
  outcomes: Outcomes,
): Promise<void> {
  const { writes, replacement } = resource;
  const { tenantId, author } = writer;
  const sound = lines.filter(({ checked }) => checked.fieldErrors.length === 0);
  const invalid = lines
    .filter(({ checked }) => checked.fieldErrors.length > 0)
    .map((line) => ({
      line,
      row: { ...line.checked.row, tenant_id: tenantId },
    }));
  const unrepeated = await openWrites(client, resource, sound, writer, outcomes);
  const resolvable = [...unrepeated, ...invalid].filter(({ line }) =>
    replacement.canResolveOwners(line.checked.fieldErrors),
  );
  const ownerErrors = await writes.resolveReferencesOfAll(
    client,
    tenantId,
    resolvable.map(({ row }) => row),
  );
  for (const { line } of invalid) outcomes.set(line, validationError(line.checked.fieldErrors));
  resolvable.forEach(({ line }, index) => {
    const found = ownerErrors[index]!;
    if (found.length > 0) outcomes.set(line, validationError([...line.checked.fieldErrors, ...found]));
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
  const refused = unrepeated.filter(({ line, claim }) => claim && outcomes.get(line) instanceof ApiError);
  await releaseKeys(
    client,
    tenantId,
    refused.map(({ claim }) => claim!.key),
  );
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
  const updates = replacements.map(({ line, row, current }) => ({
    line,
    row,
    current: current!,
    changes: replacement.findChanges(current!, line.checked, row),
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

/** The lines that are to be written. Those that an earlier request with the same Idempotency-Key wrote have their outcome. */
async function openWrites(
  client: pg.ClientBase,
  { writes }: ImportedResource,
  lines: readonly CheckedLine[],
  { tenantId, idempotencyKey }: Writer,
  outcomes: Outcomes,
): Promise<Write[]> {
  const externalIds = lines.map(externalIdOf).filter((externalId) => externalId !== undefined);
  const stored =
    externalIds.length > 0
      ? await writes.findByExternalIds(client, tenantId, externalIds)
      : new Map<string, Stored>();
  const all = lines.map((line): Write => {
    const current = stored.get(externalIdOf(line) ?? '');
    const id = current?.id ?? randomUUIDv7();
    const claim = idempotencyKey === undefined ? undefined : claimLine(idempotencyKey, line.line, id);
    return { line, row: { ...line.checked.row, tenant_id: tenantId, id }, current, claim };
  });
  const claims = all.flatMap(({ claim }) => claim ?? []);
  if (claims.length === 0) return all;
  const replies = await takeKeys(client, tenantId, claims);
  return all.filter(({ line, claim }) => {
    const reply = replies.get(claim!.key);
    if (!reply) return true;
    outcomes.set(
      line,
      reply instanceof ApiError ? reply : { outcome: 'unchanged', id: reply.id, isReplay: true },
    );
    return false;
  });
}
