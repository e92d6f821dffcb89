import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mailLink, phoneLink } from './contact-links.ts';

test('a link to an e-mail address holds nothing but the address', () => {
  assert.equal(mailLink('anke@gruen.example'), 'mailto:anke@gruen.example');
  assert.equal(mailLink('a.b+c@gruen.example'), 'mailto:a.b%2Bc@gruen.example');
  for (const address of [
    'a@b.test?bcc=x@evil.test',
    'a@b.test&bcc=x',
    'a@b.test#x',
    'a@b.test,x@evil.test',
    'a%0d%0abcc:x@b.test',
    'größe@b.test',
    '\ud800@b.test',
  ]) {
    const url = new URL(mailLink(address));
    assert.deepEqual([url.protocol, url.search, url.hash], ['mailto:', '', '']);
    assert.equal(decodeURIComponent(url.pathname), address.toWellFormed());
    assert.ok(!url.pathname.includes(','), 'one recipient');
  }
});

test('a link to a telephone number holds digits and a plus', () => {
  assert.equal(phoneLink('+49 (0)40 / 123-45'), 'tel:+4904012345');
  assert.equal(phoneLink('040 1;phone-context=evil.test?x'), 'tel:0401');
});
