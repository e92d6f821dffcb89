import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withValues } from './shards.ts';

test('parameters become literals without a type', () => {
  const values = ["it's", null, 7, ['a"b', null], { open: true }];
  assert.equal(
    withValues('SELECT $1, $2, $3::int, $4::text[], $5::jsonb', values),
    String.raw`SELECT 'it''s', NULL, '7'::int,  E'{"a\\"b",NULL}'::text[], '{"open":true}'::jsonb`,
  );
});

test('a value that reads like a parameter is not replaced again', () => {
  assert.equal(withValues('SELECT $1, $2', ['$2', 'b']), "SELECT '$2', 'b'");
});

test('the tenth parameter is not the first and a zero', () => {
  assert.equal(withValues('SELECT $10, $1', [1, 2, 3, 4, 5, 6, 7, 8, 9, 'ten']), "SELECT 'ten', '1'");
});

for (const [where, text] of [
  ['a literal', "SELECT '$1'"],
  ['a literal with a doubled quote', "SELECT 'it''s $1'"],
  ['a literal with escapes', "SELECT E'\\' $1'"],
  ['a literal in dollars', 'SELECT $$ $1 $$'],
  ['a literal in tagged dollars', 'SELECT $body$ $$ $1 $body$'],
  ['a quoted name', 'SELECT 1 AS "price in $1"'],
  ['a comment to the end of the line', 'SELECT 1 -- not $1'],
  ['a comment over lines', 'SELECT 1 /* not\n$1 */'],
] as const) {
  test(`${where} keeps its $1`, () => {
    assert.equal(withValues(`${text}\n, $1`, ['value']), `${text}\n, 'value'`);
  });
}
