// A clock that a test sets, for programs that it starts. Monotonic time goes on, as on a real machine.
import { chmod, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { faketime } from '../../helpers/programs.ts';
import type { Environment } from './process.ts';

export interface Clock {
  env: Environment;
  /** Seconds beside the clock of the machine. */
  set(offset: string): Promise<void>;
}

export async function makeClock(folder: string, start = '+0'): Promise<Clock> {
  const file = path.join(folder, 'clock');
  const set = (offset: string) => writeFile(file, offset);
  await set(start);
  // The account of PostgreSQL reads it too.
  await chmod(folder, 0o755);
  await chmod(file, 0o644);
  const library = { LD_PRELOAD: faketime!, FAKETIME_TIMESTAMP_FILE: file };
  return { env: { ...library, FAKETIME_NO_CACHE: '1', FAKETIME_DONT_FAKE_MONOTONIC: '1' }, set };
}
