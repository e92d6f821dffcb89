// One fault of the matrix: load before it, during it and after it, then the same bookkeeping. `npm run faults` runs all of them.
import assert from 'node:assert/strict';
import { appendFileSync } from 'node:fs';
import { test } from 'node:test';
import type pg from 'pg';
import { until } from '../../helpers/waiting.ts';
import { assertBalanced, type Balance, balance, followFeed } from './bookkeeping.ts';
import { type Attempt, type Load, startLoad } from './load.ts';

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
  /** Breaks something, and repairs what does not come back by itself. */
  strike(deployed: Deployed, load: Load): Promise<void>;
  /** What else must hold for the answers. */
  check?(attempts: readonly Attempt[]): void;
}

/** What a run appends to the report, a line of JSON for each round. */
export interface Round extends Balance {
  fault: string;
}

const rounds = Number(process.env.STAMM_FAULT_ROUNDS ?? 1);
const report = process.env.STAMM_FAULT_REPORT;

const senders = 16;
const repeaters = 8;

/** How many customers are created before and after something breaks. */
const enough = 200;

export function tryFault<Deployed extends Deployment>(fault: Fault<Deployed>): void {
  test(fault.name, { skip: fault.skip }, async () => {
    for (let round = 0; round < rounds; round++) await tryOnce(fault);
  });
}

async function tryOnce<Deployed extends Deployment>(fault: Fault<Deployed>): Promise<void> {
  const deployed = await fault.deploy();
  const { origin, key, connection, tenantId } = deployed;
  const load = startLoad(origin, key, senders, repeaters);
  const feed = followFeed(origin, key);
  await createdSince(load, 0);
  await fault.strike(deployed, load);
  await createdSince(load, performance.now());
  const attempts = await load.stop();
  const result = await balance(connection, tenantId, attempts, await feed.stop());
  const round: Round = { fault: fault.name, ...result };
  if (report) appendFileSync(report, `${JSON.stringify(round)}\n`);
  await deployed.close();
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
