// Waits of tests. The machine may be slow, or stand still for a while. A condition has plenty of time, and a measured
// time does not count the machine's own delays.
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import './left-processes.ts';

/** After this a wait fails, and the other tests go on. */
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

/** A late timer shows that the whole machine was late, the service too. */
function latenessMs(): number {
  const gapMs = performance.now() - lastBeat;
  return gapMs > 2 * beatMs ? countedMs + gapMs - beatMs : countedMs;
}

setInterval(() => {
  countedMs = latenessMs();
  lastBeat = performance.now();
}, beatMs).unref();

/** Returns a function for the time since, without the machine's own delays. The test itself must not do long work. */
export function startWatch(): () => number {
  const [startedAt, lateBefore] = [performance.now(), latenessMs()];
  return () => performance.now() - startedAt - (latenessMs() - lateBefore);
}
