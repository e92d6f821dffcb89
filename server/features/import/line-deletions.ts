// Deletes the objects that lines name, inside a transaction that the caller opens and commits.
import type pg from 'pg';
import { ApiError, validationError } from '../../errors.ts';
import type { CheckedLine, ImportedResource } from './line-check.ts';
import { releaseRefused, takeLines } from './line-idempotency.ts';
import type { Outcomes, Writer } from './line-outcomes.ts';

/** Deletes dependants before their owners, so lines may name both in any order. */
export async function deleteLines(
  client: pg.ClientBase,
  resources: readonly ImportedResource[],
  lines: readonly CheckedLine[],
  writer: Writer,
  outcomes: Outcomes,
): Promise<void> {
  for (const resource of resources.toReversed()) {
    const own = lines.filter((line) => line.resource === resource);
    if (own.length > 0) await deleteOfOneKind(client, resource, own, writer, outcomes);
  }
}

async function deleteOfOneKind(
  client: pg.ClientBase,
  { writes }: ImportedResource,
  lines: readonly CheckedLine[],
  writer: Writer,
  outcomes: Outcomes,
): Promise<void> {
  const { tenantId, author } = writer;
  for (const line of lines) {
    const { fieldErrors } = line.checked;
    if (fieldErrors.length > 0) outcomes.set(line, validationError(fieldErrors));
  }
  const sound = lines.filter((line) => !outcomes.has(line));
  const namesIn = (column: 'id' | 'external_id') =>
    sound.flatMap(({ checked }) => (checked.row[column] as string | undefined) ?? []);
  const byExternalId = await writes.findAllCurrent(client, tenantId, 'external_id', namesIn('external_id'));
  const byId = await writes.findAllCurrent(client, tenantId, 'id', namesIn('id'));
  const found = sound.map((line) => {
    const { external_id: externalId, id } = line.checked.row as { external_id?: string; id?: string };
    return { line, current: externalId === undefined ? byId.get(id!) : byExternalId.get(externalId) };
  });
  const open = await takeLines(
    client,
    writer,
    found.map(({ line, current }) => ({ line, id: current?.id, current })),
    outcomes,
  );
  const deletions = new Map<string, CheckedLine>();
  for (const { line, current } of open) {
    if (current?.isFormerName)
      outcomes.set(line, new ApiError('merged_object', { details: { id: current.id } }));
    else if (!current || deletions.has(current.id)) outcomes.set(line, new ApiError('not_found'));
    else deletions.set(current.id, line);
  }
  const deleted = await writes.deleteRows(
    client,
    tenantId,
    [...deletions].map(([id, { isCascade }]) => ({ id, isCascade })),
    author,
  );
  for (const [id, line] of deletions) {
    const what = deleted.get(id)!;
    outcomes.set(
      line,
      what instanceof ApiError ? what : { outcome: 'deleted', id, ...(line.isCascade && { deleted: what }) },
    );
  }
  await releaseRefused(client, tenantId, open, outcomes);
}
