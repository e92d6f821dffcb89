import assert from 'node:assert/strict';
import { test } from 'node:test';
import { buildFailureCounter } from './rate-limit.ts';

test('a flood from very many networks does not reset the count of one that fails often', () => {
  const countFailures = buildFailureCounter();
  for (let count = 0; count < 60; count++) countFailures('192.0.2.7', 1);
  for (let network = 0; network < 250_000; network++) countFailures(`2001:db8:${network}`, 1);
  assert.equal(countFailures('192.0.2.7', 0).requests, 60);
  assert.equal(countFailures('2001:db8:249999', 0).requests, 1);
});
