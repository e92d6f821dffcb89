// What a command is, and the connection that most of them work on.
import type pg from 'pg';
import type { Config } from '../config.ts';
import { asDatabaseOwner, openConnection } from '../database/connection.ts';
import { migrate } from '../database/migrations.ts';
import { isUuid } from '../engine/definition/formats.ts';
import { UsageError } from '../errors.ts';

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
  /** What follows the name without dashes, in this order, and its meaning. */
  arguments?: Record<string, string>;
  /** Required options and their meanings. */
  options: Record<string, string>;
  /** Options that may be left out, and options without a value. */
  optionalOptions?: Record<string, string>;
  flags?: Record<string, string>;
  /** Nothing is printed for a command that answers with nothing. */
  run(context: CommandContext): Promise<Outcome | undefined>;
}

/** Runs `work` on the migrated database as its owner, beside a running service or without one. */
export async function asOperator<Result>(
  config: Config,
  work: (client: pg.Client, connection: pg.ClientConfig) => Promise<Result>,
): Promise<Result> {
  const connection = await openConnection(config, { purpose: 'command' });
  try {
    await migrate(connection.client);
    return await asDatabaseOwner(connection.client, (client) => work(client, connection.client));
  } finally {
    await connection.close();
  }
}

/** The id of a tenant as it was given, if it can be one. */
export function tenantIdFrom(options: Record<string, string>): string {
  const tenantId = options.tenant!;
  if (!isUuid(tenantId))
    throw new UsageError(`"${tenantId}" is not the id of a tenant. "tenant list" shows all of them.`);
  return tenantId.toLowerCase();
}
