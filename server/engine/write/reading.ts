// Reads everything that intents name, before they are decided: a few statements for any number of them.
import type pg from 'pg';
import { isStorableText } from '../../http/json-body.ts';
import { isUuid } from '../definition/formats.ts';
import { findDeleted } from '../sql/bin-look-up.ts';
import { RaceError } from '../sql/races.ts';
import type { Stored } from '../sql/rows.ts';
import { readChangesSince } from './changes-since.ts';
import { readCascades, readDependants } from './dependants.ts';
import type { Intent, ObjectName } from './intent.ts';
import { factsOf, keyOf, rowOf, type Writing, type WrittenResource } from './resource.ts';
import { buildState, type State } from './state.ts';

type States = Map<string, State>;

/** Sends statements in their order, all of them before it returns. */
export type Send = (statements: readonly pg.QueryConfig[]) => Promise<readonly pg.QueryResult[]>;

/** A statement, and what its rows say. */
interface Look {
  statement: pg.QueryConfig;
  note(rows: pg.QueryResultRow[]): void;
}

/** By tenant, everything that intents name. For a deletion `readBelow` adds what belongs to its object. */
export async function readStates(
  send: Send,
  { resources }: Writing,
  intents: readonly Intent[],
  isLocking: boolean,
): Promise<States> {
  const states: States = new Map();
  for (const { tenantId } of intents) states.getOrInsertComputed(tenantId, buildState);
  const kinds = resources.filter((resource) => intents.some((intent) => intent.resource === resource));
  const looks = [
    ...kinds.flatMap((resource) => lookForObjects(resource, intents, states, isLocking)),
    ...kinds.flatMap((resource) => lookForNames(resource, intents, states)),
  ];
  const results = await send(looks.map(({ statement }) => statement));
  for (const [place, { note }] of looks.entries()) note(results[place]!.rows);
  return states;
}

/** What only a transaction of its own needs: dependants, and changes since a version. */
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
    await readDeleted(client, resources, tenantId, own, state);
  }
}

interface Found extends Stored {
  place: number;
  isFormerName: boolean;
}

function lookForObjects(
  resource: WrittenResource,
  intents: readonly Intent[],
  states: States,
  isLocking: boolean,
): Look[] {
  const { name: kind } = resource.definition;
  const sought = new Map<string, { tenantId: string; name: ObjectName }>();
  for (const intent of intents) {
    if (intent.resource !== resource || !intent.name) continue;
    sought.set(`${intent.tenantId} ${JSON.stringify(intent.name)}`, { ...intent, name: intent.name });
  }
  if (sought.size === 0) return [];
  const places = [...sought.values()];
  const asked = places.map(({ tenantId, name }, place) => ({
    place,
    tenant_id: tenantId,
    ...('id' in name ? { id: name.id } : { external_id: name.externalId }),
  }));
  for (const { tenantId, name } of places) {
    if ('externalId' in name) states.get(tenantId)!.hold(keyOf(kind, 'external_id', name.externalId), null);
  }
  const note = (rows: pg.QueryResultRow[]) => {
    for (const { place, isFormerName, id, version, json } of rows as Found[]) {
      const { tenantId, name } = places[place]!;
      const state = states.get(tenantId)!;
      const row = rowOf(resource, json);
      if (!state.objects.has(id))
        state.load({ resource, id, version, json, facts: factsOf(resource, row), made: [] });
      if ('id' in name) {
        state.currentIds.set(name.id, id);
        state.touched.add(keyOf(kind, 'id', name.id));
      } else if (isFormerName) {
        const key = keyOf(kind, 'external_id', name.externalId);
        state.hold(key, { id, isFormer: true });
        state.touched.add(key);
      } else if (row.external_id !== name.externalId)
        throw new RaceError('The object got another name meanwhile.');
    }
  };
  return [{ statement: { ...resource[isLocking ? 'lock' : 'read'], values: [JSON.stringify(asked)] }, note }];
}

interface Name {
  kind: string;
  id?: string;
  value?: string;
}

/** The names of everything that bodies refer to, and the unique values that they bring. */
function namesIn({ resource, sent }: Intent): Name[] {
  const { definition, references, uniqueColumns } = resource;
  const names: Name[] = [];
  for (const { column, externalColumn, resources, isOwner } of references) {
    const [id, externalId] = [sent[column.name], sent[externalColumn]];
    if (typeof id === 'string' && isUuid(id))
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

function lookForNames(resource: WrittenResource, intents: readonly Intent[], states: States): Look[] {
  const sought = new Map<string, Name & { tenantId: string }>();
  for (const intent of intents) {
    if (intent.resource !== resource) continue;
    const { tenantId } = intent;
    const { holders } = states.get(tenantId)!;
    for (const name of namesIn(intent)) {
      const key = `${name.kind} ${name.id ?? name.value}`;
      if (!holders.has(key)) sought.set(`${tenantId} ${key}`, { ...name, tenantId });
    }
  }
  if (sought.size === 0) return [];
  const places = [...sought.values()];
  const asked = places.map(({ tenantId, ...name }, place) => ({ place, tenant_id: tenantId, ...name }));
  const note = (rows: pg.QueryResultRow[]) => {
    for (const { place, current_id: currentId, id, is_former: isFormer } of rows as FoundName[]) {
      const { tenantId, kind, id: sentId, value } = places[place]!;
      const state = states.get(tenantId)!;
      if (value !== undefined) state.hold(`${kind} ${value}`, id === null ? null : { id, isFormer });
      else {
        state.currentIds.set(sentId!, currentId!);
        if (kind !== '' && id === null) state.absent.add(keyOf(kind, 'id', currentId!));
      }
    }
  };
  return [{ statement: { ...resource.findNames, values: [JSON.stringify(asked)] }, note }];
}

interface FoundName {
  place: number;
  current_id: string | null;
  id: string | null;
  is_former: boolean;
}

/** What belongs to the objects that are to be deleted. */
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
  // Half as many may suit one transaction.
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
async function readDeleted(
  client: pg.ClientBase,
  resources: readonly WrittenResource[],
  tenantId: string,
  intents: readonly Intent[],
  state: State,
): Promise<void> {
  for (const { definition } of resources) {
    const externalIds = intents
      .filter(({ resource, mayRevive }) => !mayRevive && resource.definition === definition)
      .flatMap(({ sent: { external_id: externalId } }) => (isText(externalId) ? [externalId] : []));
    const sought = [...new Set(externalIds)].map((externalId) => ({ tenantId, externalId }));
    const errors = await findDeleted(client, definition, sought);
    for (const [place, { externalId }] of sought.entries()) {
      const id = errors[place]?.details.id;
      if (id !== undefined) state.deleted.set(keyOf(definition.name, 'external_id', externalId), String(id));
    }
  }
}

/** A text that cannot be stored would fail the statement for everybody in it. */
function isText(value: unknown): value is string {
  return typeof value === 'string' && isStorableText(value);
}
