// The command line: picks a command, and turns what goes wrong into a sentence and exit code 1.

import { parseArgs } from 'node:util';
import type { Command, CommandContext, Outcome } from './commands/command.ts';
import { ConfigError, readConfig } from './config.ts';
import { ConnectionError } from './database/connection.ts';
import { EmbeddedPostgresError } from './database/embedded/postgres.ts';
import { MigrationError } from './database/migrations/migration-files.ts';
import { UsageError } from './errors.ts';
import { CsvError } from './features/import/csv/csv-file.ts';
import { isRelease, program } from './program.ts';
import { version } from './version.ts';

/** By their first word, in the order of the overview. Only the one that runs is loaded: a short command does not wait for the service's code. */
const loaders: Record<string, () => Promise<{ commands: readonly Command[] }>> = {
  serve: () => import('./commands/serve.ts'),
  tenant: () => import('./commands/tenant.ts'),
  key: () => import('./commands/key.ts'),
  'test-business': () => import('./commands/test-business.ts'),
  user: () => import('./commands/user.ts'),
  webhook: () => import('./commands/webhook.ts'),
  import: () => import('./commands/import.ts'),
  template: () => import('./commands/template.ts'),
  backup: () => import('./commands/backup.ts'),
  restore: () => import('./commands/restore.ts'),
  move: () => import('./commands/move.ts'),
  check: () => import('./commands/check.ts'),
  migrate: () => import('./commands/migrate.ts'),
  doctor: () => import('./commands/doctor.ts'),
  demo: () => import('./commands/demo.ts'),
};

async function loadCommands(firstWord: string | undefined): Promise<readonly Command[]> {
  const wanted = Object.keys(loaders).filter((word) => word === firstWord);
  const words = wanted.length > 0 ? wanted : Object.keys(loaders);
  return (await Promise.all(words.map((word) => loaders[word]!()))).flatMap(({ commands }) => commands);
}

/** In a release, commands have the settings of the service. What the environment sets goes first. */
function readSettingsFile(): void {
  try {
    process.loadEnvFile('/etc/stamm.conf');
  } catch {
    // There is none, or it is not for this user.
  }
}

async function main(words: readonly string[]): Promise<number> {
  if (words[0] === 'help') return main([...words.slice(1), '--help']);
  if (words[0] === '--version') return print(`Stamm ${version}`);
  const commands = await loadCommands(words[0]);
  const command = commands.find(({ name }) => name === words.slice(0, name.split(' ').length).join(' '));
  const wantsHelp = words.includes('--help') || words.includes('-h') || words.length === 0;
  if (!command) {
    const overview = helpOverview(commands);
    if (wantsHelp) return print(overview);
    throw new UsageError(`There is no command "${words.join(' ')}".\n\n${overview}`);
  }
  if (wantsHelp) return print(helpFor(command));
  const parsed = parseOptions(command, words.slice(command.name.split(' ').length));
  const outcome = await run(command, parsed);
  if (outcome === undefined) return 0;
  print(parsed.isJson ? JSON.stringify(outcome.json) : outcome.text);
  return outcome.exitCode ?? 0;
}

async function run(command: Command, options: Omit<CommandContext, 'config'>): Promise<Outcome | undefined> {
  try {
    return await command.run({ ...options, config: readConfig(process.env) });
  } catch (error) {
    if (!(error instanceof ConfigError && options.isJson && command.refuseSettings)) throw error;
    return command.refuseSettings(error);
  }
}

function parseOptions(command: Command, words: string[]): Omit<CommandContext, 'config'> {
  const required = Object.keys(command.arguments ?? {});
  const names = [...required, ...Object.keys(command.optionalArguments ?? {})];
  const withValue = Object.keys({ ...command.options, ...command.optionalOptions });
  const flags = [...Object.keys(command.flags ?? {}), 'json'];
  try {
    const parsed = parseArgs({
      args: words,
      allowPositionals: names.length > 0,
      options: Object.fromEntries([
        ...withValue.map((name) => [name, { type: 'string' as const }] as const),
        ...flags.map((name) => [name, { type: 'boolean' as const }] as const),
      ]),
    });
    const values: Record<string, unknown> = parsed.values;
    const { positionals } = parsed;
    const options: Record<string, string> = {};
    names.forEach((name, index) => {
      const word = positionals[index];
      if (word !== undefined) options[name] = word;
      else if (index < required.length) throw new Error(`Missing: ${name.toUpperCase()}.`);
    });
    if (positionals.length > names.length) throw new Error(`Too many words: ${positionals.join(' ')}.`);
    for (const name of withValue) if (values[name] !== undefined) options[name] = String(values[name]);
    const missing = Object.keys(command.options).filter((name) => options[name] === undefined);
    if (missing.length > 0) throw new Error(`Missing: ${missing.map((name) => `--${name}`).join(', ')}.`);
    return { options, flags: new Set(flags.filter((name) => values[name])), isJson: values.json === true };
  } catch (error) {
    throw new UsageError(`${(error as Error).message}\n\n${helpFor(command)}`);
  }
}

function helpOverview(list: readonly Command[]): string {
  const width = Math.max(...list.map(({ name }) => name.length));
  const lines = list.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}`);
  return [
    `Usage: ${program} COMMAND [OPTIONS]`,
    '',
    ...lines,
    '',
    `${program} COMMAND --help shows its options, ${program} --version the version.`,
  ].join('\n');
}

function helpFor(command: Command): string {
  const { name, summary, options, optionalOptions = {}, flags = {} } = command;
  const { arguments: words = {}, optionalArguments = {} } = command;
  const usage = [
    ...Object.keys(words).map((word) => ` ${word.toUpperCase()}`),
    ...Object.keys(optionalArguments).map((word) => ` [${word.toUpperCase()}]`),
    ...Object.keys(options).map((option) => ` --${option} …`),
    ...Object.keys(optionalOptions).map((option) => ` [--${option} …]`),
    ...Object.keys(flags).map((flag) => ` [--${flag}]`),
  ];
  const rows = [
    ...Object.entries({ ...words, ...optionalArguments }).map(
      ([word, meaning]) => [word.toUpperCase(), meaning] as const,
    ),
    ...Object.entries({
      ...options,
      ...optionalOptions,
      ...flags,
      json: 'Print one JSON object instead of text.',
    }).map(([option, meaning]) => [`--${option}`, meaning] as const),
  ];
  const width = Math.max(10, ...rows.map(([row]) => row.length));
  return [
    `Usage: ${program} ${name}${usage.join('')}`,
    '',
    summary,
    '',
    ...rows.map(([row, meaning]) => `  ${row.padEnd(width)}  ${meaning}`),
  ].join('\n');
}

function print(text: string): 0 {
  process.stdout.write(`${text}\n`);
  return 0;
}

/** Errors that a person can act on. Everything else is a defect of ours and shows where it happened. */
const expectedErrors = [
  UsageError,
  ConfigError,
  ConnectionError,
  EmbeddedPostgresError,
  MigrationError,
  CsvError,
];

/** PostgreSQL's code for a login that may not do what was asked. */
const insufficientPrivilege = '42501';

function describeError(error: Error & { code?: string }): string | undefined {
  if (expectedErrors.some((expected) => error instanceof expected)) return error.message;
  if (error.code === insufficientPrivilege) {
    return `The database refuses: ${error.message}. The login in DATABASE_URL has to own the database, and needs CREATEROLE for the first migration.`;
  }
  return error.stack;
}

if (isRelease) readSettingsFile();
try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  process.stderr.write(`${describeError(error as Error)}\n`);
  process.exitCode = 1;
}
