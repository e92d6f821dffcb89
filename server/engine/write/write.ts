// The one way to write: read what the intents name, decide them in their order, write what was decided, and decide again
// what somebody else overtook. (Decision 88.)
import type pg from 'pg';
import { Pace, type Steps } from '../../../core/pace.ts';
import type { Written } from '../../database/statistics.ts';
import { ApiError } from '../../errors.ts';
import { type Decided, decideAll } from './decide.ts';
import { answerRepeated, keepKeys } from './idempotency.ts';
import type { Intent, Outcome } from './intent.ts';
import { RaceError } from './races.ts';
import { buildStates, readMore, readStates, type Send, type Sent, type States } from './reading.ts';
import type { Writing, WrittenResource } from './resource.ts';
import type { NewRow } from './rows.ts';
import { bringsName, findFollowers, type Write } from './schedule.ts';

const maxRounds = 3;

export interface WriteWatch {
  onDecided?(footprint: Footprint): void;
  /** Called after each statement that wrote rows. The next statement waits for it. */
  onWritten?(rows: Written): Promise<void>;
}

/** Runs inside a transaction that the caller opens and commits. A rejected intent does not affect the others. */
export async function writeObjects(
  client: pg.ClientBase,
  writing: Writing,
  intents: readonly Intent[],
  watch: WriteWatch = {},
): Promise<Map<Intent, Outcome>> {
  const outcomes = await answerRepeated(client, intents);
  const send = sendInTurn(client, watch);
  let open = intents.filter((intent) => !outcomes.has(intent));
  for (let round = 1; open.length > 0; round++) {
    if (round > maxRounds) throw new RaceError('The objects were written by others again and again.');
    const { states, ...decided } = await decideLocked(client, send, writing, open);
    if (round === 1) watch.onDecided?.(footprintOf(open, states, decided));
    const lost = await writeSteps(send, writing, decided);
    const followers = lost.size > 0 ? findFollowers(decided.steps, (intent) => lost.has(intent)) : [];
    if ([...followers].some((intent) => !lost.has(intent)))
      throw new RaceError('An object was written on top of a write that was lost.');
    for (const intent of open) outcomes.set(intent, decided.outcomes.get(intent)!);
    open = undecided(open, decided.outcomes, lost);
  }
  await keepKeys(client, outcomes);
  return outcomes;
}

/** Writes all intents or none. Throws if somebody else overtook one. */
export async function writeWhole(
  client: pg.ClientBase,
  writing: Writing,
  intents: readonly Intent[],
): Promise<Map<Intent, Outcome>> {
  const send = sendInTurn(client);
  const decided = await decideLocked(client, send, writing, intents);
  if ([...decided.outcomes.values()].some((outcome) => outcome instanceof ApiError)) return decided.outcomes;
  const lost = await writeSteps(send, writing, decided);
  if (lost.size > 0) throw new RaceError('Somebody else wrote one of the objects.');
  return decided.outcomes;
}

/** What intents would do. Locks and looks as the write does, and copies nothing into the bin. */
export async function decideObjects(
  client: pg.ClientBase,
  writing: Writing,
  intents: readonly Intent[],
): Promise<Map<Intent, Outcome>> {
  return (await decideLocked(client, sendInTurn(client), writing, intents)).outcomes;
}

async function decideLocked(
  client: pg.ClientBase,
  send: Send,
  writing: Writing,
  intents: readonly Intent[],
): Promise<Decided & { states: States }> {
  const states = await readStates(send, writing, intents, true);
  await readMore(client, writing, intents, states);
  return { states, ...(await new Pace().run(decideAll(intents, states))) };
}

/**
 * Writes creations that name nothing by external id, without a look at anything. Returns no outcome for those that were
 * not written: only a look can tell why.
 */
export async function tryUnread(
  send: Send,
  writing: Writing,
  intents: readonly Intent[],
): Promise<Map<Intent, Outcome>> {
  const decided = await new Pace().run(decideAll(intents, buildStates(intents)));
  const lost = await writeSteps(send, writing, decided);
  for (const [intent, outcome] of decided.outcomes)
    if (lost.has(intent) || !isWritten(outcome)) decided.outcomes.delete(intent);
  return decided.outcomes;
}

/**
 * Writes intents of any tenants in two round trips: one reads, one writes. Nothing is locked before it is written.
 * Returns no outcomes for overtaken intents and their followers: those would write what was never stored.
 */
export async function tryObjects(
  send: { read: Send; write: Send },
  writing: Writing,
  intents: readonly Intent[],
): Promise<Map<Intent, Outcome>> {
  const states = await readStates(send.read, writing, intents, false);
  const decided = await new Pace().run(decideAll(intents, states));
  const lost = await writeSteps(send.write, writing, decided, findFollowers(decided.steps));
  for (const [, own] of Map.groupBy(intents, ({ tenantId }) => tenantId))
    for (const intent of undecided(own, decided.outcomes, lost)) decided.outcomes.delete(intent);
  return decided.outcomes;
}

