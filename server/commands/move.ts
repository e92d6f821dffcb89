import { mkdir, rm } from 'node:fs/promises';
import path from 'node:path';
import type { Config } from '../config.ts';
import { asDatabaseOwner, openConnection } from '../database/connection.ts';
import { UsageError } from '../errors.ts';
import { makeBackup } from '../features/backup/backup.ts';
import { restoreBackup } from '../features/backup/restore.ts';
import { type Command, interruptible, type Outcome } from './command.ts';

const move: Command = {
  name: 'move',
  summary:
    'Copy everything from the PostgreSQL that Stamm brings into one of your own. The service is stopped meanwhile.',
  options: { to: 'postgres:// address of an empty database, whose login owns it and may create roles.' },
  async run({ config, options }) {
    if (config.DATABASE_URL !== undefined) {
      throw new UsageError('DATABASE_URL is set: Stamm already uses a PostgreSQL of your own.');
    }
    return interruptible((signal) => copyEverything(config, options.to!, signal));
  },
};

async function copyEverything(config: Config, address: string, signal: AbortSignal): Promise<Outcome> {
  const target = { ...config, DATABASE_URL: address, DATABASE_WAIT_SECONDS: 0 };
  const to = await openConnection(target, { purpose: 'command', mayCreate: true });
  // As a service: with one running, what it stores after the copy would be missing in the other database.
  const from = await openConnection(config, { purpose: 'serve', mayCreate: false, label: 'move', signal });
  const folder = path.join(config.DATA_DIR, 'move');
  try {
    // A killed move may have left it. No other process serves this data meanwhile.
    await rm(folder, { recursive: true, force: true });
    await mkdir(folder, { mode: 0o700 });
    const backup = { path: path.join(folder, 'everything.backup'), passphrase: undefined };
    await asDatabaseOwner(from.client, (client) => makeBackup(client, backup), signal);
    const { rows } = await restoreBackup(to.client, { ...backup, signal });
    const text = `Copied ${rows.toLocaleString('en')} rows to ${to.description}.\nStart the service with that DATABASE_URL. The data in ${config.DATA_DIR} stays.`;
    return { text, json: { rows, database: to.description } };
  } finally {
    await rm(folder, { recursive: true, force: true });
    await from.close();
    await to.close();
  }
}

export const commands: readonly Command[] = [move];
