// Shape of a command, and the connection that most of them work on.
import type pg from 'pg';
import type { Config } from '../config.ts';
import { asDatabaseOwner, type Connection, ConnectionError, openConnection } from '../database/connection.ts';
import type { Account } from '../database/embedded/programs.ts';
import { appliedMigrations, migrate } from '../database/migrations/migrations.ts';
import { isUuid } from '../engine/definition/formats.ts';
import { UsageError } from '../errors.ts';
import { echoMs } from '../process/signals.ts';

export interface CommandContext {
  config: Config;
  /** Arguments and options by name; those that may be left out can be missing. */
  options: Record<string, string>;
  flags: ReadonlySet<string>;
  isJson: boolean;
}

export interface Outcome {
  text: string;
  json: object;
  exitCode?: number;
}

export interface Command {
  /** One or two words. */
  name: string;
  summary: string;
  /** Arguments after the name, without dashes, in this order, and their meaning. */
  arguments?: Record<string, string>;
  /** The same for words that may be left out; they come after the others. */
  optionalArguments?: Record<string, string>;
  /** Required options and their meanings. */
  options: Record<string, string>;
  /** Options that may be left out, and options without a value. */
  optionalOptions?: Record<string, string>;
  flags?: Record<string, string>;
  /** Nothing is printed for a command that answers with nothing. */
  run(context: CommandContext): Promise<Outcome | undefined>;
  /** The --json output where settings are wrong; other commands write it to stderr. */
  refuseSettings?(error: Error): Outcome;
}

/** Names the database on stderr: an operator with several of them sees a wrong one, and a script reads stdout. */
export async function openNamedConnection(
  config: Config,
  use: { mayCreate: boolean; signal: AbortSignal },
): Promise<Connection> {
  const connection = await openConnection(config, { purpose: 'command', ...use });
  process.stderr.write(`Database: ${connection.description}\n`);
  return connection;
}

/** Runs `work` as the owner of a database that Stamm uses, beside a running service or without one. Migrates it first. */
export async function asOperator<Result>(
  config: Config,
  work: (client: pg.Client, connection: pg.ClientConfig, account: Account) => Promise<Result>,
): Promise<Result> {
  return interruptible(async (signal) => {
    const connection = await openNamedConnection(config, { mayCreate: false, signal });
    const workOnTables = async (client: pg.Client) => {
      if ((await appliedMigrations(client)).length === 0)
        throw new ConnectionError(withoutTables(connection, config));
      await migrate(connection.client, { signal });
      return work(client, connection.client, connection.account);
    };
    try {
      return await asDatabaseOwner(connection.client, workOnTables, signal);
    } finally {
      await connection.close();
    }
  });
}

/**
 * Ctrl-C and SIGTERM abort the signal; `work` can remove its file and end its PostgreSQL. A second one waits for
 * nothing.
 */
export async function interruptible<Result>(work: (signal: AbortSignal) => Promise<Result>): Promise<Result> {
  const interruption = new AbortController();
  let abortedAt = 0;
  const interrupt = () => {
    if (interruption.signal.aborted && performance.now() - abortedAt > echoMs) process.exit(1);
    abortedAt ||= performance.now();
    interruption.abort();
  };
  const signals = ['SIGINT', 'SIGTERM'] as const;
  for (const signal of signals) process.on(signal, interrupt);
  try {
    return await work(interruption.signal);
  } catch (error) {
    throw interruption.signal.aborted ? new UsageError('The command was interrupted.') : error;
  } finally {
    for (const signal of signals) process.off(signal, interrupt);
  }
}

function withoutTables({ description }: Connection, { DATABASE_URL }: Config): string {
  return (
    `This database has no tables of Stamm, and this command does not create them: ${description}. ` +
    `Check ${DATABASE_URL === undefined ? 'DATA_DIR' : 'DATABASE_URL'}. ` +
    'For a new database, start the service first, or run "migrate".'
  );
}

/** The id of a tenant as it was given, if it can be one. */
export function tenantIdFrom(options: Record<string, string>): string {
  const tenantId = options.tenant!;
  if (!isUuid(tenantId))
    throw new UsageError(`"${tenantId}" is not the id of a tenant. "tenant list" shows all of them.`);
  return tenantId.toLowerCase();
}
