import assert from 'node:assert/strict';
import { randomUUIDv7 } from 'node:crypto';
import { test } from 'node:test';
import type { LineResult } from '../results.ts';
import { buildSpool } from './spool.ts';

const created = (line: number, more: object = {}): LineResult => ({
  outcome: 'created',
  answer: { line, status: 201, id: randomUUIDv7(), ...more },
});
const failed = (line: number, message = 'wrong'): LineResult => ({
  outcome: 'failed',
  answer: { line, status: 400, message },
});
const readAll = async (spool: ReturnType<typeof buildSpool>) => (await Array.fromAsync(spool.read())).flat();

test('accepted results are read as they were', async () => {
  const results: LineResult[] = Array.from({ length: 2000 }, (_, index) =>
    created(index + 1, { type: 'product', externalId: `P\n\u2028${index}` }),
  );
  const deleted = [{ resource: 'site', ids: ['x'] }];
  results.push({ outcome: 'deleted', answer: { line: 2001, status: 200, type: 'site', id: 'x', deleted } });
  const spool = buildSpool();
  await spool.write(results.slice(0, 7));
  await spool.write(results.slice(7));
  assert.deepEqual(await readAll(spool), results);
  await spool.close();
});

test('after the first rejected line only rejected ones are kept', async () => {
  const spool = buildSpool();
  await spool.write(Array.from({ length: 1000 }, (_, index) => created(index + 1)));
  await spool.write([created(1001), failed(1002), created(1003)]);
  await spool.write([created(1004)]);
  await spool.write([failed(1005)]);
  assert.deepEqual(await readAll(spool), [failed(1002), failed(1005)]);
  await spool.close();
});

test('rejected lines take at most 64 MiB, and the rest is counted', async () => {
  const spool = buildSpool();
  const message = 'x'.repeat(100_000);
  for (let line = 1; line <= 1000; line += 100) {
    await spool.write(Array.from({ length: 100 }, (_, index) => failed(line + index, message)));
  }
  const kept = await readAll(spool);
  assert.equal(kept.length + spool.unlistedErrors, 1000);
  assert.ok(kept.length > 600 && kept.length < 680, `${kept.length} kept`);
  await spool.close();
});
