// Reads everything that intents name, before they are decided: a few statements for any number of them.
import type pg from 'pg';
import { isDay } from '../../../core/calendar/calendar-days.ts';
import { Pace, type Steps } from '../../../core/pace.ts';
import { isStorableText } from '../../http/json-body.ts';
import type { Column } from '../definition/definition.ts';
import { isUuid } from '../definition/formats.ts';
import type { Row } from '../definition/validation.ts';
import { readChangesSince } from './changes-since.ts';
import { readCascades, readDependants } from './dependants.ts';
import type { Intent, ObjectName } from './intent.ts';
import { RaceError } from './races.ts';
import { keyOf, togetherKey, type Writing, type WrittenResource } from './resource.ts';
import { buildState, knownFrom, resolvedValue, type State } from './state.ts';
import type { Statement } from './statement-parts.ts';

export type States = ReadonlyMap<string, State>;

export interface Sent extends pg.QueryConfig {
  /** The table that it inserts or changes rows of. */
  writesTo?: string;
}

/** Sends statements in their order, all of them before it returns. */
export type Send = (statements: readonly Sent[]) => Promise<readonly pg.QueryResult[]>;

/** A statement, and what its rows say. */
interface Look {
  statement: pg.QueryConfig;
  note(rows: pg.QueryResultRow[]): Steps<void>;
}

/** Asks for any number of things by one statement, whose rows name them by their place. */
function lookFor<Sought, Found>(
  statement: Statement,
  sought: readonly Sought[],
  toRow: (one: Sought) => object,
  noteOne: (one: Sought, found: Found) => void,
): Look[] {
  if (sought.length === 0) return [];
  function* note(rows: pg.QueryResultRow[]): Steps<void> {
    for (const row of rows) {
      yield;
      noteOne(sought[row.place]!, row as Found);
    }
  }
  const asked = sought.map((one, place) => ({ place, ...toRow(one) }));
  return [{ statement: { ...statement, values: [JSON.stringify(asked)] }, note }];
}

async function look(send: Send, looks: readonly Look[]): Promise<void> {
  const results = await send(looks.map(({ statement }) => statement));
  const pace = new Pace();
  for (const [place, { note }] of looks.entries()) await pace.run(note(results[place]!.rows));
}

/** Makes an empty state for each tenant. */
export function buildStates(intents: readonly Intent[]): States {
  return new Map([...new Set(intents.map(({ tenantId }) => tenantId))].map((id) => [id, buildState()]));
}

/** Reads everything that intents name into a state per tenant. `readBelow` adds the dependants of deletions. */
export async function readStates(
  send: Send,
  { resources }: Writing,
  intents: readonly Intent[],
  isLocking: boolean,
): Promise<States> {
  const states = buildStates(intents);
  const kinds = resources.filter((resource) => intents.some((intent) => intent.resource === resource));
  await look(send, [
    ...kinds.flatMap((resource) => lookForObjects(resource, intents, states, isLocking)),
    ...kinds.flatMap((resource) => lookForNames(resource, intents, states, isLocking)),
    ...kinds.flatMap((resource) => lookForDeleted(resource, intents, states)),
  ]);
  const together = kinds.flatMap((resource) => lookTogether(resource, intents, states));
  if (together.length > 0) await look(send, together);
  return states;
}

/** Reads what only a transaction of its own needs: dependants, and changes since a version. */
export async function readMore(
  client: pg.ClientBase,
  { resources }: Writing,
  intents: readonly Intent[],
  states: States,
): Promise<void> {
  for (const [tenantId, state] of states) {
    const own = intents.filter((intent) => intent.tenantId === tenantId);
    await readBelow(client, resources, tenantId, own, state);
    await readSince(client, tenantId, own, state);
  }
}

/** Finds the holders of values that are unique together. References among the values are known by now. */
function lookTogether(resource: WrittenResource, intents: readonly Intent[], states: States): Look[] {
  return resource.uniqueGroups.flatMap(({ columns, find }) => {
    const sought = intents.flatMap((intent) => {
      const state = states.get(intent.tenantId)!;
      const row = intent.resource === resource && rowToBe(intent, columns, state);
      return row ? [{ tenantId: intent.tenantId, state, row }] : [];
    });
    return lookFor(
      find,
      sought,
      ({ tenantId, row }) => ({ tenant_id: tenantId, ...row }),
      ({ state, row }, { id }: { id: string }) =>
        state.hold(togetherKey(resource, columns, row)!, { id, isFormer: false }),
    );
  });
}

