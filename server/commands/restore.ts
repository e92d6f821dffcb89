import { checkRestorable, restoreBackup } from '../features/backup/restore.ts';
import { type Command, interruptible, openNamedConnection, tenantIdFrom } from './command.ts';
import { readPassphrase, unencryptedFlag } from './passphrase.ts';

const restore: Command = {
  name: 'restore',
  summary: 'Load a backup into an empty database, or one business of it beside others.',
  arguments: { file: 'A file that "backup" wrote.' },
  options: {},
  optionalOptions: { tenant: 'Id of the one tenant to restore.' },
  flags: { 'without-access': 'Leave the API key and people out.', ...unencryptedFlag },
  async run({ config, options, flags }) {
    const path = options.file!;
    const tenantId = options.tenant === undefined ? undefined : tenantIdFrom(options);
    const passphrase = await readPassphrase(config, { path, flags });
    return interruptible(async (signal) => {
      const header = await checkRestorable({ path, passphrase, tenantId, signal });
      const connection = await openNamedConnection(config, { mayCreate: true, signal });
      try {
        const withoutAccess = flags.has('without-access');
        const options = { path, passphrase, tenantId, withoutAccess, isRecorded: true, signal };
        const { rows } = await restoreBackup(connection.client, options, header);
        return {
          text: `Restored ${rows.toLocaleString('en')} rows from ${path}. "check" compares what is stored.`,
          json: { path, rows },
        };
      } finally {
        await connection.close();
      }
    });
  },
};

export const commands: readonly Command[] = [restore];
