import { migrate } from '../database/migrations.ts';
import { type Command, interruptible, openNamedConnection } from './command.ts';

const migrateCommand: Command = {
  name: 'migrate',
  summary: 'Bring the database up to date. The service does so itself when it starts.',
  options: {},
  async run({ config }) {
    return interruptible(async (signal) => {
      const connection = await openNamedConnection(config, { mayCreate: false, signal });
      try {
        const applied = await migrate(connection.client, { signal });
        const text = applied.length > 0 ? `Applied ${applied.join(', ')}.` : 'The database is up to date.';
        return { text, json: { applied } };
      } finally {
        await connection.close();
      }
    });
  },
};

export const commands: readonly Command[] = [migrateCommand];
