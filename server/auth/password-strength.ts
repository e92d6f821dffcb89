// How hard a password is to guess, by zxcvbn's German and English word lists. The lists take 40 MB, and a hostile text
// takes seconds. A thread does the work; it starts on demand and ends when idle.
import { Worker } from 'node:worker_threads';
import { ApiError } from '../errors.ts';

const idleMs = 60_000;
const mostWaiting = 20;

interface Pending {
  resolve(isGuessable: boolean): void;
  reject(error: unknown): void;
}

/** Numbers name the questions, since answers come as messages. */
const pending = new Map<number, Pending>();
let lastId = 0;
let thread: Worker | undefined;
let idleTimer: NodeJS.Timeout | undefined;

/** `words` are what somebody would try first: names of the person and the business, the address. */
export function isGuessable(password: string, words: readonly string[]): Promise<boolean> {
  if (pending.size >= mostWaiting) throw new ApiError('too_many_sign_ins');
  clearTimeout(idleTimer);
  thread ??= startThread();
  thread.ref();
  const id = ++lastId;
  return new Promise((resolve, reject) => {
    pending.set(id, { resolve, reject });
    thread!.postMessage({ id, password, words });
  });
}

function startThread(): Worker {
  const started = new Worker(new URL('./password-strength-thread.ts', import.meta.url));
  started.on('message', ({ id, isGuessable: answer }: { id: number; isGuessable: boolean }) => {
    pending.get(id)?.resolve(answer);
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
