// One fault of the matrix: load before it, during it and after it, then the same bookkeeping. `npm run faults` runs all of
// them, in turn or drawn by a seed.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { appendFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { until } from '../../helpers/waiting.ts';
import { assertBalanced, type Balance, balance, followFeed } from './bookkeeping.ts';
import { type Attempt, type Load, startLoad } from './load.ts';
import { createTenant, withClient } from './process.ts';

/** What requests go to while something breaks. */
export interface Deployment {
  origin: string;
  tenantId: string;
  key: string;
  /** Beside the service, to look at the stored rows. */
  connection: pg.ClientConfig;
  /** Ends what was started for one round. */
  close(): Promise<void>;
}

export interface Fault<Deployed extends Deployment> {
  name: string;
  /** Why it cannot be tried on this machine. */
  skip?: string | false;
  deploy(): Promise<Deployed>;
  /** Breaks something, and repairs what does not come back by itself. `random` gives numbers from 0 to 1. */
  strike(deployed: Deployed, load: Load, random: () => number): Promise<void>;
  /** What else must hold for the answers. */
  check?(attempts: readonly Attempt[]): void;
}

/** What a run appends to the report, a line of JSON for each round. */
export interface Round extends Balance {
  fault: string;
}

const rounds = Number(process.env.STAMM_FAULT_ROUNDS ?? 1);
const report = process.env.STAMM_FAULT_REPORT;

/** With one, drawn faults strike deployments that stay, at drawn moments. Without, each fault has deployments of its own. */
const seed = process.env.STAMM_FAULT_SEED;

const senders = 16;
const repeaters = 8;

/** How many customers are created before and after something breaks. */
const enough = seed === undefined ? 200 : 50;

/** The longest that a drawn fault waits for its moment. */
const longestPauseMs = 1000;

// biome-ignore lint/suspicious/noExplicitAny: each fault takes what it deploys itself
const drawable: Fault<any>[] = [];

export function tryFault<Deployed extends Deployment>(fault: Fault<Deployed>): void {
  if (seed === undefined) {
    test(fault.name, { skip: fault.skip }, async () => {
      const random = randomOf(fault.name);
      for (let round = 0; round < rounds; round++) {
        const deployed = await fault.deploy();
        await tryOnce(fault, deployed, random);
        await deployed.close();
      }
    });
  } else if (!fault.skip) {
    if (drawable.push(fault) === 1) test(`faults drawn by ${seed}`, tryDrawn);
  }
}

/** Faults that name the same function to deploy share what it deploys. */
async function tryDrawn(): Promise<void> {
  const random = randomOf(`${seed} ${path.basename(process.argv[1]!)}`);
  const deployments = new Map<() => Promise<Deployment>, Deployment>();
  for (let round = 0; round < rounds; round++) {
    const fault = drawable[Math.floor(random() * drawable.length)]!;
    const deployed = deployments.get(fault.deploy) ?? (await fault.deploy());
    deployments.set(fault.deploy, deployed);
    Object.assign(deployed, await withClient(deployed.connection, createTenant));
    await tryOnce(fault, deployed, random);
  }
  for (const deployed of deployments.values()) await deployed.close();
}

/** The same numbers for the same words. */
function randomOf(words: string): () => number {
  let count = 0;
  return () => createHash('sha256').update(`${words} ${count++}`).digest().readUInt32BE() / 2 ** 32;
}

async function tryOnce<Deployed extends Deployment>(
  fault: Fault<Deployed>,
  deployed: Deployed,
  random: () => number,
): Promise<void> {
  const { origin, key, connection, tenantId } = deployed;
  const load = startLoad(origin, key, senders, repeaters);
  const feed = followFeed(origin, key);
  await createdSince(load, 0);
  if (seed !== undefined) await sleep(random() * longestPauseMs);
  await fault.strike(deployed, load, random);
  await createdSince(load, performance.now());
  const attempts = await load.stop();
  const result = await balance(connection, tenantId, attempts, await feed.stop());
  const round: Round = { fault: fault.name, ...result };
  if (report) appendFileSync(report, `${JSON.stringify(round)}\n`);
  assertBalanced(result);
  fault.check?.(attempts);
}

/** Waits until enough customers are created with requests that were sent after a moment. */
export async function createdSince(load: Load, since: number): Promise<void> {
  const isNew = ({ status, sentAt }: Attempt) => status === 201 && sentAt > since;
  await until('creations under load', () => load.attempts.filter(isNew).length >= enough);
}

/** Three times the published limit for a database that is away: others use the machine too. */
export const longestAnswerMs = 6000;

const expectedCodes = new Set([
  'database_unavailable',
  'overloaded',
  'outcome_unknown',
  'request_in_progress',
]);

/** The service itself was never away: every request was answered, and in time. */
export function assertAnswered(attempts: readonly Attempt[]): void {
  for (const { status, code, failure, tookMs } of attempts) {
    assert.ok(status === 201 || expectedCodes.has(code!), `${status} ${code} ${failure}`);
    assert.ok(tookMs < longestAnswerMs, `an answer took ${Math.round(tookMs)} ms`);
  }
}

/** Nobody noticed anything. */
export function assertAllCreated(attempts: readonly Attempt[]): void {
  assert.deepEqual(
    attempts.filter(({ status }) => status !== 201),
    [],
  );
}
