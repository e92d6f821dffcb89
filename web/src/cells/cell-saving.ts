// Sends edited cells: one row as a change of its record, many as one import, which has one undo.
import { type ApiError, call, queryString, toApiError, unreachable } from '../api/client.ts';
import { type Definition, type Entity, leavesOf } from '../api/definitions.ts';
import type { Page } from '../api/records.ts';
import { type LineAnswer, messageOf, sendLines } from '../bulk/bulk.ts';
import { errorsByField, leafAt } from '../forms/form-errors.ts';
import { undoImport } from '../import/import-runs.ts';
import { patchBack } from '../records/earlier-state.ts';
import { type CellEdit, isUntouched, type PendingCell, patchOf } from './cell-edit.ts';

export interface Row {
  entity: Entity;
  edits: readonly CellEdit[];
}

export interface Saved {
  /** The records as they are stored now. */
  entities: Entity[];
  failed: PendingCell[];
  /** Takes back one part of the work. Rejects where something stays. */
  undo: (() => Promise<number>)[];
}

/** People who may not import change one record after the other. */
export async function saveRows(
  definition: Definition,
  rows: readonly Row[],
  mayImport: boolean,
): Promise<Saved> {
  const saved: Saved = { entities: [], failed: [], undo: [] };
  let open = rows;
  // A row is refused as a whole: its valid cells are sent once more.
  for (let attempt = 0; open.length > 0 && attempt < 2; attempt += 1) {
    const before = saved.failed.length;
    if (open.length > 1 && mayImport) await importRows(definition, open, saved);
    else for (const row of open) await changeRow(definition, row, saved);
    const refused = new Set(saved.failed.slice(before));
    const settled = new Set(saved.entities.map(({ id }) => id));
    open = open.flatMap(({ entity, edits }) => {
      const isRefused = (edit: CellEdit) =>
        [...refused].some((cell) => cell.entity.id === entity.id && cell.column === edit.column);
      const rest = edits.filter((edit) => !isRefused(edit));
      return settled.has(entity.id) || rest.length === 0 || rest.length === edits.length
        ? []
        : [{ entity, edits: rest }];
    });
  }
  return saved;
}

async function changeRow(definition: Definition, row: Row, saved: Saved): Promise<void> {
  const { entity, edits } = row;
  const path = `/${definition.collection}/${entity.id}`;
  const change = (version: number) => call<Entity>('PATCH', path, { body: patchOf(edits), version });
  try {
    let before = entity;
    const after = await change(entity.version).catch(async (error) => {
      if (toApiError(error).status !== 412) throw error;
      before = await call<Entity>('GET', path);
      if (!isUntouched(entity, before, edits)) throw error;
      return change(before.version);
    });
    saved.entities.push(after);
    saved.undo.push(async () => {
      const body = patchBack(definition, before, after);
      await call('PATCH', path, { body, version: after.version });
      return 0;
    });
  } catch (error) {
    const failure = toApiError(error);
    const messages = await errorsByField(definition, failure);
    fail(saved, definition, row, { failure, messages });
  }
}

async function importRows(definition: Definition, rows: readonly Row[], saved: Saved): Promise<void> {
  const lines = rows.map(({ entity, edits }) => ({
    type: definition.name,
    action: 'merge',
    version: entity.version,
    data: { id: entity.id, ...patchOf(edits) },
  }));
  const { answers, importId, isComplete } = await sendLines(lines).catch((error: unknown) => ({
    answers: [],
    importId: undefined,
    isComplete: false,
    error,
  }));
  if (importId) saved.undo.push(async () => (await undoImport(importId)).kept);
  const done: string[] = [];
  const answered = new Map(answers.map((answer) => [answer.line, answer]));
  for (const [index, row] of rows.entries()) {
    const answer = answered.get(index + 1);
    if (!answer || (answer.status === 424 && !isComplete))
      fail(saved, definition, row, { failure: unreachable() });
    else if (answer.status < 300) done.push(row.entity.id);
    else fail(saved, definition, row, { answer });
  }
  saved.entities.push(...(await readAgain(definition, done)));
}

const maxIds = 300;

async function readAgain({ collection }: Definition, ids: readonly string[]): Promise<Entity[]> {
  const found: Entity[] = [];
  for (let start = 0; start < ids.length; start += maxIds) {
    const id = ids.slice(start, start + maxIds).join(',');
    const page = await call<Page<Entity>>('GET', `/${collection}${queryString({ id, limit: maxIds })}`);
    found.push(...page.data);
  }
  return found;
}

interface Refusal {
  failure?: ApiError;
  messages?: ReadonlyMap<string, string>;
  answer?: LineAnswer;
}

/** Marks the cells that an error names, or all of the row. */
function fail(saved: Saved, definition: Definition, { edits }: Row, refusal: Refusal): void {
  const { failure, messages, answer } = refusal;
  const status = answer?.status ?? failure!.status;
  const message = answer ? messageOf(definition, answer) : failure!.message;
  const leaves = leavesOf(definition.fields);
  const named = answer
    ? new Map(
        [...(answer.errors ?? []).map(({ field }) => field), ...(answer.field ? [answer.field] : [])].map(
          (field) => [leafAt(leaves, field)?.path ?? field, messageOf(definition, answer, field)] as const,
        ),
      )
    : (messages ?? new Map());
  const messageFor = ({ values }: CellEdit) =>
    values.map(([path]) => named.get(path)).find((text) => text !== undefined);
  const isNamed = edits.some((edit) => messageFor(edit) !== undefined);
  for (const edit of edits) {
    const own = messageFor(edit);
    if (isNamed && own === undefined) continue;
    const isUnsent = status === 0 || status === 401 || status === 429 || status >= 424;
    const state = status === 412 ? 'conflict' : isUnsent ? 'unsent' : 'refused';
    saved.failed.push({ ...edit, state, message: own ?? message });
  }
}
