// The service and its commands as processes of their own, on data of their own. Everything that a test leaves running is ended
// after the file's tests.
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after } from 'node:test';
import pg from 'pg';
import { createApiKey } from '../../../server/access/api-keys.ts';
import { createTenant as insertTenant } from '../../../server/access/tenants.ts';
import { openEmbeddedPostgres } from '../../../server/database/embedded/postgres.ts';
import { migrate } from '../../../server/database/migrations/migrations.ts';
import { generousLimits, testServer, validCustomer } from '../../helpers/service.ts';
import { until, within } from '../../helpers/waiting.ts';
import { signalProcesses } from './process-list.ts';

export const checkout = path.resolve(import.meta.dirname, '../../..');

const cleanups: (() => Promise<unknown>)[] = [];

/** Runs after the file's tests, the newest first: processes before their database, a database before its folder. */
export function cleanUpLater(cleanup: () => Promise<unknown>): void {
  cleanups.push(cleanup);
}

after(cleanUp);

async function cleanUp(): Promise<void> {
  const failures: unknown[] = [];
  // One that fails must not keep the others from ending their processes.
  for (let cleanup = cleanups.pop(); cleanup; cleanup = cleanups.pop())
    await cleanup().catch((error) => failures.push(error));
  if (failures.length > 0) throw new AggregateError(failures);
}

// Ctrl-C does not reach processes in their own group, and the runner's listener would not wait for their end.
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.removeAllListeners(signal);
  process.once(signal, () => cleanUp().finally(() => process.exit(1)));
}

export type Environment = Record<string, string>;

export interface Ended {
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
}

/** Nothing of the caller's environment reaches the process but what it needs to run at all. */
function cleanEnvironment(env: Environment): Environment {
  const { PATH = '', HOME = '/', NODE_COMPILE_CACHE = '' } = process.env;
  return {
    PATH,
    HOME,
    NODE_COMPILE_CACHE,
    HOST: '127.0.0.1',
    PORT: '0',
    LOG_LEVEL: 'error',
    DATABASE_WAIT_SECONDS: '0',
    DRAIN_SECONDS: '0',
    REQUEST_DEADLINE_MS: String(generousLimits.REQUEST_DEADLINE_MS),
    ...env,
  };
}

function spawnInCheckout(command: readonly string[], env: Environment) {
  const child = spawn(command[0]!, command.slice(1), {
    cwd: checkout,
    env: cleanEnvironment(env),
    stdio: ['ignore', 'pipe', 'pipe'],
    // A group of its own, as a shell gives it: a test can signal all of it, like a terminal.
    detached: true,
  });
  const output = { stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (text) => {
    output.stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text) => {
    output.stderr += text;
  });
  // The streams close once no process of the group has them. From then on its number may be another's.
  let hasEnded = false;
  const ended: Promise<Ended> = once(child, 'close').then(([code, signal]) => {
    hasEnded = true;
    return { code, signal, ...output };
  });
  cleanUpLater(async () => {
    if (!hasEnded) signalGroup(child, 'SIGKILL');
    await ended;
  });
  return { child, output, ended, hasEnded: () => hasEnded };
}

function signalGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  try {
    process.kill(-child.pid!, signal);
  } catch (error) {
    assert.equal((error as NodeJS.ErrnoException).code, 'ESRCH');
  }
}

/** What people read at the start, and nothing behind it. */
export const onlyStartBlock = /^\nStamm is running\.\n[\s\S]*\nStop with Ctrl-C or SIGTERM\.\n\n$/;

/** A start that is stopped early prints nothing. On a quick machine it may have got as far as the block. */
export function assertOnlyStartBlock(stderr: string): void {
  if (stderr !== '') assert.match(stderr, onlyStartBlock);
}

const ownMain = 'server/main.ts';

export const serveCommand = [process.execPath, ownMain, 'serve'];

export type StammProcess = Awaited<ReturnType<typeof startStamm>>;

/** Resolves once the service is ready; rejects with its output if it ends instead. */
export function startStamm(env: Environment, command: readonly string[] = serveCommand) {
  return untilReady(spawnInCheckout(command, env));
}

/** A start that is looked at while it goes on. */
export function beginStamm(env: Environment) {
  const spawned = spawnInCheckout(serveCommand, env);
  return { output: spawned.output, ready: untilReady(spawned) };
}

