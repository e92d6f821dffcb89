import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pauseSecondsAfter, readRetryAfter } from './retry-pauses.ts';

test('pauses grow, and dozens of attempts fit into three days', () => {
  const pauses = Array.from({ length: 40 }, (_, index) => pauseSecondsAfter(index + 1, 0, 0));
  assert.deepEqual(
    pauses,
    pauses.toSorted((one, other) => one - other),
  );
  assert.equal(pauses[0], 5);
  assert.equal(pauses.at(-1), 8 * 3600);
});

test('jitter makes a pause up to a fifth longer', () => {
  assert.equal(pauseSecondsAfter(1, 0, 1), 6);
  assert.equal(pauseSecondsAfter(2, 0, 0.5), 33);
});

test('a receiver may ask for a longer pause, up to a day, and not for a shorter one', () => {
  assert.equal(pauseSecondsAfter(1, 100, 0), 100);
  assert.equal(pauseSecondsAfter(1, 1_000_000, 0), 86_400);
  assert.equal(pauseSecondsAfter(3, 1, 0), 120);
});

test('Retry-After is read as seconds or as a date', () => {
  const now = Date.UTC(2026, 10, 17, 8, 0, 0);
  assert.equal(readRetryAfter('120', now), 120);
  assert.equal(readRetryAfter('Tue, 17 Nov 2026 08:01:00 GMT', now), 60);
  assert.equal(readRetryAfter('Tue, 17 Nov 2026 07:00:00 GMT', now), 0);
  for (const header of [undefined, 'soon', '', '-5']) {
    const seconds = readRetryAfter(header, now);
    assert.ok(seconds === undefined || seconds === 0, String(header));
  }
});
