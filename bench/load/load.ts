// Load on a service. wrk takes the least from the machine, so it is used where installed. Otherwise, and for a given
// rate, our own generator runs.
import path from 'node:path';
import { findProgram, runOwn, runProgram } from '../processes.ts';
import { type Latency, summarize } from '../statistics.ts';

export interface LoadOrder {
  origin: string;
  requestsFile: string;
  connections: number;
  seconds: number;
  /** Requests are due at this rate, independent of the answers (open loop). */
  ratePerSecond?: number;
  /** With a rate: how many connections are opened when all others are busy. */
  maxConnections?: number;
}

export interface LoadReport {
  generator: 'wrk' | 'own';
  seconds: number;
  answers: number;
  /** Answers by status. wrk tells only which are errors: those that are none are counted as "2xx". */
  statuses: Record<string, number>;
  /** Requests whose connection ended without an answer, or that got none in time. */
  broken: number;
  /** Requests that were due, and for which no connection was free until the end. */
  unsent: number;
  /** Of what was served; at a rate, without the first second. */
  latency: Latency;
  /** Of what was refused, from sending it; at a rate, without the first second. */
  refusals: Latency;
  /** Of that second, in which connections are opened. */
  firstRefusals: Latency;
  /** Of all seconds. */
  p99BySecond: number[];
}

const wrk = findProgram('wrk');

export const closedLoopGenerator = wrk ? 'wrk' : 'its own generator (wrk is not installed)';

/** As much as the connections can do. */
export function runFullLoad(order: LoadOrder): Promise<LoadReport> {
  return wrk ? runWrk(wrk, order) : runOwnLoad(order);
}

/** With the own generator, which knows each status and can keep a rate. */
export function runOwnLoad(order: LoadOrder): Promise<LoadReport> {
  return runOwn<LoadReport>('load/generator.ts', order, order.seconds + 30);
}

async function runWrk(program: string, order: LoadOrder): Promise<LoadReport> {
  const { connections, seconds, origin, requestsFile } = order;
  const script = path.join(import.meta.dirname, 'wrk.lua');
  const words = [
    '-t1',
    '--timeout',
    '10s',
    `-c${connections}`,
    `-d${seconds}s`,
    '-s',
    script,
    origin,
    '--',
    requestsFile,
  ];
  const output = await runProgram(program, words, { seconds: seconds + 30 });
  const { answers, microseconds, refused, broken, p50, p99, max } = JSON.parse(
    output.trim().split('\n').at(-1)!,
  );
  return {
    generator: 'wrk',
    seconds: microseconds / 1e6,
    answers,
    statuses: { '2xx': answers - refused, ...(refused > 0 && { '4xx and 5xx': refused }) },
    broken,
    unsent: 0,
    latency: { count: answers, p50, p99, max },
    refusals: summarize([]),
    firstRefusals: summarize([]),
    p99BySecond: [],
  };
}

export function rateOf({ answers, seconds }: LoadReport): number {
  return answers / seconds;
}

/** Answers that are no errors. */
export function countServed({ statuses }: LoadReport): number {
  return Object.entries(statuses).reduce((sum, [status, count]) => sum + (status < '4' ? count : 0), 0);
}

export function describeStatuses({ statuses, broken, unsent }: LoadReport): string {
  const counts = Object.entries({ ...statuses, 'no answer': broken, 'not sent': unsent });
  return counts
    .filter(([, count]) => count > 0)
    .map(([status, count]) => `${status}: ${count.toLocaleString('en-US')}`)
    .join(', ');
}

/** Fails where an answer was anything but what was asked for. */
export function demandStatus(what: string, report: LoadReport, status: number): void {
  const expected = report.statuses[status] ?? report.statuses['2xx'] ?? 0;
  if (report.answers === 0 || expected !== report.answers || report.broken > 0)
    throw new Error(`${what}: not every answer was ${status} (${describeStatuses(report) || 'none came'}).`);
}
