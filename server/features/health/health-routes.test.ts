import assert from 'node:assert/strict';
import { test } from 'node:test';
import { shareFindings } from './health-routes.ts';

test('however many ask, the database is asked once, and all get the same finding', async () => {
  let checks = 0;
  let answer: (found: string) => void = () => {};
  const check = shareFindings(() => {
    checks++;
    return new Promise((resolve) => {
      answer = resolve;
    });
  });
  const asked = Array.from({ length: 1000 }, check);
  answer('well');
  assert.deepEqual(new Set(await Promise.all(asked)), new Set(['well']));
  assert.deepEqual([await check(), checks], ['well', 1]);
});

test('a finding is repeated for a second, and then looked for again', async ({ mock }) => {
  let now = 0;
  mock.method(performance, 'now', () => now);
  const outcomes = [() => Promise.resolve('well'), () => Promise.reject(new Error('away'))];
  const check = shareFindings(() => outcomes.shift()!());
  assert.equal(await check(), 'well');
  now = 999;
  assert.equal(await check(), 'well');
  now = 1000;
  await assert.rejects(check(), /away/);
  now = 1999;
  await assert.rejects(check(), /away/);
});
