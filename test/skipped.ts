// A reporter beside the usual one: at the end it names the skipped tests by what they lack.
import type { TestEvent } from 'node:test/reporters';

export default async function* reportSkipped(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const skipped: { name: string; reason: string }[] = [];
  for await (const { type, data } of events) {
    if (type !== 'test:pass' || data.skip === undefined) continue;
    skipped.push({ name: data.name, reason: String(data.skip) });
  }
  if (skipped.length === 0) return;
  yield '\nSkipped tests:\n';
  for (const [reason, tests] of Map.groupBy(skipped, (one) => one.reason)) {
    yield `  ${reason}\n${tests.map(({ name }) => `    - ${name}\n`).join('')}`;
  }
}
