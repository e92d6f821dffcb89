// The same work straight in PostgreSQL. Single-row inserts use pgbench, or else 64 connections of our own. Pages of a
// list use pgbench only.
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import path from 'node:path';
import { serviceRole } from '../../server/database/connections.ts';
import { planOnce } from '../../server/database/planner.ts';
import { addedWords, wordColumns } from '../../server/engine/write/search-words.ts';
import { site } from '../../server/resources/site.ts';
import { bodyCount, fixedIdSql, siteColumns, tenantCount } from '../data/tenants.ts';
import type { BenchDatabase } from '../postgres.ts';
import { findProgram, runOwn, runProgram } from '../processes.ts';
import { type Latency, summarize } from '../statistics.ts';

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
export const hasPgbench = pgbench !== undefined;

export const inserter = pgbench ? 'pgbench' : 'its own inserter (pgbench is not installed)';

function insertStatement(number: string): string {
  const columns = siteColumns(number);
  return `WITH written AS (
    INSERT INTO site (${Object.keys(columns).join(', ')}) VALUES (${Object.values(columns).join(', ')}) RETURNING tenant_id, id, ${wordColumns(site, 'site')}),
    ${addedWords(site)} SELECT`.replaceAll(/\s+/g, ' ');
}

export function runInserts({ connection }: BenchDatabase, options: PgbenchOptions): Promise<InsertReport> {
  return pgbench
    ? runPgbench(pgbench, connection, insertScript, options)
    : runOwnInserts(connection, options);
}

/** One statement after the other on each connection, with the driver that the service uses. */
export function runOwnInserts(
  connection: BenchDatabase['connection'],
  { connections, seconds }: { connections: number; seconds: number },
): Promise<InsertReport> {
  const statement = insertStatement('$1::bigint');
  const order: InsertOrder = { connection, statement, numbers: bodyCount, connections, seconds };
  return runOwn<InsertReport>('load/inserter.ts', order, seconds + 30);
}

const insertScript: Script = {
  name: 'insert.sql',
  text: `\\set number random(0, ${bodyCount - 1})\n${escapeColons(insertStatement(':number::bigint'))};\n`,
};

interface Script {
  name: string;
  text: string;
  /** What libpq's PGOPTIONS sets for each connection. */
  settings?: string;
}

/**
 * The list statement of the service, as its role and for one tenant after the other. That is the most pages PostgreSQL
 * gives here. `statement` has the tenant as $1 and the number of rows as $2. Needs pgbench.
 */
export async function runPages(
  { connection }: BenchDatabase,
  statement: { text: string; rows: number },
  options: PgbenchOptions,
): Promise<number> {
  const script: Script = {
    name: 'page.sql',
    settings: `-c role=${serviceRole} -c enable_seqscan=off`,
    text: buildPageScript(statement),
  };
  const { rows: pages, seconds } = await runPgbench(pgbench!, connection, script, options);
  return pages / seconds;
}

export function buildPageScript({ text, rows }: { text: string; rows: number }): string {
  const tenant = fixedIdSql(':tenant::bigint');
  return [
    `\\set tenant random(0, ${tenantCount - 1})`,
    'BEGIN;',
    `SELECT set_config('stamm.tenants', ${tenant}::text, true);`,
    ...planOnce.map((setting) => `${setting};`),
    `${escapeColons(text).replaceAll('$1', tenant).replaceAll('$2', String(rows))};`,
    'COMMIT;\n',
  ].join('\n');
}

/** pgbench takes a colon for a variable, also within quotation marks. */
function escapeColons(sql: string): string {
  return sql.replaceAll(/'[^']*'/g, (literal) =>
    literal.includes(':') ? `U&${literal.replaceAll('\\', '\\\\').replaceAll(':', '\\003A')}` : literal,
  );
}

/** pgbench's time includes that of connecting, which its rate leaves out: so much longer it runs. Each run tells the next. */
let knownConnectingSeconds: number | undefined;

async function runPgbench(
  program: string,
  { host, port, user, password, database }: BenchDatabase['connection'],
  { name, text, settings }: Script,
  { connections, seconds, workDir }: PgbenchOptions,
  furtherWords: readonly string[] = [],
): Promise<InsertReport> {
  const connectingSeconds = knownConnectingSeconds ?? Math.ceil(connections / 20);
  const script = path.join(workDir, name);
  await writeFile(script, text);
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
    {
      env: { PGPASSWORD: password, ...(settings && { PGOPTIONS: settings }) },
      seconds: seconds + connectingSeconds + 30,
    },
  );
  const rows = Number(/actually processed: (\d+)/.exec(output)?.[1] ?? 0);
  const connectingMs = /initial connection time = ([\d.]+) ms/.exec(output)?.[1];
  if (rows === 0 || connectingMs === undefined)
    throw new Error(`pgbench did nothing in ${seconds} s: the rounds are too short.`);
  knownConnectingSeconds = Math.ceil(Number(connectingMs) / 1000);
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
  await runPgbench(pgbench, connection, insertScript, { ...options, seconds: seconds + leadSeconds }, [
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
