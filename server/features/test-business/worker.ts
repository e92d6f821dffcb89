// Works on test businesses in the background. After each step it rests as long as the step took: requests go first.
import { setTimeout as sleep } from 'node:timers/promises';
import { report } from '../../database/background.ts';
import type { Database } from '../../database/database.ts';
import type { Definition } from '../../engine/definition/definition.ts';
import { expected } from '../../telemetry/expected.ts';
import { buildWork, type WorkStep } from './work.ts';

const pollMs = 1000;
const longestRestMs = 500;

/** Returns a function that stops it after the step under way. The next start goes on from there. */
export function startTestBusinessWork(
  database: Database,
  resources: readonly Definition[],
): () => Promise<void> {
  const stopping = new AbortController();
  const work = buildWork(database, resources);
  const running = keepWorking(database, work, stopping.signal);
  return async () => {
    stopping.abort();
    await running;
  };
}

async function keepWorking(database: Database, work: WorkStep, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await report('test_businesses', async () => {
      const { rows } = await database.pool.query<{ id: string }>('SELECT list_test_business_work() AS id');
      for (const { id } of rows) await workThrough(work, id, signal);
    });
    await rest(pollMs, signal);
  }
}

const waitForOthersMs = 200;

/** Works without rests until nothing is left to do. While another process takes a step, it waits for its turn. */
export async function workUntilDone(
  database: Database,
  resources: readonly Definition[],
  id: string,
): Promise<void> {
  const work = buildWork(database, resources);
  for (let outcome = await work(id); outcome !== 'idle'; outcome = await work(id))
    if (outcome === 'busy') await sleep(waitForOthersMs);
}

async function workThrough(work: WorkStep, id: string, signal: AbortSignal): Promise<void> {
  for (;;) {
    const startedAt = performance.now();
    if (signal.aborted || (await work(id)) !== 'worked') return;
    await rest(Math.min(performance.now() - startedAt, longestRestMs), signal);
  }
}

async function rest(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal, ref: false }).catch(expected);
}
