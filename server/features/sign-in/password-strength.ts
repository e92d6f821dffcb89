// How hard a password is to guess, by zxcvbn's German and English word lists. The lists take 40 MB, and a hostile text
// takes long. A thread does the work; it starts on demand and ends when idle.
import { Worker } from 'node:worker_threads';

const idleMs = 60_000;
/** An ordinary password takes some 10 ms of a core, the worst known 60: a busy machine must not reject either. */
const longestCheckMs = 1000;

/** `UNKNOWN` where the check was stopped because it took too long. */
export type Strength = 'GUESSABLE' | 'STRONG' | 'UNKNOWN';

export interface Question {
  id: number;
  password: string;
  words: readonly string[];
  limitMs: number;
}

export interface Answer {
  id: number;
  strength: Strength;
}

interface Pending {
  resolve(strength: Strength): void;
  reject(error: unknown): void;
}

/** Numbers name the questions, since answers come as messages. */
const pending = new Map<number, Pending>();
let lastId = 0;
let thread: Worker | undefined;
let idleTimer: NodeJS.Timeout | undefined;

/** `words` are what somebody would try first: names of the person and the business, the address. */
export function judgePassword(
  password: string,
  words: readonly string[],
  limitMs = longestCheckMs,
): Promise<Strength> {
  clearTimeout(idleTimer);
  thread ??= startThread();
  thread.ref();
  const id = ++lastId;
  return new Promise((resolve, reject) => {
    pending.set(id, { resolve, reject });
    thread!.postMessage({ id, password, words, limitMs } satisfies Question);
  });
}

function startThread(): Worker {
  const started = new Worker(new URL('./password-strength-thread.ts', import.meta.url));
  started.on('message', ({ id, strength }: Answer) => {
    pending.get(id)?.resolve(strength);
    pending.delete(id);
    if (pending.size > 0) return;
    started.unref();
    idleTimer = setTimeout(() => end(started), idleMs).unref();
  });
  started.on('error', (error) => {
    if (thread === started) thread = undefined;
    for (const { reject } of pending.values()) reject(error);
    pending.clear();
  });
  return started;
}

function end(idle: Worker): void {
  if (thread === idle) thread = undefined;
  void idle.terminate();
}
