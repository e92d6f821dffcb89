// Single-row inserts of the same rows straight into PostgreSQL: with pgbench where the machine has it, else with 64
// connections of our own. Nothing is validated, authenticated or journalled, and row-level security does not count.
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import path from 'node:path';
import type { BenchDatabase } from './postgres.ts';
import { findProgram, runOwn, runProgram } from './processes.ts';
import { type Latency, summarize } from './statistics.ts';
import { bodyCount, siteColumns } from './tenants.ts';

export interface InsertOrder {
  connection: BenchDatabase['connection'];
  statement: string;
  /** The statement's only parameter is a number below this one. */
  numbers: number;
  connections: number;
  seconds: number;
}

export interface InsertReport {
  rows: number;
  seconds: number;
  /** pgbench tells the average only. */
  latency?: Latency;
}

interface PgbenchOptions {
  connections: number;
  seconds: number;
  workDir: string;
}

const pgbench = findProgram('pgbench');

export const inserter = pgbench ? 'pgbench' : 'its own inserter (pgbench is not installed)';

function insertStatement(number: string): string {
  const columns = siteColumns(number);
  return `INSERT INTO site (${Object.keys(columns).join(', ')}) VALUES (${Object.values(columns).join(', ')})`;
}

export function runInserts({ connection }: BenchDatabase, options: PgbenchOptions): Promise<InsertReport> {
  return pgbench ? runPgbench(pgbench, connection, options) : runOwnInserts(connection, options);
}

/** One statement after the other on each connection, with the driver that the service uses. */
export function runOwnInserts(
  connection: BenchDatabase['connection'],
  { connections, seconds }: { connections: number; seconds: number },
): Promise<InsertReport> {
  const statement = insertStatement('$1::bigint');
  const order: InsertOrder = { connection, statement, numbers: bodyCount, connections, seconds };
  return runOwn<InsertReport>('inserter.ts', order, seconds + 30);
}

/** pgbench's time includes that of connecting, which its rate leaves out: so much longer it runs. Each run tells the next. */
let knownConnectingSeconds: number | undefined;

async function runPgbench(
  program: string,
  { host, port, user, password, database }: BenchDatabase['connection'],
  { connections, seconds, workDir }: PgbenchOptions,
  furtherWords: readonly string[] = [],
): Promise<InsertReport> {
  const connectingSeconds = knownConnectingSeconds ?? Math.ceil(connections / 20);
  const script = path.join(workDir, 'insert.sql');
  await writeFile(
    script,
    `\\set number random(0, ${bodyCount - 1})\n${insertStatement(':number::bigint')};\n`,
  );
  const output = await runProgram(
    program,
    [
      '--no-vacuum',
      '--protocol=prepared',
      `--client=${connections}`,
      `--jobs=${availableParallelism()}`,
      `--time=${seconds + connectingSeconds}`,
      `--file=${script}`,
      `--host=${host}`,
      `--port=${port}`,
      `--username=${user}`,
      ...furtherWords,
      database,
    ],
    { env: { PGPASSWORD: password }, seconds: seconds + connectingSeconds + 30 },
  );
  const rows = Number(/actually processed: (\d+)/.exec(output)![1]);
  knownConnectingSeconds = Math.ceil(Number(/initial connection time = ([\d.]+) ms/.exec(output)![1]) / 1000);
  if (rows === 0) throw new Error(`pgbench inserted nothing in ${seconds} s: the rounds are too short.`);
  // Without the time that connecting takes.
  const rowsPerSecond = Number(/^tps = ([\d.]+)/m.exec(output)![1]);
  return { rows, seconds: rows / rowsPerSecond };
}

/** So long pgbench comes to speed before its latencies count. */
const leadSeconds = 1;
const logPrefix = 'pgbench-latency';

/**
 * Latencies at a rate, from when each insert was due; undefined without pgbench, whose schedule it is. What a machine that
 * slows down at times does to a plain insert is what it does to everything.
 */
export async function measureInsertsAtRate(
  { connection }: BenchDatabase,
  options: PgbenchOptions,
  ratePerSecond: number,
): Promise<Latency | undefined> {
  if (!pgbench) return undefined;
  const { workDir, seconds } = options;
  await runPgbench(pgbench, connection, { ...options, seconds: seconds + leadSeconds }, [
    `--rate=${Math.round(ratePerSecond)}`,
    '--log',
    `--log-prefix=${path.join(workDir, logPrefix)}`,
  ]);
  // One file a thread, one line an insert: client, count, microseconds since it was due, script, second, microsecond, lag.
  const inserts: { ms: number; endedAt: number }[] = [];
  for (const name of (await readdir(workDir)).filter((file) => file.startsWith(logPrefix))) {
    const file = path.join(workDir, name);
    for (const line of (await readFile(file, 'utf8')).trim().split('\n')) {
      const [, , microseconds, , second, microsecond] = line.split(' ').map(Number);
      inserts.push({ ms: microseconds! / 1000, endedAt: second! + microsecond! / 1e6 });
    }
    await rm(file);
  }
  const startedAt = inserts.reduce((first, { endedAt }) => Math.min(first, endedAt), Infinity);
  return summarize(inserts.filter(({ endedAt }) => endedAt > startedAt + leadSeconds).map(({ ms }) => ms));
}
