import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addPercent, readPercent } from './percent.ts';

test('a percentage has a sign, and everything else is a value', () => {
  assert.equal(readPercent('+3 %'), 300n);
  assert.equal(readPercent(' −2,5% '), -250n);
  assert.equal(readPercent('-100 %'), -10_000n);
  for (const text of ['3', '3 %', '+3', '-101 %', '+3 % ab Januar', ''])
    assert.equal(readPercent(text), undefined, text);
});

test('a raised price is exact and rounded to its places', () => {
  for (const [number, percent, raised] of [
    ['12', '+3 %', '12.36'],
    ['24.9', '+3 %', '25.65'],
    ['0.5', '+1 %', '0.51'],
    ['0.0125', '+3 %', '0.0129'],
    ['99999999999999999.99', '+10 %', '109999999999999999.99'],
    ['249', '-100 %', '0.00'],
  ] as const)
    assert.equal(addPercent(number, readPercent(percent)!, false), raised, number);
  assert.equal(addPercent('45', 1000n, true), '50');
  assert.equal(addPercent('1e21', 300n, false), undefined);
});
