// Runs test files, those that take longest first.
//
//   npm test                            units, API, client, commands, and every page once in a browser
//   npm run test:all                    everything
//   npm test -- api/visits browser/     the files whose path contains one of these
import { globSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';
import reportRun from './run-report.ts';

const root = path.resolve(import.meta.dirname, '..');
const words = process.argv.slice(2);

const everything = globSync('{core,server,test,web/src}/**/*.test.ts', {
  cwd: root,
  exclude: ['**/node_modules'],
});

/** It opens every page, and takes longest. */
const walk = 'test/browser/screens-german.test.ts';
const longFolders = ['browser/', 'openapi-tools/', 'packaging/', 'faults/', 'load/', 'scale/'];
/** Each takes longer than half a minute, most of it for much data, many tries or several servers. */
const longFiles = [
  'bench',
  'read/accepted-data',
  'database/backup',
  'compressed-answers',
  'declared-limits',
  'export-stream',
  'first-synchronisation',
  'import-limits',
  'import-order',
  'http/requests',
  'sign-in-limits',
];

/** The first of these that a file belongs to; the last files are short then, and all processors end at about the same time. */
const longestFirst: readonly ((file: string) => boolean)[] = [
  (file) => file === walk,
  (file) => file === 'test/browser/screens-english.test.ts',
  (file) => longFolders.some((folder) => file.startsWith(`test/${folder}`)),
  (file) => file.startsWith('test/') && longFiles.some((name) => file.endsWith(`/${name}.test.ts`)),
  (file) => file.startsWith('test/commands/'),
  (file) => file.startsWith('test/'),
];

function rank(file: string): number {
  const place = longestFirst.findIndex((has) => has(file));
  return place < 0 ? longestFirst.length : place;
}

const isForEveryChange = (file: string) => file === walk || rank(file) > 3;

function chooseFiles(): string[] {
  if (words[0] === '--all') return everything;
  if (words.length === 0) return everything.filter(isForEveryChange);
  const unknown = words.find((word) => !everything.some((file) => file.includes(word)));
  if (unknown !== undefined) throw new Error(`No test file's path contains ${unknown}.`);
  return everything.filter((file) => words.some((word) => file.includes(word)));
}

const stopped = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => stopped.abort());

/** Node's type declarations lack the global setup. */
const options: NonNullable<Parameters<typeof run>[0]> & { globalSetupPath: string } = {
  files: chooseFiles()
    .toSorted((one, other) => rank(one) - rank(other))
    .map((file) => path.join(root, file)),
  cwd: root,
  globalSetupPath: path.join(root, 'test/helpers/postgres.ts'),
  // Many tests wait for processes and connections: one more than there are processors keeps these busy.
  concurrency: availableParallelism() + 1,
  timeout: 600_000,
  signal: stopped.signal,
};
const events = run(options);
events.on('test:fail', ({ todo }) => {
  if (todo === undefined || todo === false) process.exitCode = 1;
});
await Promise.all([
  pipeline(events, new spec(), process.stdout, { end: false }),
  pipeline(events, reportRun, process.stdout, { end: false }),
]);
