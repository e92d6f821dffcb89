import assert from 'node:assert/strict';
import { test } from 'node:test';
import { exactNumber, parseExactly } from './exact-json.ts';

const json = '{"fee":12345678901234567890.10,"list":[1.0,-0,1e400],"text":"7.00"}';

test('numbers are written as they were read', () => {
  assert.equal(JSON.stringify(parseExactly(json)), json);
  assert.equal(JSON.stringify({ fee: exactNumber('0.10') }), '{"fee":0.10}');
});

test('members can be changed and left out on the way', () => {
  const revive = (name: string, value: unknown) => {
    if (name === 'fee') return undefined;
    return typeof value === 'string' ? '…' : value;
  };
  assert.equal(JSON.stringify(parseExactly(json, revive)), '{"list":[1.0,-0,1e400],"text":"…"}');
});
