import assert from 'node:assert/strict';
import { test } from 'node:test';
import { exactMember, parseExactly } from './exact-numbers.ts';

test('numbers that a double cannot hold are sent back as they came, wherever they stand', () => {
  const text =
    '{"fee":12345678901234567.89,"plain":24.9,"list":[{"deep":0.12345678901234567890},1e400],"none":null}';
  const parsed = parseExactly(text) as { fee: number; plain: number };
  assert.equal(parsed.plain, 24.9);
  const again = Object.fromEntries(Object.keys(parsed).map((name) => [name, exactMember(parsed, name)]));
  assert.equal(
    JSON.stringify(again),
    '{"fee":12345678901234567.89,"plain":24.9,"list":[{"deep":0.12345678901234567890},null],"none":null}',
  );
});
