import assert from 'node:assert/strict';
import { test } from 'node:test';
import { networkOf } from './network.ts';

test('addresses of one IPv6 network are one, in every spelling', () => {
  const spellings = ['2001:db8:0:7::1', '2001:DB8:0000:0007:ffff:1:2:3', '2001:db8::7:0:0:0:9'];
  assert.deepEqual([...new Set(spellings.map(networkOf))], ['2001:db8:0:7']);
  assert.notEqual(networkOf('2001:db8:0:8::1'), networkOf('2001:db8:0:7::1'));
  assert.equal(networkOf('fe80::1%eth0'), networkOf('fe80::2'));
});

test('an IPv4 address is itself, mapped or not', () => {
  for (const address of ['192.0.2.7', '::ffff:192.0.2.7', '::ffff:c000:207', '0:0:0:0:0:FFFF:192.0.2.7'])
    assert.equal(networkOf(address), '192.0.2.7', address);
  assert.notEqual(networkOf('::ffff:192.0.2.7'), networkOf('::ffff:192.0.2.8'));
});
