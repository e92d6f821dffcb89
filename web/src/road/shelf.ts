// Answers of the service for the time without network. The network is asked first. Where it fails or is slow, the last
// answer is shown, with its time.
import { ApiError } from '../api/client.ts';
import { readHolder, writeHolder } from './phone.ts';
import { type KeptAnswer, readOne, writeOne } from './store.ts';

/** Paths that a round needs. Nothing else is kept. */
const keptPaths =
  /^\/(state|session|profile|definitions|visit-settings|visits\?|sites\/[^?/]+|plants[?/]|containers[?/]|appointments\?)/;

/** With an answer on the shelf nobody waits longer for the network. */
const slowMs = 6000;

interface NetworkState {
  isAway: boolean;
  /** Time of the oldest shown answer. */
  since: number | undefined;
}

let state: NetworkState = { isAway: false, since: undefined };
const listeners = new Set<() => void>();

export function networkState(): NetworkState {
  return state;
}

export function subscribeNetwork(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function set(next: NetworkState): void {
  if (next.isAway === state.isAway && next.since === state.since) return;
  state = next;
  for (const listener of listeners) listener();
}

const notedEveryMs = 60_000;

/** The service has answered. */
export function noteAnswer(): void {
  set({ isAway: false, since: undefined });
  const holder = readHolder();
  const now = Date.now();
  if (holder && now - holder.answeredAt > notedEveryMs) writeHolder({ ...holder, answeredAt: now });
}

function noteSilence({ at }: KeptAnswer): void {
  set({ isAway: true, since: Math.min(at, state.since ?? at) });
}

/** The person who asked may have signed out meanwhile, here or in another tab. Somebody else may have signed in. */
export async function keepAnswer(path: string, text: string, asker = readHolder()): Promise<void> {
  const holder = readHolder();
  if (!holder || holder.personId !== asker?.personId || holder.business !== asker.business) return;
  // A full phone keeps less. The page works without.
  await writeOne('answers', path, { text, at: Date.now() } satisfies KeptAnswer).catch(() => {});
}

/** No answer came, or none of the service itself: a proxy says so while it restarts. */
export function isAway(error: unknown): boolean {
  return error instanceof ApiError && (error.status === 0 || error.status >= 500);
}

/** Reads for the app while somebody is on the road. */
export async function readThroughShelf(path: string, read: () => Promise<string>): Promise<string> {
  const asker = readHolder();
  if (!asker || !keptPaths.test(path)) return read();
  const kept = readOne<KeptAnswer>('answers', path).catch(() => undefined);
  const reading = read().then(async (text) => {
    noteAnswer();
    await keepAnswer(path, text, asker);
    return text;
  });
  const useKept = async (failure: () => Promise<string>) => {
    const answer = await kept;
    if (!answer) return failure();
    noteSilence(answer);
    return answer.text;
  };
  const late = new Promise<void>((resolve) => setTimeout(resolve, slowMs)).then(() => useKept(() => reading));
  // Whichever comes second may fail unheard.
  late.catch(() => {});
  return Promise.race([reading, late]).catch((error: unknown) => {
    if (!isAway(error)) throw error;
    return useKept(() => Promise.reject(error));
  });
}
