// Changes of plant health on their way to the service. Each is stored first and sent then, so none is lost without
// network. A change is sent with the version that the person saw. Another value of the same field meanwhile is a conflict.
import { call, send, toApiError } from '../api/client.ts';
import type { Entity } from '../api/definitions.ts';
import { isAway } from './shelf.ts';
import { readAll, removeOne, writeOne } from './store.ts';

export const healthFields = ['status', 'comment'] as const;
/** An empty comment is null, as the service takes it. */
export type Health = Partial<Record<(typeof healthFields)[number], string | null>>;

export interface HealthChange {
  plantId: string;
  siteId: string;
  /** The name that people use for the plant. */
  name: string;
  business: string;
  at: number;
  version: number;
  /** The values that the person saw, and the values that they chose. */
  base: Health;
  health: Health;
  /** Values that were sent before without an answer: if the plant has them, they are ours. */
  sent: Health[];
  idempotencyKey: string;
  state: 'waiting' | 'conflict' | 'rejected';
  /** Set for a conflict: the plant as it is now. */
  theirs?: Health & { version: number; updatedAt: string };
  /** Set for a rejected change: the reason. */
  message?: string;
}

let changes: readonly HealthChange[] = [];
const listeners = new Set<() => void>();
/** Other tabs of this browser. */
const channel = new BroadcastChannel('stamm-road-changes');
channel.onmessage = () => void loadChanges();

export function subscribeChanges(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** The oldest first. */
export function listChanges(): readonly HealthChange[] {
  return changes;
}

function show(next: readonly HealthChange[]): void {
  changes = next.toSorted((one, other) => one.at - other.at);
  for (const listener of listeners) listener();
}

/** A change that nobody could send for so long says nothing about the plant any more. */
const keptMs = 7 * 24 * 3_600_000;

export async function loadChanges(): Promise<void> {
  const stored = await readAll<HealthChange>('changes');
  const old = stored.filter(({ at }) => Date.now() - at > keptMs);
  for (const { plantId } of old) await removeOne('changes', plantId);
  show(stored.filter((change) => !old.includes(change)));
}

export function forgetChanges(): void {
  show([]);
  channel.postMessage('changed');
}

async function store(change: HealthChange): Promise<void> {
  await writeOne('changes', change.plantId, change);
  show([...changes.filter(({ plantId }) => plantId !== change.plantId), change]);
  channel.postMessage('changed');
}

async function remove({ plantId }: HealthChange): Promise<void> {
  await removeOne('changes', plantId);
  show(changes.filter((change) => change.plantId !== plantId));
  channel.postMessage('changed');
}

/** Whether the person has not changed the plant again since. */
function isLatest({ idempotencyKey }: HealthChange): boolean {
  return changes.some((change) => change.idempotencyKey === idempotencyKey);
}

/** Stores the outcome of a change, unless another one has taken its place. */
async function settle(change: HealthChange, outcome: Partial<HealthChange> | 'arrived'): Promise<void> {
  if (!isLatest(change)) return;
  if (outcome === 'arrived') await remove(change);
  else await store({ ...change, ...outcome });
}

/** Returns the plant as it is once everything that waits has arrived. */
export function withChange(plant: Entity, waiting: readonly HealthChange[]): Entity {
  const change = waiting.find(({ plantId }) => plantId === plant.id);
  return change ? { ...plant, ...change.health } : plant;
}

export function healthOf(plant: Record<string, unknown>): Health {
  return Object.fromEntries(
    healthFields.map((field) => [field, (plant[field] as string | undefined) ?? null]),
  );
}

/** Adds to what waits for the same plant already. */
export async function changeHealth(
  plant: Entity,
  { name, business, health }: Pick<HealthChange, 'name' | 'business' | 'health'>,
): Promise<void> {
  const earlier = changes.find(({ plantId }) => plantId === plant.id);
  await store({
    plantId: plant.id,
    siteId: String(plant.siteId),
    name,
    business,
    at: Date.now(),
    version: earlier?.version ?? plant.version,
    base: earlier?.base ?? healthOf(plant),
    health: { ...earlier?.health, ...health },
    sent: earlier ? [...earlier.sent, earlier.health] : [],
    idempotencyKey: crypto.randomUUID(),
    state: 'waiting',
  });
}

/** Settles a conflict: the own values replace those of the others. */
export async function insist(change: HealthChange): Promise<void> {
  const { theirs, ...own } = change;
  await store({
    ...own,
    version: theirs!.version,
    base: healthOf(theirs!),
    idempotencyKey: crypto.randomUUID(),
    state: 'waiting',
  });
}

export const discard = remove;

export interface Sending {
  /** Changes of the other business, real or test, wait until the person is back there. */
  business: string;
  onArrived: (plant: Entity) => void;
}

/** One tab sends at a time. Ends where no answer comes. */
export async function sendChanges(sending: Sending): Promise<void> {
  await navigator.locks.request('stamm-road-changes', async () => {
    await loadChanges();
    for (const change of changes) {
      const isMeant = change.state === 'waiting' && change.business === sending.business && isLatest(change);
      if (isMeant && !(await sendOne(change, sending))) return;
    }
  });
}

/** False where no answer came. */
async function sendOne(change: HealthChange, sending: Sending): Promise<boolean> {
  const { plantId, health, version, idempotencyKey } = change;
  try {
    const plant = await call<Entity>('PATCH', `/plants/${plantId}`, {
      body: health,
      ...{ version, idempotencyKey },
    });
    sending.onArrived(plant);
    await settle(change, 'arrived');
    return true;
  } catch (error) {
    if (toApiError(error).status !== 412) return await reject(change, error);
  }
  return compare(change, sending).catch((error: unknown) => reject(change, error));
}

async function reject(change: HealthChange, error: unknown): Promise<boolean> {
  const { status, code, message } = toApiError(error);
  const isLater = isAway(error) || status === 0 || status === 401 || status === 429;
  if (isLater || code === 'business_changed' || code === 'request_in_progress') return false;
  // A plant that is gone needs no sentence of the service.
  await settle(change, { state: 'rejected', message: status === 404 ? '' : message });
  return true;
}

/** The plant has another version. Fields that nobody else has changed are still ours to write. */
async function compare(change: HealthChange, sending: Sending): Promise<boolean> {
  // Ask the service itself: a copy would be as old as the change.
  const plant: Entity = await (await send('GET', `/plants/${change.plantId}`, { headers: {} })).json();
  const theirs = healthOf(plant);
  const differing = healthFields.filter(
    (field) => change.health[field] !== undefined && theirs[field] !== change.health[field],
  );
  const isOurs = (field: (typeof healthFields)[number]) =>
    [change.base, ...change.sent].some((seen) => seen[field] === theirs[field]);
  if (differing.length === 0) {
    sending.onArrived(plant);
    await settle(change, 'arrived');
    return true;
  }
  if (differing.every(isOurs)) {
    const next = { version: plant.version, idempotencyKey: crypto.randomUUID() };
    await settle(change, next);
    return sendOne({ ...change, ...next }, sending);
  }
  const { version, updatedAt } = plant;
  await settle(change, { state: 'conflict', theirs: { ...theirs, version, updatedAt: String(updatedAt) } });
  return true;
}