/** The columns as they will be: as sent, or as stored. Undefined if one is missing or invalid. */
function rowToBe(intent: Intent, columns: readonly Column[], state: State): Row | undefined {
  const { resource, sent } = intent;
  const row: Row = {};
  const stored = state.find(intent)?.known.row ?? {};
  for (const { name, field } of columns) {
    const reference = resource.references.find(({ column }) => column.name === name);
    const externalId = reference && sent[reference.externalColumn];
    const named = reference?.resources.flatMap(
      (kind) => state.holders.get(keyOf(kind, 'external_id', String(externalId)))?.id ?? [],
    )[0];
    const value = (externalId === undefined ? sent[name] : named) ?? stored[name];
    const isValid = field.kind === 'uuid' ? isUuid : field.kind === 'date' ? isDay : isStorableText;
    if (typeof value !== 'string' || !isValid(value)) return undefined;
    row[name] =
      field.kind === 'uuid' ? (state.currentIds.get(value.toLowerCase()) ?? value.toLowerCase()) : value;
  }
  return row;
}

interface FoundObject extends Row {
  isFormerName: boolean;
  id: string | null;
  version: number;
  /** Null where the object is as it was sent. */
  json: string | null;
}

function lookForObjects(
  resource: WrittenResource,
  intents: readonly Intent[],
  states: States,
  isLocking: boolean,
): Look[] {
  const { name: kind } = resource.definition;
  const sought = new Map<string, { tenantId: string; name: ObjectName; whole?: Intent | undefined }>();
  for (const intent of intents) {
    const { resource: own, tenantId, name } = intent;
    if (own !== resource || !name) continue;
    const key = `${tenantId} ${JSON.stringify(name)}`;
    sought.set(key, { tenantId, name, whole: intent.whole && !sought.has(key) ? intent : undefined });
    if ('externalId' in name) states.get(tenantId)!.hold(keyOf(kind, 'external_id', name.externalId), null);
  }
  return lookFor(
    resource[isLocking ? 'lock' : 'read'],
    [...sought.values()],
    ({ tenantId, name, whole }) => ({
      ...(whole && { ...whole.whole!.row, is_whole: true }),
      tenant_id: tenantId,
      ...('id' in name ? name : { external_id: name.externalId }),
    }),
    ({ tenantId, name, whole }, { isFormerName, id, version, json, ...row }: FoundObject) => {
      if (id === null) throw new RaceError('The object was deleted, or merged into another one.');
      const state = states.get(tenantId)!;
      const isSame = json === null;
      // Another name may have found it already.
      if (!isSame || !state.objects.has(id)) {
        const known = knownFrom(resource, id, version, row);
        if (isSame) {
          known.sameAs = whole;
          known.compose = () => resolvedValue(resource, whole!.whole!, row);
        } else known.json = json;
        state.load(known);
      }
      if ('id' in name) {
        state.currentIds.set(name.id, id);
        state.touched.add(keyOf(kind, 'id', name.id));
      } else if (isFormerName) {
        const key = keyOf(kind, 'external_id', name.externalId);
        state.hold(key, { id, isFormer: true });
        state.touched.add(key);
      } else if (row.external_id !== name.externalId)
        throw new RaceError('The object got another name meanwhile.');
    },
  );
}

/** Whether it can be written without a look: a creation that names nothing by external id. */
export function needsNoLook({ name, resource, sent, deletion, claim }: Intent): boolean {
  const isNamed = sent.external_id !== undefined;
  const names = resource.references.some(({ externalColumn }) => sent[externalColumn] !== undefined);
  return !name && !deletion && !claim && !isNamed && !names;
}

interface Name {
  kind: string;
  id?: string;
  value?: string;
}

/**
 * The names of everything that bodies refer to, and the unique values that they bring. Without locks, an owner's id in a whole
 * object is not looked up: most are as stored, and the write leaves out what lacks its owner.
 */
