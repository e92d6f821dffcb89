// Asks the geocoder for sites without a position, in the background. A lock in PostgreSQL makes one process of all nodes the
// only one that asks, one question after the other. Businesses take turns, so a large one does not hold up the others.
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyBaseLogger } from 'fastify';
import type pg from 'pg';
import { isTestBusiness } from '../../access/test-businesses.ts';
import { report } from '../../database/background.ts';
import type { Database } from '../../database/database.ts';
import { pauseSecondsAfter } from '../../http/retry-pauses.ts';
import { expected } from '../../telemetry/expected.ts';
import { askGeocoder, type GeocoderAnswer } from './geocoder.ts';
import { findSiteToAsk, recordAnswer, type SiteToAsk } from './proposals.ts';

interface Limits {
  /** From an answer to the next question. Public geocoders allow one question per second. */
  intervalMs: number;
  /** After a round in which there was nothing to ask. */
  idleMs: number;
  /** Until a process asks again whether the lock is free, or the database is back. */
  lockRetryMs: number;
  timeoutMs: number;
  pauseSeconds(failures: number, retryAfterSeconds: number | undefined): number;
}

const defaultLimits: Limits = {
  intervalMs: 1000,
  idleMs: 60_000,
  lockRetryMs: 30_000,
  timeoutMs: 20_000,
  pauseSeconds: pauseSecondsAfter,
};

export interface GeocodingOptions {
  url: string;
  publicUrl: string | undefined;
  database: Database;
  log: FastifyBaseLogger;
  /** Tests set this. */
  limits?: Partial<Limits>;
}

/** Any number that nothing else locks. */
const geocodingLock = 7_882_053;
const tenantsAtATime = 100;
const nothing = '00000000-0000-0000-0000-000000000000';
/** An address whose question fails this often waits for the next round. */
const maxFailuresOfSite = 3;

/** Returns a function that stops it. A question under way is cut off. */
export function startGeocoding(options: GeocodingOptions): () => Promise<void> {
  const limits = { ...defaultLimits, ...options.limits };
  const stopping = new AbortController();
  const running = keepAsking({ ...options, limits, signal: stopping.signal, failures: 0 });
  return async () => {
    stopping.abort();
    await running;
  };
}

interface Job extends GeocodingOptions {
  limits: Limits;
  signal: AbortSignal;
  /** In a row, of all questions. */
  failures: number;
}

async function keepAsking(job: Job): Promise<void> {
  while (!job.signal.aborted) {
    await report('geocoding', async () => {
      await askWhileLocked(job).catch((error) => {
        if (!job.signal.aborted) throw error;
      });
    });
    await rest(job, job.limits.lockRetryMs);
  }
}

/** The lock ends with its connection, so it is looked at before each question. */
async function askWhileLocked(job: Job): Promise<void> {
  const client = await job.database.connect();
  try {
    const { rows } = await client.query('SELECT pg_try_advisory_lock($1) AS "isOurs"', [geocodingLock]);
    if (!rows[0].isOurs) return;
    // The process that had the lock before may have asked a moment ago.
    await rest(job, job.limits.intervalMs);
    const positions = new Map<string, string>();
    while (!job.signal.aborted) {
      const asked = await askForEachTenant(job, client, positions);
      if (asked === 0) await rest(job, job.limits.idleMs);
    }
  } finally {
    await client.end().catch(expected);
  }
}

/** One question for each tenant. `positions` holds how far each has got; a tenant that is through starts anew. */
async function askForEachTenant(
  job: Job,
  client: pg.Client,
  positions: Map<string, string>,
): Promise<number> {
  let asked = 0;
  for (let after = nothing; ; ) {
    const { rows } = await client.query<{ id: string }>('SELECT list_tenants($1, $2) AS id', [
      after,
      tenantsAtATime,
    ]);
    for (const { id: tenantId } of rows) {
      if (job.signal.aborted) return asked;
      // Its addresses are made up.
      if (await isTestBusiness(job.database, tenantId)) continue;
      const site = await findSiteToAsk(job.database, tenantId, positions.get(tenantId) ?? nothing);
      if (site) {
        positions.set(tenantId, site.id);
        await askForSite(job, client, tenantId, site);
        asked++;
      } else positions.delete(tenantId);
    }
    if (rows.length < tenantsAtATime) return asked;
    after = rows.at(-1)!.id;
  }
}

async function askForSite(job: Job, client: pg.Client, tenantId: string, site: SiteToAsk): Promise<void> {
  const { url, publicUrl, limits, signal, database, log } = job;
  const { streetName, houseNumber, zipCode, city } = site;
  for (let attempt = 1; attempt <= maxFailuresOfSite && !signal.aborted; attempt++) {
    await client.query('SELECT');
    const answer: GeocoderAnswer = await askGeocoder(
      { url, publicUrl, timeoutMs: limits.timeoutMs },
      { streetName, houseNumber, zipCode, city },
      signal,
    );
    if (signal.aborted) return;
    if (answer.kind !== 'failed') {
      job.failures = 0;
      await recordAnswer(database, tenantId, site, answer);
      return rest(job, limits.intervalMs);
    }
    job.failures++;
    const pauseSeconds = limits.pauseSeconds(job.failures, answer.retryAfterSeconds);
    log.warn(
      { reason: answer.reason, pauseSeconds: Math.round(pauseSeconds) },
      'the geocoder did not answer',
    );
    await rest(job, Math.max(pauseSeconds * 1000, limits.intervalMs));
  }
}

async function rest({ signal }: Job, ms: number): Promise<void> {
  await sleep(ms, undefined, { signal, ref: false }).catch(expected);
}