async function untilReady({ child, output, ended, hasEnded }: ReturnType<typeof spawnInCheckout>) {
  await until('the start block', () => {
    assert.ok(!hasEnded(), `the service ended: ${output.stdout}${output.stderr}`);
    return output.stderr.includes('Stop with Ctrl-C or SIGTERM.');
  });
  const origin = /API base +(http:\S+)\/api\/v1/.exec(output.stderr)![1]!;
  await until('ready', async () => (await fetch(`${origin}/readyz`)).status === 200);
  return {
    origin,
    pid: child.pid!,
    output,
    /** Does nothing to one that has ended. */
    signal: (signal: NodeJS.Signals) => child.kill(signal),
    /** Resolves when it ends by itself. */
    waitForEnd: () => within('the end of the service', ended),
    /** Asks it to end, as an operator does, and resolves when it has. */
    async stop(signal: 'SIGTERM' | 'SIGINT' = 'SIGTERM'): Promise<Ended> {
      child.kill(signal);
      return within(`the end after ${signal}`, ended);
    },
    /** What Ctrl-C does: every process of the foreground group gets the signal. */
    async interruptGroup(): Promise<Ended> {
      signalGroup(child, 'SIGINT');
      return within('the end after Ctrl-C', ended);
    },
    async kill(): Promise<void> {
      child.kill('SIGKILL');
      await ended;
    },
  };
}

/** Stops a start as soon as it has come to some point. */
export async function startUntil(
  isThere: (pid: number, output: { stdout: string }) => boolean | Promise<boolean>,
  env: Environment,
  stop = (pid: number): unknown => process.kill(pid, 'SIGTERM'),
): Promise<Ended> {
  const { child, output, ended } = spawnInCheckout(serveCommand, env);
  await until('the point in the start', () => isThere(child.pid!, output));
  await stop(child.pid!);
  return within('the end of the start', ended);
}

/** Kills or interrupts a command at some point, or lets it end if it never comes there. */
export async function killAt(
  words: readonly string[],
  env: Environment,
  isThere: () => boolean | Promise<boolean>,
  { signal = 'SIGKILL', main = ownMain }: { signal?: NodeJS.Signals; main?: string } = {},
): Promise<Ended> {
  const { child, ended, hasEnded } = spawnInCheckout([process.execPath, main, ...words], env);
  await until(`a point in "${words.join(' ')}"`, async () => hasEnded() || (await isThere()));
  if (!hasEnded()) child.kill(signal);
  return within(`the end of "${words.join(' ')}"`, ended);
}

/** Runs a command, or a start that is expected to fail, to its end. */
export async function runStamm(words: readonly string[], env: Environment, main = ownMain): Promise<Ended> {
  const { ended } = spawnInCheckout([process.execPath, main, ...words], env);
  return within(`the end of "${words.join(' ')}"`, ended);
}

/** Names the error in a sentence, on stderr only, with exit code 1. */
export function assertRefused({ code, stdout, stderr }: Ended, sentence: RegExp): void {
  assert.match(stderr, sentence);
  assert.doesNotMatch(stderr, /^\s+at |node:internal|Error:/m);
  assert.equal(stdout, '');
  assert.equal(code, 1);
}

/** A server that is left there, even a stopped one, ends before the folder goes. */
export async function makeDataDir(): Promise<string> {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'stamm-test-'));
  cleanUpLater(async () => {
    await endServers(dataDir);
    await rm(dataDir, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
  });
  return dataDir;
}

/** As a crash of the machine does. Processes of a killed server find out by themselves. */
export async function endServers(dataDir: string): Promise<void> {
  signalProcesses(findServers(dataDir));
  await until('no server is left', () => findServers(dataDir).length === 0);
}

export interface Prepared {
  dataDir: string;
  tenantId: string;
  key: string;
}

async function prepareTemplate(preparedDir: string): Promise<void> {
  const dataDir = await makeDataDir();
  const postgres = await openEmbeddedPostgres({ dataDir, purpose: 'command' });
  await migrate(postgres.connection);
  const made = await withClient(postgres.connection, createTenant);
  await postgres.close();
  const folder = await mkdtemp(`${preparedDir}-`);
  await rename(dataDir, path.join(folder, 'data'));
  await writeFile(path.join(folder, 'tenant.json'), JSON.stringify(made));
  // Another file may have made one meanwhile.
  await rename(folder, preparedDir).catch(() => rm(folder, { recursive: true }));
}

