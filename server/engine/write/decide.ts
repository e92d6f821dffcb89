// Decides intents in order, in memory: each sees the decisions before it. Their writes get a place in a schedule.
import { isDeepStrictEqual } from 'node:util';
import type { Steps } from '../../../core/pace.ts';
import { ApiError, type FieldError, validationError } from '../../errors.ts';
import { type Author, authorColumns } from '../../http/conventions.ts';
import type { Reference } from '../definition/definition.ts';
import type { Row } from '../definition/validation.ts';
import { collectCascade, describeDependants, hasDependants } from './dependants.ts';
import type { Intent, Outcome } from './intent.ts';
import { newObjectId } from './object-id.ts';
import { awaitedNames, factsOf, keyOf, togetherKey, type WrittenResource } from './resource.ts';
import type { NewRow } from './rows.ts';
import { buildSchedule, type Step, type Write } from './schedule.ts';
import { isRead, type Known, resolvedValue, type State, storedValue, toStored } from './state.ts';

export interface Decided {
  outcomes: Map<Intent, Outcome>;
  steps: Step[];
}

/** Decides all intents in their order. One that lacks its owner is decided again when the owner comes. */
export function* decideAll(intents: readonly Intent[], states: ReadonlyMap<string, State>): Steps<Decided> {
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

  for (const intent of intents) {
    decide(intent);
    yield;
  }
  return { outcomes, steps: schedule.steps() };
}

interface Context {
  intent: Intent;
  state: State;
  schedule: ReturnType<typeof buildSchedule>;
  /** Keys that would change the outcome, and keys that this intent brought to waiting ones. */
  awaited: string[];
  brought: string[];
}

