// The one way to write: read what the intents name, decide them in their order, write what was decided, and decide again
// what somebody else overtook. Each intent sees what those before it decided. (Decision 88.)
import { isDeepStrictEqual } from 'node:util';
import type pg from 'pg';
import { ApiError, type FieldError, validationError } from '../../errors.ts';
import { authorColumns } from '../../http/conventions.ts';
import type { Row } from '../definition/validation.ts';
import { newObjectId } from '../sql/object-id.ts';
import { RaceError } from '../sql/races.ts';
import type { NewRow } from '../sql/rows.ts';
import { collectCascade, describeDependants, hasDependants } from './dependants.ts';
import type { Intent, Outcome } from './intent.ts';
import { readMore, readStates, type Send } from './reading.ts';
import { factsOf, keyOf, type Writing, type WrittenResource } from './resource.ts';
import { buildSchedule, type Phase, type Step, type Write } from './schedule.ts';
import { type Known, resolvedValue, type State, storedValue, toStored } from './state.ts';

const maxRounds = 3;

/** Inside a transaction that the caller opens and commits. A refused intent does not affect the others. */
export async function writeObjects(
  client: pg.ClientBase,
  writing: Writing,
  intents: readonly Intent[],
  onDecided?: (footprint: Footprint) => void,
): Promise<Map<Intent, Outcome>> {
  const outcomes = new Map<Intent, Outcome>();
  const send = sendInTurn(client);
  let open = intents;
  for (let round = 1; open.length > 0; round++) {
    if (round > maxRounds) throw new RaceError('The objects were written by others again and again.');
    const states = await readStates(send, writing, open, true);
    await readMore(client, writing, open, states);
    const decided = decideAll(open, states);
    if (round === 1) onDecided?.(footprintOf(open, states, decided.steps));
    const lost = await writeSteps(send, writing, decided);
    for (const intent of open) outcomes.set(intent, decided.outcomes.get(intent)!);
    open = undecided(open, decided.outcomes, lost);
  }
  return outcomes;
}

/**
 * For intents of any tenants, in two round trips: one reads, one writes. Nothing is locked before it is written. Answers
 * without the intents that somebody else overtook.
 */
export async function tryObjects(
  send: { read: Send; write: Send },
  writing: Writing,
  intents: readonly Intent[],
): Promise<Map<Intent, Outcome>> {
  const decided = decideAll(intents, await readStates(send.read, writing, intents, false));
  const lost = decided.steps.length > 0 ? await writeSteps(send.write, writing, decided) : new Set<Intent>();
  for (const [, own] of Map.groupBy(intents, ({ tenantId }) => tenantId))
    for (const intent of undecided(own, decided.outcomes, lost)) decided.outcomes.delete(intent);
  return decided.outcomes;
}

function sendInTurn(client: pg.ClientBase): Send {
  return async (statements) => {
    const results: pg.QueryResult[] = [];
    for (const statement of statements) results.push(await client.query(statement));
    return results;
  };
}

/** What was not written, and what follows it: that may have been refused because of it. */
function undecided(
  intents: readonly Intent[],
  outcomes: ReadonlyMap<Intent, Outcome>,
  lost: ReadonlySet<Intent>,
): Intent[] {
  const first = intents.findIndex((intent) => lost.has(intent));
  if (first < 0) return [];
  return intents.slice(first).filter((one) => lost.has(one) || !isWritten(outcomes.get(one)!));
}

function isWritten(outcome: Outcome): boolean {
  return !(outcome instanceof ApiError) && outcome.what !== 'unchanged';
}

/** What intents concern: others that name nothing of it may be written at the same time. */
export interface Footprint {
  keys: ReadonlySet<string>;
  /** Resources of which objects got names that others may wait for. */
  named: ReadonlySet<string>;
  hasDeletion: boolean;
}

function footprintOf(
  intents: readonly Intent[],
  states: ReadonlyMap<string, State>,
  steps: readonly Step[],
): Footprint {
  const keys = new Set(
    [...states.values()].flatMap(({ touched, awaited }) => [...touched, ...awaited.keys()]),
  );
  const named = new Set<string>();
  for (const { phase, writes } of steps)
    for (const [{ definition }, own] of writes)
      if (phase !== 'delete' && own.some(hasNewName(phase))) named.add(definition.name);
  return { keys, named, hasDeletion: intents.some(({ deletion }) => deletion) };
}

/** Decides all intents in their order. One that lacks its owner is decided again when the owner comes. */
function decideAll(intents: readonly Intent[], states: ReadonlyMap<string, State>) {
  const outcomes = new Map<Intent, Outcome>();
  const places = new Map(intents.map((intent, place) => [intent, place]));
  const schedule = buildSchedule();

  function decide(intent: Intent): void {
    const state = states.get(intent.tenantId)!;
    const context: Context = { intent, state, schedule, awaited: [], brought: [] };
    outcomes.set(intent, decideOne(context));
    if (intent.mayWait)
      for (const key of context.awaited) state.awaited.getOrInsertComputed(key, () => new Set()).add(intent);
    for (const key of context.brought) {
      const woken = [...(state.awaited.get(key) ?? [])];
      state.awaited.delete(key);
      woken.sort((one, other) => places.get(one)! - places.get(other)!);
      for (const one of woken) if (outcomes.get(one) instanceof ApiError) decide(one);
    }
  }

  for (const intent of intents) decide(intent);
  return { outcomes, steps: schedule.steps() };
}

