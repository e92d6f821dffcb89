// Started as root, Node serves as an unprivileged account: the one that PostgreSQL runs as.
import { spawn } from 'node:child_process';
import { constants, existsSync, realpathSync, statSync } from 'node:fs';
import { access } from 'node:fs/promises';
import { flushCompileCache } from 'node:module';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import type pg from 'pg';
import type { Config } from '../config.ts';
import type { Connection } from '../database/connection.ts';
import {
  type Account,
  EmbeddedPostgresError,
  findClosedFolder,
  nameAccount,
} from '../database/embedded/programs.ts';

type RealAccount = NonNullable<Account>;

export interface ServingAccount {
  /** Undefined where Node goes on as it is. */
  account: Account;
  /** One line for the log, where something should be different. */
  warning: string | undefined;
}

const checkout = path.resolve(import.meta.dirname, '../..');

/** Files that Node reads after the change of account: programs, pages, and modules that are loaded on demand. */
const neededFiles = ['server/process/workers/worker.ts', 'package.json', 'web/dist/index.html'];

/** Whom Node should become. `service` is the login that requests use. */
export async function findServingAccount(
  config: Config,
  { account }: Pick<Connection, 'account'>,
  service: pg.ClientConfig,
): Promise<ServingAccount> {
  if (!account) return { account, warning: undefined };
  const name = nameAccount(account);
  const obstacle = await findObstacle(config, account, service);
  if (obstacle) {
    const warning = `Node goes on as root: ${obstacle}. Correct this, or start Stamm as an unprivileged user.`;
    return { account: undefined, warning };
  }
  const shared = `Node runs as ${name}, an account that other services share. Make one for Stamm: useradd --system stamm`;
  const move = config.DATABASE_URL === undefined ? ` && chown -R stamm: ${config.DATA_DIR}` : '';
  return { account, warning: name === 'nobody' ? `${shared}${move}` : undefined };
}

async function findObstacle(
  { DATABASE_URL, DATA_DIR }: Config,
  account: RealAccount,
  service: pg.ClientConfig,
): Promise<string | undefined> {
  const name = nameAccount(account);
  const closed = findClosedFolder(realpathSync(checkout), account);
  if (closed) return `the user ${name} may not enter ${closed}, where Stamm is installed`;
  if (DATABASE_URL === undefined && statSync(DATA_DIR).uid !== account.uid) {
    return `${DATA_DIR} holds other files than Stamm's and does not belong to ${name}`;
  }
  const files = neededFiles.map((file) => path.join(checkout, file)).filter((file) => existsSync(file));
  // Who connects may matter only for a foreign database: by peer authentication, or with files of a certificate.
  const connection = DATABASE_URL === undefined ? undefined : service;
  const obstacle = await probe(account, { files, connection });
  return obstacle && `the user ${name} cannot serve (${obstacle})`;
}

/** Why that account, or our own without one, cannot write to the folder, in the words of the operating system. */
export async function findClosure(folder: string, account: Account): Promise<string | undefined> {
  if (account) return probe(account, { folders: [folder] });
  return access(folder, constants.R_OK | constants.W_OK | constants.X_OK).then(
    () => undefined,
    ({ message }) => message,
  );
}

/** Why that account cannot read the file, in the words of the operating system. */
export function findUnreadable(file: string, account: RealAccount): Promise<string | undefined> {
  return probe(account, { files: [file] });
}

/** Tries as the account what the service will do. Answers with what fails, in the words of the operating system. */
async function probe(account: RealAccount, order: object): Promise<string | undefined> {
  const script = path.join(import.meta.dirname, 'account-probe.ts');
  const child = spawn(process.execPath, [script], {
    ...account,
    cwd: '/',
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  return new Promise((resolve) => {
    child.once('error', ({ message }) => resolve(message));
    child.stdin.on('error', () => {});
    // Not by its arguments, which everybody on the machine can read.
    child.stdin.end(JSON.stringify(order));
    const output = text(child.stdout);
    child.once('close', async (code) => {
      const obstacle = (await output).trim();
      resolve(code === 0 ? undefined : obstacle || `exit code ${code}`);
    });
  });
}

/** There is no way back. */
export function becomeAccount({ uid, gid }: RealAccount): void {
  if (process.getuid?.() === uid) return;
  // The cache belongs to root and cannot be written afterwards.
  flushCompileCache();
  process.setgroups!([]);
  process.setgid!(gid);
  process.setuid!(uid);
  if (process.getuid!() === 0 || process.geteuid!() === 0) {
    throw new EmbeddedPostgresError('The operating system did not let Node leave root.');
  }
}
