// The bookkeeping finds each kind of damage, and counts it in one column.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compare } from './helpers/bookkeeping.ts';
import type { Attempt } from './helpers/load.ts';

function attempt(marker: string, answer: Partial<Attempt>): Attempt {
  return { key: 'key', marker, sentAt: 0, answeredAt: 0, tookMs: 0, ...answer };
}

const created = (marker: string) => attempt(marker, { status: 201, id: `id-${marker}` });
const row = (marker: string, id = `id-${marker}`) => ({ id, marker });
const entry = (position: number, marker: string) => ({ cursor: String(position), id: `id-${marker}` });

const attempts = [
  created('a'),
  created('b'),
  attempt('c', { status: 500, code: 'database_unavailable' }),
  attempt('e', { failure: 'ECONNREFUSED' }),
];
const rows = [row('a'), row('b')];
const journal = [entry(1, 'a'), entry(2, 'b')];

const balanced = {
  confirmed: 2,
  unclear: 0,
  lost: 0,
  doubled: 0,
  invented: 0,
  gaps: 0,
  disorder: 0,
  silenceMs: 0,
};

test('rows that match their answers balance', () => {
  assert.deepEqual(compare(attempts, journal, { rows, journal }), balanced);
});

test('a 201 without its row is lost', () => {
  const stored = { rows: [row('a')], journal: [entry(1, 'a')] };
  assert.deepEqual(compare(attempts, stored.journal, stored), { ...balanced, lost: 1 });
});

test('a second row of a request is doubled', () => {
  const more = [...journal, { cursor: '3', id: 'other' }];
  const stored = { rows: [...rows, row('b', 'other')], journal: more };
  assert.deepEqual(compare(attempts, more, stored), { ...balanced, doubled: 1 });
});

test('a row that nobody sent, or that was refused, is invented', () => {
  for (const marker of ['nobody', 'c', 'e']) {
    const more = [...journal, entry(3, marker)];
    const stored = { rows: [...rows, row(marker)], journal: more };
    assert.deepEqual(compare(attempts, more, stored), { ...balanced, invented: 1 });
  }
});

test('what was not answered, or with outcome_unknown, may be stored and is unclear until a repetition succeeds', () => {
  for (const answer of [
    { failure: 'ECONNRESET' },
    { status: 500, code: 'outcome_unknown' },
    { status: 502 },
  ]) {
    const unclear = [...attempts, attempt('d', answer)];
    const more = [...journal, entry(3, 'd')];
    const stored = { rows: [...rows, row('d')], journal: more };
    assert.deepEqual(compare(unclear, more, stored), { ...balanced, unclear: 1 });
    assert.deepEqual(compare([...unclear, created('d')], more, stored), { ...balanced, confirmed: 3 });
  }
});

test('a missing position, a missing entry and a second one are gaps', () => {
  const withoutPosition = [entry(1, 'a'), entry(3, 'b')];
  assert.equal(compare(attempts, withoutPosition, { rows, journal: withoutPosition }).gaps, 1);
  const withoutEntry = [entry(1, 'a')];
  assert.ok(compare(attempts, withoutEntry, { rows, journal: withoutEntry }).gaps > 0);
  const twice = [...journal, entry(3, 'b')];
  assert.ok(compare(attempts, twice, { rows, journal: twice }).gaps > 0);
});

test('entries that a reader missed, got twice or in another order are disorder', () => {
  for (const feed of [[journal[0]!], [...journal, journal[1]!], journal.toReversed()])
    assert.ok(compare(attempts, feed, { rows, journal }).disorder > 0);
});

test('the longest time without a 201 is measured between two of them', () => {
  const at = (answeredAt: number) => ({ ...created('a'), answeredAt });
  assert.equal(compare([at(100), at(5100), at(5200)], [], { rows: [], journal: [] }).silenceMs, 5000);
});
