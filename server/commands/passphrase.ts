// The passphrase of a backup: from the environment, or typed unseen. Never as an argument, which every user of the machine
// can read in the list of processes.
import type { Config } from '../config.ts';
import { UsageError } from '../errors.ts';
import { readHeader, unencrypted } from '../features/backup/file.ts';
import { askUnseen } from './password-input.ts';

/** The flag of commands that read a backup. */
export const unencryptedFlag = {
  unencrypted: 'Accept a file that is not encrypted although BACKUP_PASSPHRASE is set.',
};

/** Undefined for a file that is not encrypted. With BACKUP_PASSPHRASE such a file needs the flag. */
export async function readPassphrase(
  { BACKUP_PASSPHRASE }: Config,
  use: { isNew: true } | { path: string; flags: ReadonlySet<string> },
): Promise<string | undefined> {
  if ('path' in use && (await readHeader(use.path)).encryption === null) {
    if (BACKUP_PASSPHRASE !== undefined && !use.flags.has('unencrypted')) throw unencrypted(use.path);
    return undefined;
  }
  if (BACKUP_PASSPHRASE !== undefined) return BACKUP_PASSPHRASE;
  if (!process.stdin.isTTY) throw new UsageError('Set BACKUP_PASSPHRASE, or type it at a terminal.');
  const passphrase = await askUnseen('Passphrase: ');
  if (passphrase === '') throw new UsageError('No passphrase was given.');
  if ('isNew' in use && (await askUnseen('The same again: ')) !== passphrase) {
    throw new UsageError('The two are not the same.');
  }
  return passphrase;
}
