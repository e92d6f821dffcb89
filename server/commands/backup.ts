import { makeBackup } from '../features/backup/backup.ts';
import type { Totals } from '../features/backup/file.ts';
import { verifyBackup } from '../features/backup/restore.ts';
import { asOperator, type Command, type CommandContext, type Outcome, tenantIdFrom } from './command.ts';
import { readPassphrase, unencryptedFlag } from './passphrase.ts';

const backup: Command = {
  name: 'backup',
  summary: 'Write everything, or one business, to a file while the service runs.',
  arguments: { file: 'Where to write; must not exist yet.' },
  options: {},
  optionalOptions: { tenant: 'Id of the one tenant to back up, as "tenant list" shows it.' },
  flags: {
    verify: 'Read the file and compare it with its checksum, instead of writing it.',
    encrypt: 'Ask for a passphrase and encrypt. With BACKUP_PASSPHRASE every backup is encrypted.',
    ...unencryptedFlag,
  },
  async run(context) {
    const { options, flags, config } = context;
    const path = options.file!;
    if (flags.has('verify')) return verify(context, path);
    const tenantId = options.tenant === undefined ? undefined : tenantIdFrom(options);
    const passphrase = flags.has('encrypt')
      ? await readPassphrase(config, { isNew: true })
      : config.BACKUP_PASSPHRASE;
    const progress = showRows(context);
    const totals = await asOperator(config, (client) =>
      makeBackup(client, { path, passphrase, tenantId, onRows: progress.note }),
    ).finally(progress.end);
    return { text: `Backed up ${describe(totals)} to ${path}.`, json: { path, ...totals } };
  },
};

export const commands: readonly Command[] = [backup];

async function verify({ config, flags }: CommandContext, path: string): Promise<Outcome> {
  const passphrase = await readPassphrase(config, { path, flags });
  const { header, ...totals } = await verifyBackup(path, passphrase);
  const { stamm, postgres, createdAt, tenantId } = header;
  const what = tenantId === null ? 'everything' : `the tenant ${tenantId}`;
  return {
    text: `${path} is whole: ${what}, ${describe(totals)}, made ${createdAt} by Stamm ${stamm} on PostgreSQL ${postgres}.`,
    json: { path, stamm, postgres, createdAt, tenantId, isEncrypted: header.encryption !== null, ...totals },
  };
}

function describe({ rows, bytes }: Totals): string {
  return `${rows.toLocaleString('en')} rows (${(bytes / 1e6).toFixed(1)} MB)`;
}

/** Only for a person who watches. */
function showRows({ isJson }: CommandContext): { note: (totals: Totals) => void; end: () => void } {
  const output = process.stderr;
  if (!output.isTTY || isJson) return { note: () => {}, end: () => {} };
  let drawnAt = 0;
  return {
    note(totals) {
      if (performance.now() - drawnAt < 200) return;
      drawnAt = performance.now();
      output.write(`\r\x1b[K${describe(totals)}`);
    },
    end: () => void output.write('\r\x1b[K'),
  };
}
