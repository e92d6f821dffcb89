import type pg from 'pg';
import type { Config } from '../config.ts';
import type { Account } from '../database/embedded/programs.ts';
import { UsageError } from '../errors.ts';
import { type BackupOptions, makeBackup } from '../features/backup/backup.ts';
import { formatBytes, type Totals } from '../features/backup/file.ts';
import { addBackup, listKnownBackups, noteBackup } from '../features/backup/folder.ts';
import { verifyBackup } from '../features/backup/restore.ts';
import { asOperator, type Command, type CommandContext, type Outcome, tenantIdFrom } from './command.ts';
import { readPassphrase, unencryptedFlag } from './passphrase.ts';

const backup: Command = {
  name: 'backup',
  summary: 'Write everything, or one business, to a file while the service runs.',
  optionalArguments: {
    file: 'Where to write; must not exist yet. Without it, a new file in BACKUP_DIR, whose oldest ones go.',
  },
  options: {},
  optionalOptions: { tenant: 'Id of the one tenant to back up, as "tenant list" shows it.' },
  flags: {
    verify: 'Read the file, or the newest one, and compare it with its checksum, instead of writing it.',
    encrypt: 'Ask for a passphrase and encrypt. With BACKUP_PASSPHRASE every backup is encrypted.',
    ...unencryptedFlag,
  },
  async run(context) {
    const { options, flags, config } = context;
    if (flags.has('verify')) return verify(context, options.file ?? (await findNewest(config)));
    const tenantId = options.tenant === undefined ? undefined : tenantIdFrom(options);
    if (tenantId !== undefined && options.file === undefined)
      throw new UsageError('Name a file for the backup of one tenant.');
    const passphrase = flags.has('encrypt')
      ? await readPassphrase(config, { isNew: true })
      : config.BACKUP_PASSPHRASE;
    const progress = showRows(context);
    const shared = { passphrase, tenantId, onRows: progress.note };
    return asOperator(config, async (client, _connection, account) => {
      if (options.file === undefined) return backUpToFolder(client, config, { ...shared, account });
      const path = options.file;
      const totals = await makeBackup(client, { ...shared, path });
      if (tenantId === undefined) await noteBackup(client, path);
      return { text: `Backed up ${describe(totals)} to ${path}.`, json: { path, ...totals } };
    }).finally(progress.end);
  },
};

export const commands: readonly Command[] = [backup];

async function backUpToFolder(
  client: pg.Client,
  config: Config,
  options: Pick<BackupOptions, 'passphrase' | 'onRows'> & { account: Account },
): Promise<Outcome> {
  const warn = (message: string) => process.stderr.write(`${message}\n`);
  const next = { ...options, folder: folderOf(config), keep: config.BACKUP_KEEP };
  const made = await addBackup(client, next, { info: () => {}, warn });
  if (!made) throw new UsageError('Another process makes a backup just now. Try again later.');
  const { rows, bytes, path } = made;
  const text = `Backed up ${rows.toLocaleString('en')} rows to ${path} (${formatBytes(bytes)}).`;
  return { text, json: made };
}

function folderOf({ BACKUP_DIR }: Config): string {
  if (BACKUP_DIR === undefined) throw new UsageError('Name a file, or set BACKUP_DIR.');
  return BACKUP_DIR;
}

async function findNewest(config: Config): Promise<string> {
  const folder = folderOf(config);
  const newest = (await listKnownBackups(folder)).at(-1);
  if (!newest) throw new UsageError(`There is no backup in ${folder}.`);
  return newest.path;
}

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
