// Waiting in tests. Machines that run them may be slow, or stand still for a while: what is waited for has time enough, and
// what has to come in time may be as late as the machine was meanwhile.
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';

/** For what never happens: a failure is told, and the rest goes on. */
export const patienceMs = 180_000;

const notInTime = (what: string) => `${what}: not within ${patienceMs / 1000} s`;

export async function until(what: string, isMet: () => boolean | Promise<boolean>): Promise<void> {
  for (const deadline = Date.now() + patienceMs; !(await isMet()); await sleep(10)) {
    assert.ok(Date.now() < deadline, notInTime(what));
  }
}

export async function within<Result>(what: string, promise: Promise<Result>): Promise<Result> {
  const timeout = new AbortController();
  const expiry = sleep(patienceMs, undefined, { signal: timeout.signal }).then(() =>
    assert.fail(notInTime(what)),
  );
  try {
    return await Promise.race([promise, expiry]);
  } finally {
    expiry.catch(() => {});
    timeout.abort();
  }
}

const beatMs = 10;
let lastBeat = performance.now();
let countedMs = 0;

/** A timer that comes later than it should tells that everybody was late, the service too. */
function latenessMs(): number {
  const gapMs = performance.now() - lastBeat;
  return gapMs > 2 * beatMs ? countedMs + gapMs - beatMs : countedMs;
}

setInterval(() => {
  countedMs = latenessMs();
  lastBeat = performance.now();
}, beatMs).unref();

/** Tells how long something has taken since, without what the machine was late. Our own work must not be what takes long. */
export function startWatch(): () => number {
  const [startedAt, lateBefore] = [performance.now(), latenessMs()];
  return () => performance.now() - startedAt - (latenessMs() - lateBefore);
}
