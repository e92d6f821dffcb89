import type pg from 'pg';
import { asDatabaseOwner } from '../database/connection.ts';
import { anyNode, type Migration } from '../database/migrations/migration-files.ts';
import { lockTimeoutMs } from '../database/migrations/migration-locks.ts';
import { migrate, readPendingMigrations } from '../database/migrations/migrations.ts';
import { type Command, interruptible, type Outcome, openNamedConnection } from './command.ts';

const migrateCommand: Command = {
  name: 'migrate',
  summary: 'Bring the database up to date. The service does so itself when it starts.',
  options: {},
  flags: { 'dry-run': 'Print what would happen and how long locks last, and change nothing.' },
  async run({ config, flags }) {
    return interruptible(async (signal) => {
      const connection = await openNamedConnection(config, { mayCreate: false, signal });
      try {
        if (flags.has('dry-run')) return await asDatabaseOwner(connection.client, describePlan, signal);
        const applied = await migrate(connection.client, { signal });
        const text = applied.length > 0 ? `Applied ${applied.join(', ')}.` : 'The database is up to date.';
        return { text, json: { applied } };
      } finally {
        await connection.close();
      }
    });
  },
};

async function describePlan(client: pg.Client): Promise<Outcome> {
  const pending = (await readPendingMigrations(client)).map((migration) => ({
    name: migration.name,
    effect: describeEffect(migration),
  }));
  const lines = pending.map(({ name, effect }) => `${name}\n  ${effect}`);
  const text = lines.length > 0 ? lines.join('\n') : 'The database is up to date.';
  return { text, json: { pending } };
}

function describeEffect({ indexStatements, oldestNode }: Migration): string {
  if (indexStatements)
    return 'Builds or drops indexes. Reads and writes go on; it takes as long as reading the table.';
  const locks = `Waits at most ${lockTimeoutMs.most / 1000} s for a lock, then lets others pass and tries again. Holds it until its end.`;
  return oldestNode === anyNode
    ? `Only adds: nodes of the previous version go on. ${locks}`
    : `Stop nodes that do not know migration ${oldestNode} first. ${locks}`;
}

export const commands: readonly Command[] = [migrateCommand];