function sendInTurn(client: pg.ClientBase, { onWritten }: WriteWatch = {}): Send {
  return async (statements) => {
    const results: pg.QueryResult[] = [];
    for (const statement of statements) {
      const result = await client.query(statement);
      results.push(result);
      if (statement.writesTo) await onWritten?.({ [statement.writesTo]: result.rows.length });
    }
    return results;
  };
}

/** Returns the overtaken intents, and later ones without a write: their outcomes can depend on an overtaken one. */
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

/** The keys and resources that intents concern. Others that name none of them can be written at the same time. */
export interface Footprint {
  keys: ReadonlySet<string>;
  /** Resources of which objects got names that others may wait for. */
  named: ReadonlySet<string>;
  /** Resources of which objects freed values that are unique together. */
  freed: ReadonlySet<string>;
  hasDeletion: boolean;
}

function footprintOf(intents: readonly Intent[], states: States, { steps }: Decided): Footprint {
  const keys = new Set(
    [...states.values()].flatMap(({ touched, awaited }) => [...touched, ...awaited.keys()]),
  );
  const named = new Set<string>();
  const freed = new Set<string>();
  for (const { phase, writes } of steps)
    for (const [{ definition, uniqueGroups }, own] of writes) {
      if (own.some(({ row }) => bringsName(phase, row))) named.add(definition.name);
      if (phase === 'update' && uniqueGroups.length > 0) freed.add(definition.name);
    }
  return { keys, named, freed, hasDeletion: intents.some(({ deletion }) => deletion) };
}

/** Returns the intents that were not written, and those that were to be left out. */
async function writeSteps(
  send: Send,
  { resources }: Writing,
  { steps, outcomes }: Decided,
  left: ReadonlySet<Intent> = new Set(),
): Promise<Set<Intent>> {
  const sent: { statement: Sent; writes: readonly Write[]; isRead?: boolean }[] = [];
  const pace = new Pace();
  for (const { phase, writes } of steps) {
    for (const resource of phase === 'delete' ? resources.toReversed() : resources) {
      const own = writes.get(resource)?.filter(({ intent }) => !left.has(intent)) ?? [];
      if (own.length === 0) continue;
      // Use one order everywhere, to avoid deadlocks.
      const inOrder = own.toSorted((one, other) => (one.row.id < other.row.id ? -1 : 1));
      const writesTo = phase === 'delete' ? undefined : resource.definition.table;
      for (const { json, writes } of await pace.run(toPieces(inOrder)))
        sent.push({
          statement: { ...resource[phase], values: [json], ...(writesTo && { writesTo }) },
          writes,
        });
      if (phase === 'delete') continue;
      const rows = inOrder.map(({ row }) => row as NewRow);
      const links = resource.linksAfter(rows, (row) => bringsName(phase, row));
      for (const statement of links) sent.push({ statement, writes: [] });
      const wanted = phase === 'insert' ? own.filter(({ intent }) => intent.wantsObject) : [];
      if (wanted.length > 0)
        sent.push({ statement: readWritten(resource, wanted), writes: wanted, isRead: true });
    }
  }
  const results = await send(sent.map(({ statement }) => statement));
  const lost = new Set(left);
  for (const [place, { writes, isRead }] of sent.entries()) {
    const found = new Map(results[place]!.rows.map((row) => [row.id, row]));
    for (const { intent, row } of writes) {
      const outcome = outcomes.get(intent)!;
      if (!found.has(row.id)) lost.add(intent);
      else if (intent.wantsObject && !(outcome instanceof ApiError)) {
        outcome.json = found.get(row.id).json;
        if (isRead) outcome.version = found.get(row.id).version;
      }
    }
  }
  // The object is as another intent has left it, and has to be read.
  for (const [intent, outcome] of outcomes)
    if (intent.wantsObject && !(outcome instanceof ApiError) && outcome.json === undefined) lost.add(intent);
  return lost;
}

/** Objects are up to 100 kB, and 500 in one text would be written in one turn of the event loop. */
const maxStatementLength = 1024 * 1024;

/** The rows of a statement as JSON: one piece, except of very large objects. */
function* toPieces(writes: readonly Write[]): Steps<{ json: string; writes: Write[] }[]> {
  const pieces: { texts: string[]; length: number; writes: Write[] }[] = [];
  for (const write of writes) {
    yield;
    const text = JSON.stringify(write.row);
    let piece = pieces.at(-1);
    if (!piece || piece.length + text.length > maxStatementLength) {
      piece = { texts: [], length: 0, writes: [] };
      pieces.push(piece);
    }
    piece.texts.push(text);
    piece.length += text.length;
    piece.writes.push(write);
  }
  return pieces.map(({ texts, writes }) => ({ json: `[${texts.join(',')}]`, writes }));
}

/** Reads new objects for the answer: a link might have changed one already. */
function readWritten({ read }: WrittenResource, writes: readonly Write[]): pg.QueryConfig {
  const named = writes.map(({ row: { tenant_id, id } }, place) => ({ place, tenant_id, id }));
  return { ...read, values: [JSON.stringify(named)] };
}