function namesIn({ resource, sent, whole }: Intent, isLocking: boolean): Name[] {
  const { definition, references, uniqueColumns } = resource;
  const names: Name[] = [];
  for (const { column, externalColumn, resources, isOwner } of references) {
    const [id, externalId] = [sent[column.name], sent[externalColumn]];
    const isSought = isLocking || !isOwner || !whole;
    if (isSought && typeof id === 'string' && isUuid(id))
      names.push({ kind: isOwner ? resources[0]! : '', id: id.toLowerCase() });
    if (!isText(externalId)) continue;
    for (const target of resources) names.push({ kind: `${target}.external_id`, value: externalId });
  }
  for (const { name } of uniqueColumns) {
    const value = sent[name];
    if (isText(value)) names.push({ kind: `${definition.name}.${name}`, value });
  }
  return names;
}

function lookForNames(
  resource: WrittenResource,
  intents: readonly Intent[],
  states: States,
  isLocking: boolean,
): Look[] {
  const sought = new Map<string, Name & { tenantId: string }>();
  for (const intent of intents) {
    if (intent.resource !== resource) continue;
    const { tenantId } = intent;
    const { holders } = states.get(tenantId)!;
    for (const name of namesIn(intent, isLocking)) {
      const key = `${name.kind} ${name.id ?? name.value}`;
      if (!holders.has(key)) sought.set(`${tenantId} ${key}`, { ...name, tenantId });
    }
  }
  return lookFor(
    resource.findNames,
    [...sought.values()],
    ({ tenantId, ...name }) => ({ tenant_id: tenantId, ...name }),
    (
      { tenantId, kind, id: sentId, value },
      { current_id: currentId, id, is_former: isFormer }: FoundName,
    ) => {
      const state = states.get(tenantId)!;
      if (value !== undefined) state.hold(`${kind} ${value}`, id === null ? null : { id, isFormer });
      else {
        state.currentIds.set(sentId!, currentId!);
        if (kind !== '' && id === null) state.absent.add(keyOf(kind, 'id', currentId!));
      }
    },
  );
}

interface FoundName {
  current_id: string | null;
  id: string | null;
  is_former: boolean;
}

/** Reads what belongs to the objects that are to be deleted. */
async function readBelow(
  client: pg.ClientBase,
  resources: readonly WrittenResource[],
  tenantId: string,
  intents: readonly Intent[],
  state: State,
): Promise<void> {
  const deletions = intents.filter(({ deletion }) => deletion);
  if (deletions.length === 0) return;
  const roots = (isCascade: boolean) =>
    deletions
      .filter(({ deletion }) => deletion!.isCascade === isCascade)
      .flatMap((intent) => state.find(intent)?.known ?? []);
  const isComplete = await readCascades(client, resources, tenantId, roots(true), state);
  // Half as many deletions can fit into one transaction.
  if (!isComplete && deletions.length > 1) throw new RaceError('Too many dependants.');
  const rest = isComplete ? roots(false) : [...roots(false), ...roots(true)];
  await readDependants(client, resources, tenantId, rest, intents.length, state);
}

async function readSince(
  client: pg.ClientBase,
  tenantId: string,
  intents: readonly Intent[],
  state: State,
): Promise<void> {
  const behind = intents.flatMap((intent) => {
    const found = intent.since === undefined ? undefined : state.find(intent);
    const isBehind = found && !found.isFormerName && intent.since! < found.known.version;
    return isBehind ? [{ id: found.known.id, version: intent.since!, author: intent.author }] : [];
  });
  if (behind.length === 0) return;
  const since = await readChangesSince(client, tenantId, behind, behind[0]!.author);
  for (const [key, changes] of since) state.changesSince.set(key, changes);
}

/** The external ids that must not be revived. */
function lookForDeleted(resource: WrittenResource, intents: readonly Intent[], states: States): Look[] {
  const sought = intents.flatMap((intent) => {
    const { external_id: externalId } = intent.sent;
    const isSought = intent.resource === resource && !intent.mayRevive && isText(externalId);
    return isSought ? [{ tenantId: intent.tenantId, externalId }] : [];
  });
  return lookFor(
    resource.findDeleted,
    sought,
    ({ tenantId, externalId }) => ({ tenant_id: tenantId, external_id: externalId }),
    ({ tenantId, externalId }, { id }: { id: string }) =>
      states.get(tenantId)!.deleted.set(keyOf(resource.definition.name, 'external_id', externalId), id),
  );
}

/** A text that cannot be stored would fail the statement for everybody in it. */
function isText(value: unknown): value is string {
  return typeof value === 'string' && isStorableText(value);
}
