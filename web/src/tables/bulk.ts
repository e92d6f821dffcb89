// One change or deletion of many records, as one import: the same validation, and a result per record.
import type { components } from '../../../client/src/api-types.ts';
import { ApiError, call, queryString, send, unreachable } from '../api/client.ts';
import { type Definition, type Entity, leavesOf } from '../api/definitions.ts';
import type { Page } from '../api/records.ts';
import { fieldErrorText } from '../forms/field-error-text.ts';
import { leafAt } from '../forms/form-errors.ts';
import { isSelected, type Selection } from './selection.ts';

type LineAnswer = components['schemas']['ImportResult'];
type Summary = components['schemas']['ImportSummary']['summary'];

/** More would hold the browser and the journal of the business for minutes. */
const maxBulk = 10_000;

export interface BulkResult {
  /** How many records took the change. */
  done: number;
  failed: { entity: Entity; message: string }[];
  /** Names the change to undo it; undefined where every record was as wanted before. */
  importId: string | undefined;
}

/** The ticked records as they are now. Undefined if they are too many, or all of more than the search finds. */
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
    if (page.truncated && selection.isAll) return undefined;
    found.push(...page.data.filter(({ id }) => isSelected(selection, id)));
    cursor = page.nextCursor ?? undefined;
    if (found.length > maxBulk) return undefined;
  } while (cursor && (selection.isAll || found.length < selection.ids.size));
  return found;
}

export function changeAll(
  definition: Definition,
  entities: readonly Entity[],
  patch: object,
): Promise<BulkResult> {
  return sendLines(definition, entities, ({ id }) => ({
    type: definition.name,
    action: 'merge',
    data: { id, ...patch },
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
  const summary: Summary | undefined = answers.pop()?.summary;
  // Without the summary the answer broke off, and does not speak for all records.
  if (!summary) throw unreachable();
  const isChanged = summary.replaced + summary.deleted > 0;
  const result: BulkResult = {
    done: 0,
    failed: [],
    // A request that names no import is one of its own.
    importId: (isChanged && response.headers.get('X-Request-Id')) || undefined,
  };
  for (const answer of answers as LineAnswer[]) {
    const entity = entities[answer.line - 1]!;
    if (answer.status >= 300) result.failed.push({ entity, message: messageOf(definition, answer) });
    else result.done += 1;
  }
  return result;
}

function messageOf(definition: Definition, answer: LineAnswer): string {
  const leaves = leavesOf(definition.fields);
  const [first] = answer.errors ?? [];
  return first
    ? fieldErrorText(leafAt(leaves, first.field), first, definition)
    : new ApiError(answer.status, answer).message;
}
