// One change or deletion of many records, as one import: the same validation, and a result per record.
import type { components } from '../../../client/src/api-types.ts';
import { call, queryString, send, unreachable } from '../api/client.ts';
import { type Definition, type Entity, leavesOf } from '../api/definitions.ts';
import type { Page } from '../api/records.ts';
import { fieldErrorText } from './field-error-text.ts';
import { leafAt } from './form-errors.ts';
import { isSelected, type Selection } from './selection.ts';

type LineAnswer = components['schemas']['ImportResult'];

/** More would hold the browser and the journal of the business for minutes. */
const maxBulk = 10_000;

export interface BulkResult {
  /** Records that took the change, as they were before. */
  done: Entity[];
  failed: { entity: Entity; message: string }[];
}

/** The ticked records as they are now. Undefined if they are too many. */
export async function readSelected(
  { collection }: Definition,
  selection: Selection,
  parameters: Record<string, string | undefined>,
): Promise<Entity[] | undefined> {
  const found: Entity[] = [];
  let cursor: string | undefined;
  do {
    const address = `/${collection}${queryString({ ...parameters, limit: 500, cursor })}`;
    const page = await call<Page<Entity>>('GET', address);
    found.push(...page.data.filter(({ id }) => isSelected(selection, id)));
    cursor = page.nextCursor ?? undefined;
    if (found.length > maxBulk) return undefined;
  } while (cursor && (selection.isAll || found.length < selection.ids.size));
  return found;
}

/** `patchOf` gives the fields that change, as a merge patch. */
export function changeAll(
  definition: Definition,
  entities: readonly Entity[],
  patchOf: (entity: Entity) => object,
): Promise<BulkResult> {
  return sendLines(definition, entities, (entity) => ({
    type: definition.name,
    action: 'merge',
    data: { id: entity.id, ...patchOf(entity) },
  }));
}

export function deleteAll(
  definition: Definition,
  entities: readonly Entity[],
  withDependants: boolean,
): Promise<BulkResult> {
  return sendLines(definition, entities, ({ id }) => ({
    type: definition.name,
    action: 'delete',
    cascade: withDependants,
    data: { id },
  }));
}

async function sendLines(
  definition: Definition,
  entities: readonly Entity[],
  lineOf: (entity: Entity) => object,
): Promise<BulkResult> {
  const response = await send('POST', '/import', {
    headers: { 'Content-Type': 'application/x-ndjson' },
    body: entities.map((entity) => `${JSON.stringify(lineOf(entity))}\n`).join(''),
  });
  const answers = (await response.text().catch(() => ''))
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => JSON.parse(line));
  // Without the summary the answer broke off, and does not speak for all records.
  if (answers.pop()?.summary === undefined) throw unreachable();
  const result: BulkResult = { done: [], failed: [] };
  for (const answer of answers as LineAnswer[]) {
    const entity = entities[answer.line - 1]!;
    if (answer.status >= 300) result.failed.push({ entity, message: messageOf(definition, answer) });
    else result.done.push(entity);
  }
  return result;
}

function messageOf(definition: Definition, { errors, message = '' }: LineAnswer): string {
  const leaves = leavesOf(definition.fields);
  const [first] = errors ?? [];
  return first ? fieldErrorText(leafAt(leaves, first.field), first, definition) : message;
}