function decideOne(context: Context): Outcome {
  const { intent, state } = context;
  const found = state.find(intent);
  try {
    const { resource, tenantId, since, author } = intent;
    intent.demand?.(found?.known);
    if (!found && !intent.deletion) demandNotDeleted(intent, state);
    const isBehind = found && !found.isFormerName && since !== undefined && since < found.known.version;
    const checked = intent.decide(
      found && toStored(found.known, found.isFormerName),
      isBehind ? state.since(found.known, since, author) : undefined,
    );
    if (!checked) return remove(context, found);
    const row: NewRow = { ...checked.row, tenant_id: tenantId, id: found?.known.id ?? idOfNew(intent) };
    const missing = canResolve(resource, checked.fieldErrors) ? state.resolve(resource, row) : [];
    noteMissingOwners(context, row, missing);
    const fieldErrors = [...checked.fieldErrors, ...missing];
    if (fieldErrors.length > 0) return validationError(fieldErrors);
    const compose = () => resolvedValue(resource, checked, row);
    return found ? change(context, found.known, row, compose) : create(context, row, compose);
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
}

/** An intent that names an id and does not throw without its object creates it under this id. */
function idOfNew({ name, restored }: Intent): string {
  return restored?.id ?? (name && 'id' in name ? name.id : newObjectId());
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

/** Rejects a unique value that another object holds. For a change, only new values count. */
function demandFree({ intent, state }: Context, row: NewRow, before?: Known): void {
  const { definition, uniqueColumns, uniqueGroups } = intent.resource;
  const single = uniqueColumns.flatMap(({ name, path }) =>
    row[name] === undefined ? [] : [{ key: keyOf(definition.name, name, String(row[name])), path }],
  );
  const together = uniqueGroups.flatMap(({ columns }) => {
    const key = togetherKey(intent.resource, columns, row);
    return key ? [{ key, path: columns.at(-1)!.path }] : [];
  });
  for (const { key, path } of [...single, ...together]) {
    const holder = before?.facts.keys.includes(key) ? undefined : state.holders.get(key);
    // An object that comes back has its names for itself again.
    const isInTheWay = holder && holder.id !== row.id && !(holder.isFormer && intent.restored);
    if (isInTheWay) throw new ApiError('conflict', { details: { field: path.join('.'), id: holder.id } });
  }
}

function create(context: Context, row: NewRow, compose: () => Record<string, unknown>): Outcome {
  const { intent, state, schedule } = context;
  const { resource } = intent;
  demandFree(context, row);
  const facts = factsOf(resource, row);
  const version = (intent.restored?.version ?? 0) + 1;
  const known: Known = { resource, id: row.id, version, compose, facts, made: [] };
  state.create(known);
  const linked = linkWaiting(context, facts.keys);
  schedule.add(
    intent.restored ? 'restore' : 'insert',
    [{ intent, resource, row: { ...row, ...authorColumns(intent.author) }, linked }],
    {
      ids: [known.id, ...linked, ...rivalNames(resource, facts.keys, row)],
      takes: facts.keys,
      frees: [],
      waitsFor: facts.waitsFor,
      owners: facts.owners.map(({ id }) => id),
    },
  );
  context.brought.push(...facts.keys);
  return { what: 'created', id: known.id, version };
}

function change(
  context: Context,
  before: Known,
  row: NewRow,
  compose: () => Record<string, unknown>,
): Outcome {
  const { intent, state, schedule } = context;
  const { resource, author } = intent;
  const { id } = before;
  if (before.sameAs === intent && hasReferences(before, row))
    return { what: 'unchanged', id, version: before.version };
  const former = storedValue(before);
  const value = compose();
  const changed = Object.keys(resource.definition.fields).filter(
    (name) => !isDeepStrictEqual(former[name], value[name]),
  );
  const above = Math.max(before.version, intent.above ?? 0);
  if (changed.length === 0 && (intent.above ?? 0) < before.version) {
    const { json, isComposed } = before;
    return { what: 'unchanged', id, version: before.version, ...(!isComposed && { json }) };
  }
  demandFree(context, row, before);
  const changes = Object.fromEntries(changed.map((name) => [name, { from: former[name], to: value[name] }]));
  const version = above + 1;
  const facts = factsOf(resource, row);
  const made = [...before.made, { version, changes, author }];
  const left = state.change(before, { resource, id, version, value, facts, made });
  const taken = facts.keys.filter((key) => !before.facts.keys.includes(key));
  const sent = {
    ...row,
    version,
    read_version: before.version,
    ...authorColumns(author),
    changes,
    is_merge: intent.wantsObject,
  };
  const linked = linkWaiting(context, taken);
  schedule.add('update', [{ intent, resource, row: sent, linked }], {
    ids: [id, ...linked, ...rivalNames(resource, taken, row)],
    takes: taken,
    frees: before.facts.keys.filter((key) => !facts.keys.includes(key)),
    // Include names that it no longer waits for: a later writer of such a name must not link it.
    waitsFor: [...before.facts.waitsFor, ...facts.waitsFor],
    owners: [...before.facts.owners, ...facts.owners].map((owner) => owner.id),
  });
  context.brought.push(...taken, ...left);
  return { what: 'changed', id, version };
}

function hasReferences({ resource, row: stored = {} }: Known, row: Row): boolean {
  return resource.references.every(({ isOwner, column, externalColumn }) =>
    (isOwner ? [column.name] : [column.name, externalColumn]).every(
      (name) => (stored[name] ?? undefined) === row[name],
    ),
  );
}

/** A reference that can mean objects of several resources gets the first one that brings its name. */
function rivalNames(
  { definition, hasRivals }: WrittenResource,
  taken: readonly string[],
  row: Row,
): string[] {
  const name = String(row.external_id);
  return hasRivals && taken.includes(keyOf(definition.name, 'external_id', name)) ? [`name ${name}`] : [];
}

/** The statement that writes a name also links what waited for it. Returns the linked ids. */
function linkWaiting({ intent, state }: Context, keys: readonly string[]): string[] {
  const linked: string[] = [];
  for (const key of keys) {
    const { id } = state.holders.get(key)!;
    for (const before of state.waitingFor(key)) {
      state.change(before, linkedTo(before, key, id, intent.author));
      linked.push(before.id);
    }
  }
  return linked;
}

/** The object with the id in place of the name. A mere dependant has only its row, which is enough. */
function linkedTo(before: Known, key: string, id: string, author: Author): Known {
  const { references } = before.resource;
  const value = isRead(before) ? { ...storedValue(before) } : undefined;
  const row = { ...before.row };
  const nameOf = ({ externalName, externalColumn }: Reference) =>
    value ? value[externalName] : row[externalColumn];
  const changes: Record<string, { from?: unknown; to?: unknown }> = {};
  for (const reference of references) {
    const { isOwner, column, externalName, externalColumn, resources } = reference;
    const name = nameOf(reference);
    const isLinked = resources.some((kind) => keyOf(kind, 'external_id', String(name)) === key);
    if (isOwner || name == null || !isLinked) continue;
    changes[externalName] = { from: name };
    changes[column.path[0]!] = { to: id };
    delete row[externalColumn];
    row[column.name] = id;
    if (!value) continue;
    delete value[externalName];
    value[column.path[0]!] = id;
  }
  const version = before.version + 1;
  const facts = { ...before.facts, waitsFor: awaitedNames(references, nameOf) };
  const made = [...before.made, { version, changes, author }];
  return { ...before, version, row, value, json: undefined, body: undefined, sameAs: undefined, facts, made };
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
    waitsFor: objects.flatMap(({ facts }) => facts.waitsFor),
    owners: objects.flatMap(({ facts }) => facts.owners.map((owner) => owner.id)),
  });
  for (const one of objects) context.brought.push(...state.remove(one));
  const deleted = [...gone].map(([{ definition }, own]) => ({
    resource: definition.name,
    ids: own.map((one) => one.id),
  }));
  return { what: 'deleted', id, version, ...(isCascade && { deleted }) };
}
