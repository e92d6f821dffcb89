// Webhooks as a part of the process: beside requests, with connections of their own, so neither waits for the other.
import type { FastifyBaseLogger } from 'fastify';
import type pg from 'pg';
import type { Config } from '../config.ts';
import { openDatabase } from '../database/database.ts';
import { WebhookSender } from '../features/webhooks/sender.ts';
import { openNotices } from '../mail/notices.ts';
import { resources } from '../resources/index.ts';

/** One for leases, and one for all that is read and recorded. */
const connections = 2;

/** Returns a function that stops it. */
export async function startWebhooks(
  config: Config,
  connection: pg.ClientConfig,
  log: FastifyBaseLogger,
): Promise<() => Promise<void>> {
  const database = openDatabase(connection, { maxConnections: connections });
  const notices = await openNotices(config, database, log);
  const sender = new WebhookSender({ config, database, resources, notices, log });
  sender.start();
  return async () => {
    await sender.stop();
    await notices.close();
    await database.close();
  };
}
