// How a password reaches a command: typed unseen, or as the first line of the input, or made here. Never as an argument,
// which every user of the machine can read in the list of processes.

import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { makePassword } from '../access/secrets.ts';
import { UsageError } from '../errors.ts';
import { flawOf } from '../features/sign-in/new-password.ts';
import { passwordError } from '../features/sign-in/passwords.ts';
import { text as sentence } from '../messages.ts';

export const generateFlag = { generate: 'Generate a password and show it once, instead of asking for one.' };

/** The new password, and whether it was made here and must be shown. `words` are names that it must not be made of. */
export async function readNewPassword(
  flags: ReadonlySet<string>,
  words: readonly string[],
): Promise<{ password: string; isGenerated: boolean }> {
  if (flags.has('generate')) return { password: makePassword(), isGenerated: true };
  const password = process.stdin.isTTY ? await askTwice() : firstLine(await text(process.stdin));
  if (password === '')
    throw new UsageError('No password was given. Pipe it in, type it at a terminal, or use --generate.');
  const fieldError = passwordError(password) ?? (await flawOf(password, words));
  if (fieldError) throw new UsageError(`The password: ${sentence(fieldError.code, 'en', fieldError.params)}`);
  return { password, isGenerated: false };
}

function firstLine(input: string): string {
  return input.split(/\r?\n/, 1)[0]!;
}

async function askTwice(): Promise<string> {
  const password = await askUnseen('Password: ');
  if ((await askUnseen('The same again: ')) !== password) throw new UsageError('The two are not the same.');
  return password;
}

export async function askUnseen(question: string): Promise<string> {
  process.stderr.write(question);
  // Hide what readline would show of the typing.
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: process.stdin, output: nowhere, terminal: true });
  try {
    return await lines.question('');
  } finally {
    lines.close();
    process.stderr.write('\n');
  }
}