interface Context {
  intent: Intent;
  state: State;
  schedule: ReturnType<typeof buildSchedule>;
  /** What would change the outcome, and what this intent has brought to those that wait. */
  awaited: string[];
  brought: string[];
}

function decideOne(context: Context): Outcome {
  const { intent, state } = context;
  const found = state.find(intent);
  try {
    if (intent.deletion) return remove(context, found);
    const { resource, tenantId, since, author } = intent;
    if (!found) demandNotDeleted(intent, state);
    const isBehind = found && !found.isFormerName && since !== undefined && since < found.known.version;
    const checked = intent.decide(
      found && toStored(found.known, found.isFormerName),
      isBehind ? state.since(found.known, since, author) : undefined,
    );
    const row: NewRow = { ...checked.row, tenant_id: tenantId, id: found?.known.id ?? newObjectId() };
    const missing = canResolve(resource, checked.fieldErrors) ? state.resolve(resource, row) : [];
    noteMissingOwners(context, row, missing);
    const fieldErrors = [...checked.fieldErrors, ...missing];
    if (fieldErrors.length > 0) return validationError(fieldErrors);
    const value = resolvedValue(resource, checked, row);
    return found ? change(context, found.known, row, value) : create(context, row, value);
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
}

function demandNotDeleted({ resource, sent, mayRevive }: Intent, state: State): void {
  if (mayRevive) return;
  const id = state.deleted.get(keyOf(resource.definition.name, 'external_id', String(sent.external_id)));
  const isHeld = state.holders.get(keyOf(resource.definition.name, 'external_id', String(sent.external_id)));
  if (id !== undefined && !isHeld) throw new ApiError('deleted', { details: { field: 'externalId', id } });
}

/** Owners can be looked up unless the fields that name them are invalid. */
function canResolve({ owners }: WrittenResource, fieldErrors: readonly FieldError[]): boolean {
  const names = owners.flatMap(({ column, externalName }) => [column.path[0]!, externalName]);
  return fieldErrors.every(({ path }) => path.length > 0 && !names.includes(String(path[0])));
}

function noteMissingOwners({ intent, awaited }: Context, row: NewRow, missing: readonly FieldError[]): void {
  for (const { resource, externalName, externalColumn } of intent.resource.owners) {
    const isMissing = missing.some(
      ({ code, path }) => code === 'reference_not_found' && path[0] === externalName,
    );
    if (isMissing) awaited.push(keyOf(resource, 'external_id', String(row[externalColumn])));
  }
}

/** Another object that holds a unique value; of a change only new values count. */
function demandFree({ intent, state }: Context, row: NewRow, before?: Known): void {
  const { definition, uniqueColumns } = intent.resource;
  for (const { name, path } of uniqueColumns) {
    if (row[name] === undefined) continue;
    const key = keyOf(definition.name, name, String(row[name]));
    const holder = before?.facts.keys.includes(key) ? undefined : state.holders.get(key);
    if (holder && holder.id !== row.id)
      throw new ApiError('conflict', { details: { field: path.join('.'), id: holder.id } });
  }
}

function create(context: Context, row: NewRow, value: Record<string, unknown>): Outcome {
  const { intent, state, schedule } = context;
  const { resource } = intent;
  demandFree(context, row);
  const facts = factsOf(resource, row);
  const known: Known = { resource, id: row.id, version: 1, value, facts, made: [] };
  state.create(known);
  schedule.add('insert', [{ intent, resource, row: { ...row, ...authorColumns(intent.author) } }], {
    ids: [known.id, ...linkWaiting(context, facts.keys)],
    takes: facts.keys,
    frees: [],
    waitsFor: facts.waitsFor,
    owners: facts.owners.map(({ id }) => id),
  });
  context.brought.push(...facts.keys);
  return { what: 'created', id: known.id, version: 1 };
}

function change(context: Context, before: Known, row: NewRow, value: Record<string, unknown>): Outcome {
  const { intent, state, schedule } = context;
  const { resource, author } = intent;
  const { id } = before;
  const former = storedValue(before);
  const changed = Object.keys(resource.definition.fields).filter(
    (name) => !isDeepStrictEqual(former[name], value[name]),
  );
  if (changed.length === 0) {
    const { json } = toStored(before, false);
    return { what: 'unchanged', id, version: before.version, ...(intent.wantsObject && { json }) };
  }
  demandFree(context, row, before);
  const changes = Object.fromEntries(changed.map((name) => [name, { from: former[name], to: value[name] }]));
  const version = before.version + 1;
  const facts = factsOf(resource, row);
  const made = [...before.made, { version, changes, author }];
  const left = state.change(before, { resource, id, version, value, facts, made });
  const taken = facts.keys.filter((key) => !before.facts.keys.includes(key));
  const sent = { ...row, version, ...authorColumns(author), changes, is_merge: intent.wantsObject };
  schedule.add('update', [{ intent, resource, row: sent }], {
    ids: [id, ...linkWaiting(context, taken)],
    takes: taken,
    frees: before.facts.keys.filter((key) => !facts.keys.includes(key)),
    waitsFor: facts.waitsFor,
    owners: [...before.facts.owners, ...facts.owners].map((owner) => owner.id),
  });
  context.brought.push(...taken, ...left);
  return { what: 'changed', id, version };
}

/** The statement that writes a name also links what has waited for it. Answers those ids. */
function linkWaiting({ intent, state }: Context, keys: readonly string[]): string[] {
  const linked: string[] = [];
  for (const key of keys) {
    for (const before of state.waitingFor(key)) {
      const value = { ...storedValue(before) };
      const changes: Record<string, { from?: unknown; to?: unknown }> = {};
      for (const { isOwner, column, externalName, resources } of before.resource.references) {
        const isLinked = resources.some(
          (name) => keyOf(name, 'external_id', String(value[externalName])) === key,
        );
        if (isOwner || value[externalName] === undefined || !isLinked) continue;
        const { id } = state.holders.get(key)!;
        changes[externalName] = { from: value[externalName] };
        changes[column.path[0]!] = { to: id };
        delete value[externalName];
        value[column.path[0]!] = id;
      }
      const version = before.version + 1;
      const facts = { ...before.facts, waitsFor: before.facts.waitsFor.filter((one) => one !== key) };
      const made = [...before.made, { version, changes, author: intent.author }];
      state.change(before, { ...before, version, value, json: undefined, facts, made });
      linked.push(before.id);
    }
  }
  return linked;
}

function remove(context: Context, found: ReturnType<State['find']>): Outcome {
  const { intent, state, schedule } = context;
  if (!found) throw new ApiError('not_found');
  const { known, isFormerName } = found;
  const { id, version } = known;
  if (isFormerName) throw new ApiError('merged_object', { details: { id } });
  const { isCascade } = intent.deletion!;
  const below = isCascade ? collectCascade(known, state) : undefined;
  if (!below && hasDependants(known, state)) {
    context.awaited.push(id);
    throw new ApiError('has_dependants', { details: { dependants: describeDependants(known, state) } });
  }
  const gone = below ?? new Map([[known.resource, [known]]]);
  const objects = [...gone.values()].flat();
  const writes = objects.map(({ resource, id: goneId }): Write => {
    const row = { tenant_id: intent.tenantId, id: goneId, root_id: id, ...authorColumns(intent.author) };
    return { intent, resource, row };
  });
  schedule.add('delete', writes, {
    ids: objects.map((one) => one.id),
    takes: [],
    frees: objects.flatMap(({ facts }) => facts.keys),
    waitsFor: [],
    owners: objects.flatMap(({ facts }) => facts.owners.map((owner) => owner.id)),
  });
  for (const one of objects) context.brought.push(...state.remove(one));
  const deleted = [...gone].map(([{ definition }, own]) => ({
    resource: definition.name,
    ids: own.map((one) => one.id),
  }));
  return { what: 'deleted', id, version, ...(isCascade && { deleted }) };
}

/** Answers the intents that were not written. */
async function writeSteps(
  send: Send,
  { resources }: Writing,
  { steps, outcomes }: ReturnType<typeof decideAll>,
): Promise<Set<Intent>> {
  const sent: { statement: pg.QueryConfig; writes: readonly Write[] }[] = [];
  for (const { phase, writes } of steps) {
    for (const resource of phase === 'delete' ? resources.toReversed() : resources) {
      const own = writes.get(resource);
      if (!own) continue;
      // In one order everywhere, to avoid deadlocks.
      const rows = own.map(({ row }) => row as NewRow).toSorted((one, other) => (one.id < other.id ? -1 : 1));
      sent.push({ statement: { ...resource[phase], values: [JSON.stringify(rows)] }, writes: own });
      if (phase === 'delete') continue;
      const isNew = (row: Row) => hasNewName(phase)({ row });
      for (const statement of resource.links.linksAfter(rows, isNew)) sent.push({ statement, writes: [] });
    }
  }
  const results = await send(sent.map(({ statement }) => statement));
  const lost = new Set<Intent>();
  for (const [place, { writes }] of sent.entries()) {
    const written = new Map(results[place]!.rows.map(({ id, json }) => [id, json]));
    for (const { intent, row } of writes) {
      const outcome = outcomes.get(intent)!;
      if (!written.has(row.id)) lost.add(intent);
      else if (intent.wantsObject && !(outcome instanceof ApiError)) outcome.json = written.get(row.id);
    }
  }
  return lost;
}

function hasNewName(phase: Phase): (write: { row: Row }) => boolean {
  return ({ row }) =>
    row.external_id !== undefined &&
    (phase === 'insert' || Object.hasOwn(row.changes as object, 'externalId'));
}
