// What a command is, and the connection that most of them work on.
import pg from 'pg';
import type { Config } from '../config.ts';
import { openConnection } from '../database/connection.ts';
import { migrate } from '../database/migrations.ts';

export interface CommandContext {
  config: Config;
  options: Record<string, string>;
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
  /** Required options and their meanings. */
  options: Record<string, string>;
  /** Nothing is printed for a command that answers with nothing. */
  run(context: CommandContext): Promise<Outcome | undefined>;
}

/** What the person at the command line did wrong, in a sentence. */
export class UsageError extends Error {}

/** Runs `work` as the owner of the database, beside a running service or without one. */
export async function withOwner<Result>(
  config: Config,
  work: (client: pg.Client) => Promise<Result>,
): Promise<Result> {
  const connection = await openConnection(config, { purpose: 'command' });
  try {
    await migrate(connection.client);
    const client = new pg.Client(connection.client);
    await client.connect();
    try {
      return await work(client);
    } finally {
      await client.end();
    }
  } finally {
    await connection.close();
  }
}
