// Hourly: removes data that is kept for a limited time. Every two seconds: makes links that were left open, writes
// missing words and folds texts anew. Every process does both; each step is idempotent.
import { forgetOldDevices } from '../auth/devices.ts';
import { forgetEndedKeyUse } from '../auth/key-use.ts';
import { forgetOldSignIns } from '../auth/sessions.ts';
import type { Config } from '../config.ts';
import type { Database } from '../database/database.ts';
import { forgetOldRequests } from '../engine/sql/idempotency.ts';
import { linkWaiting } from '../engine/sql/links.ts';
import { fillMissingWords } from '../engine/sql/search-words.ts';
import { respellFormer } from '../engine/sql/spelling.ts';
import { trimRecordedCalls } from '../features/call-log/recorded-calls.ts';
import { respellRememberedNames } from '../features/name-matches/name-match-routes.ts';
import { enforceRetention } from '../features/retention/retention.ts';
import { trimDeliveries } from '../features/webhooks/deliveries.ts';
import { resources } from '../resources/index.ts';

const intervalMs = 3_600_000;
const linkIntervalMs = 2000;

/** Returns a function that stops it. */
export function startUpkeep(config: Config, database: Database): () => void {
  const steps = [
    () => forgetOldRequests(database),
    () => forgetOldSignIns(database),
    () => forgetOldDevices(database),
    () => forgetEndedKeyUse(database, config.ENDED_KEY_USE_RETENTION_DAYS),
    () => trimRecordedCalls(database, config.RECORDED_CALLS_RETENTION_DAYS),
    () => trimDeliveries(database),
    () => enforceRetention(database, config),
  ];
  const timer = setInterval(async () => {
    // While the database is away nothing expires; the next hour catches up.
    for (const step of steps) await step().catch(() => {});
  }, intervalMs).unref();
  let isLinking = false;
  const linkTimer = setInterval(async () => {
    if (isLinking) return;
    isLinking = true;
    await linkWaiting(database, resources).catch(() => {});
    await fillMissingWords(database, resources).catch(() => {});
    await respellFormer(database, resources, { remembered_name: respellRememberedNames }).catch(() => {});
    isLinking = false;
  }, linkIntervalMs).unref();
  return () => {
    clearInterval(timer);
    clearInterval(linkTimer);
  };
}
