// Hourly: removes data that is kept for a limited time. Every two seconds: makes links that were left open. At the start:
// writes words that a restore left out. Every process does all of it; each step is idempotent.

import { forgetEndedKeyUse } from '../access/key-use.ts';
import { forgetOldSignIns } from '../access/sessions.ts';
import type { Config } from '../config.ts';
import { noteSuccess, report } from '../database/background.ts';
import type { Database } from '../database/database.ts';
import { forgetOldRequests } from '../engine/write/idempotency.ts';
import { linkWaiting } from '../engine/write/links.ts';
import { fillMissingWords } from '../engine/write/search-words.ts';
import { forgetEndedVerdicts } from '../features/attention/attention-verdicts.ts';
import { trimRecordedCalls } from '../features/call-log/recorded-calls.ts';
import { retentionSteps } from '../features/retention/retention.ts';
import { forgetOldDevices } from '../features/sign-in/devices.ts';
import { trimDeliveries } from '../features/webhooks/deliveries.ts';
import { resources } from '../resources/index.ts';

/** Soon after the start: a process that never lives an hour cleans up too. */
const firstAfterMs = 60_000;
const intervalMs = 3_600_000;
const linkIntervalMs = 2000;

/** Returns a function that stops it. */
export function startUpkeep(config: Config, database: Database): () => void {
  const clean = () => void cleanUp(config, database);
  void report('words', () => fillMissingWords(database, resources));
  const first = setTimeout(clean, firstAfterMs).unref();
  const timer = setInterval(clean, intervalMs).unref();
  let isLinking = false;
  const linkTimer = setInterval(async () => {
    if (isLinking) return;
    isLinking = true;
    await report('links', () => linkWaiting(database, resources));
    isLinking = false;
  }, linkIntervalMs).unref();
  return () => {
    clearTimeout(first);
    clearInterval(timer);
    clearInterval(linkTimer);
  };
}

/** A step that fails does not keep the others from running. While the database is away the next hour catches up. */
export async function cleanUp(config: Config, database: Database): Promise<void> {
  const steps: Record<string, () => Promise<unknown>> = {
    idempotency: () => forgetOldRequests(database),
    sessions: () => forgetOldSignIns(database),
    devices: () => forgetOldDevices(database),
    ended_keys: () => forgetEndedKeyUse(database, config.ENDED_KEY_USE_RETENTION_DAYS),
    recorded_calls: () => trimRecordedCalls(database, config.RECORDED_CALLS_RETENTION_DAYS),
    deliveries: () => trimDeliveries(database),
    attention_verdicts: () => forgetEndedVerdicts(database),
    ...retentionSteps(database, config),
  };
  let isComplete = true;
  for (const [work, step] of Object.entries(steps)) isComplete = (await report(work, step)) && isComplete;
  if (isComplete) await report('upkeep', () => noteSuccess(database, 'upkeep'));
}