/** A data directory with one tenant and its key: a copy, which is quicker than a first start. */
export async function makePreparedDataDir(): Promise<Prepared> {
  const { preparedDir } = testServer();
  if (!existsSync(preparedDir)) await prepareTemplate(preparedDir);
  const made: Omit<Prepared, 'dataDir'> = JSON.parse(
    readFileSync(path.join(preparedDir, 'tenant.json'), 'utf8'),
  );
  return { ...made, dataDir: await copyDataDir(path.join(preparedDir, 'data')) };
}

/** No server runs on it. */
export async function copyDataDir(original: string): Promise<string> {
  const dataDir = await makeDataDir();
  await once(spawn('cp', ['-a', `${original}/.`, dataDir]), 'exit');
  return dataDir;
}

export async function createTenant(owner: pg.Client): Promise<{ tenantId: string; key: string }> {
  const tenantId = await insertTenant(owner, 'Grün & Gut GmbH');
  return { tenantId, key: (await createApiKey(owner, tenantId))! };
}

/** Waits until a node is not ready and refuses a creation. Checks that load balancer and client learn it. */
export async function untilUnavailable(origin: string, key: string): Promise<void> {
  const codeOf = async (response: Response) => ((await response.json()) as { code: string }).code;
  await until('the node is not ready', async () => {
    const response = await fetch(`${origin}/readyz`);
    if (response.status === 200) return false;
    assert.equal(await codeOf(response), 'database_unavailable');
    return true;
  });
  // On a full disk there is room in the last page for a few more, and the server may end during the commit of one.
  await until('a creation is refused', async () => {
    const response = await createCustomer(origin, key);
    if (response.status === 201) return false;
    const code = await codeOf(response);
    if (code === 'outcome_unknown') return false;
    assert.deepEqual([response.status, code], [500, 'database_unavailable']);
    return true;
  });
}

export function createCustomer(origin: string, key: string): Promise<Response> {
  return fetch(`${origin}/api/v1/customer`, {
    method: 'POST',
    headers: { ApiKey: key, 'Content-Type': 'application/json' },
    body: JSON.stringify(validCustomer),
  });
}

export async function countCustomers({ origin }: { origin: string }, key: string): Promise<number> {
  const answer = await fetch(`${origin}/api/v1/customers?limit=1&count=true`, { headers: { ApiKey: key } });
  assert.equal(answer.status, 200);
  return ((await answer.json()) as { total: number }).total;
}

/** A connection beside the service that, unlike a command, holds no server up and starts none. */
export function connectionTo(dataDir: string): pg.ClientConfig {
  const password = readFileSync(path.join(dataDir, 'database-password'), 'utf8').trim();
  return { host: path.join(dataDir, 'run'), port: 5432, user: 'stamm', password, database: 'stamm' };
}

export async function withClient<Result>(
  connection: pg.ClientConfig,
  work: (client: pg.Client) => Promise<Result>,
): Promise<Result> {
  const client = new pg.Client(connection);
  client.on('error', () => {});
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** The address of a server that listens on a Unix socket. */
export function databaseUrl({ host, port, user, password, database }: pg.ClientConfig): string {
  const url = new URL(`postgres://localhost/${database}`);
  url.username = user ?? '';
  url.password = encodeURIComponent(String(password ?? ''));
  url.searchParams.set('host', host ?? '');
  url.searchParams.set('port', String(port));
  return url.href;
}

/** The number of the server that runs on this data directory. */
export function postmasterOf(dataDir: string): number {
  return Number.parseInt(readFileSync(path.join(dataDir, 'postgres-18/postmaster.pid'), 'utf8'), 10);
}

/** All processes below this data directory with a server's command line, of any version. Usually none is expected. */
export function findServers(dataDir: string): number[] {
  if (process.platform !== 'linux') {
    return existsSync(path.join(dataDir, 'postgres-18/postmaster.pid')) ? [postmasterOf(dataDir)] : [];
  }
  const isServer = (words: string[]) =>
    words.some((word) => word.startsWith(`${dataDir}/`) && /\/postgres-\d+$/.test(word));
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && isServer(commandLineOf(name)))
    .map(Number);
}

function commandLineOf(pid: string): string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
  } catch {
    // It has ended since it was listed.
    return [];
  }
}
