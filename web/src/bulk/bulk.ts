// One change or deletion of many records, as one import: the same validation, and a result per record.
import type { components } from '../../../client/src/api-types.ts';
import { exactNumber } from '../../../core/exact-json.ts';
import { ApiError, call, queryString, send, unreachable } from '../api/client.ts';
import { type Definition, type Entity, type Field, leavesOf } from '../api/definitions.ts';
import { exactMember } from '../api/exact-numbers.ts';
import type { Page } from '../api/records.ts';
import { leafAt } from '../forms/form-errors.ts';
import { fieldErrorText } from '../inputs/field-error-text.ts';
import { isSelected, type Selection } from '../tables/selection.ts';
import { addPercent } from './percent.ts';

export type LineAnswer = components['schemas']['ImportResult'];
type Summary = components['schemas']['ImportSummary']['summary'];

/** More records would hold the browser and the journal of the business for minutes. */
export const maxBulk = 10_000;

/** Unique values would be refused from the second record on. A list without a known shape has no input. */
export function changeableFieldsOf(definition: Definition): Field[] {
  return leavesOf(definition.fields).filter(
    ({ kind, knownItem, path, twinOf }) =>
      (kind !== 'list' || knownItem) && !twinOf && !definition.uniqueFields.includes(path),
  );
}

export interface BulkResult {
  /** Number of records that took the change. */
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
  return sendEntities(definition, entities, ({ id }) => ({
    type: definition.name,
    action: 'merge',
    data: { id, ...patch },
  }));
}

export function hasPercent({ kind, path }: Field): boolean {
  return ['integer', 'decimal', 'double'].includes(kind) && !path.includes('.');
}

/** Records without the number stay as they are. What a colleague changes meanwhile is a conflict, and not raised twice. */
export function raiseAll(
  definition: Definition,
  entities: readonly Entity[],
  { path, kind }: Field,
  percent: bigint,
): Promise<BulkResult> {
  const raised = new Map<Entity, string>();
  for (const entity of entities) {
    const written = JSON.stringify(exactMember(entity, path)) ?? '';
    const number = addPercent(written, percent, kind === 'integer');
    if (number !== undefined) raised.set(entity, number);
  }
  return sendEntities(definition, [...raised.keys()], (entity) => ({
    type: definition.name,
    action: 'merge',
    version: entity.version,
    data: { id: entity.id, [path]: exactNumber(raised.get(entity)!) },
  }));
}

export function deleteAll(
  definition: Definition,
  entities: readonly Entity[],
  withDependants: boolean,
): Promise<BulkResult> {
  return sendEntities(definition, entities, ({ id }) => ({
    type: definition.name,
    action: 'delete',
    cascade: withDependants,
    data: { id },
  }));
}

interface Answers {
  answers: LineAnswer[];
  /** Undefined where the lines changed nothing. */
  importId: string | undefined;
  /** Whether the answer has a summary. Without one, it broke off and does not speak for all lines. */
  isComplete: boolean;
}

export async function sendLines(lines: readonly object[]): Promise<Answers> {
  const response = await send('POST', '/import', {
    headers: { 'Content-Type': 'application/x-ndjson' },
    body: lines.map((line) => `${JSON.stringify(line)}\n`).join(''),
  });
  const answers = (await readLines(response)).map((line) => JSON.parse(line));
  const summary: Summary | undefined = answers.at(-1)?.summary;
  if (summary) answers.pop();
  const isChanged = !summary || summary.replaced + summary.deleted > 0;
  return {
    answers,
    // A request that names no import is one of its own.
    importId: (isChanged && response.headers.get('X-Request-Id')) || undefined,
    isComplete: summary !== undefined,
  };
}

/** Reads whole lines, even of an answer that breaks off. */
async function readLines(response: Response): Promise<string[]> {
  const decoder = new TextDecoder();
  let text = '';
  try {
    for await (const piece of response.body!) text += decoder.decode(piece, { stream: true });
  } catch {
    text = text.slice(0, text.lastIndexOf('\n') + 1);
  }
  return text.split('\n').filter((line) => line.trim() !== '');
}

async function sendEntities(
  definition: Definition,
  entities: readonly Entity[],
  lineOf: (entity: Entity) => object,
): Promise<BulkResult> {
  if (entities.length === 0) return { done: 0, failed: [], importId: undefined };
  const { answers, importId, isComplete } = await sendLines(entities.map(lineOf));
  if (!isComplete) throw unreachable();
  const result: BulkResult = { done: 0, failed: [], importId };
  for (const answer of answers) {
    const entity = entities[answer.line - 1]!;
    if (answer.status >= 300) result.failed.push({ entity, message: messageOf(definition, answer) });
    else result.done += 1;
  }
  return result;
}

/** The message about one field, or about the first error. */
export function messageOf(definition: Definition, answer: LineAnswer, field?: string): string {
  const leaves = leavesOf(definition.fields);
  const errors = answer.errors ?? [];
  const error = field === undefined ? errors[0] : errors.find((candidate) => candidate.field === field);
  return error
    ? fieldErrorText(leafAt(leaves, error.field), error, definition)
    : new ApiError(answer.status, answer).message;
}
