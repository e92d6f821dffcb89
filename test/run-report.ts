// A reporter beside the usual one. At the end it names the slowest files, and the skipped tests by what they lack.
import path from 'node:path';
import type { TestEvent } from 'node:test/reporters';

const slowestCount = 15;
const root = path.resolve(import.meta.dirname, '..');

export default async function* reportRun(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const skipped: { name: string; reason: string }[] = [];
  const files: { file: string; seconds: number }[] = [];
  for await (const { type, data } of events) {
    if (type === 'test:pass' && data.skip !== undefined)
      skipped.push({ name: data.name, reason: String(data.skip) });
    if (type === 'test:summary' && data.file)
      files.push({ file: path.relative(root, data.file), seconds: data.duration_ms / 1000 });
  }
  yield* writeSlowest(files);
  yield* writeSkipped(skipped);
}

function* writeSlowest(files: { file: string; seconds: number }[]): Generator<string> {
  const slowest = files.toSorted((one, other) => other.seconds - one.seconds).slice(0, slowestCount);
  const all = files.reduce((sum, { seconds }) => sum + seconds, 0);
  yield `\nSlowest of ${files.length} files, which take ${Math.round(all)} s together:\n`;
  for (const { file, seconds } of slowest) yield `  ${seconds.toFixed(0).padStart(4)} s  ${file}\n`;
}

function* writeSkipped(skipped: { name: string; reason: string }[]): Generator<string> {
  if (skipped.length === 0) return;
  yield '\nSkipped tests:\n';
  for (const [reason, tests] of Map.groupBy(skipped, (one) => one.reason)) {
    yield `  ${reason}\n${tests.map(({ name }) => `    - ${name}\n`).join('')}`;
  }
}
