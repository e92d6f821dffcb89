import assert from 'node:assert/strict';
import { test } from 'node:test';
import { InterruptedPages } from './interrupted-pages.ts';

test('a tenant with many interrupted pages keeps its latest, and displaces those of nobody else', () => {
  const pages = new InterruptedPages<number>();
  pages.keep('small', 'list', 7);
  for (let place = 0; place < 5000; place++) pages.keep('large', `list ${place}`, place);
  assert.equal(pages.find('small', 'list'), 7);
  assert.equal(pages.find('large', 'list 4999'), 4999);
  assert.equal(pages.find('large', 'list 0'), undefined);
});

test('of very many tenants the latest keep their places', () => {
  const pages = new InterruptedPages<number>();
  for (let tenant = 0; tenant < 5000; tenant++) {
    pages.keep('busy', 'list', tenant);
    pages.keep(`tenant ${tenant}`, 'list', tenant);
  }
  assert.equal(pages.find('busy', 'list'), 4999);
  assert.equal(pages.find('tenant 4999', 'list'), 4999);
  assert.equal(pages.find('tenant 0', 'list'), undefined);
});

test('a place is found until its page is read', () => {
  const pages = new InterruptedPages<number>();
  pages.keep('tenant', 'list', 1);
  pages.keep('tenant', 'list', 2);
  assert.equal(pages.find('tenant', 'list'), 2);
  assert.equal(pages.find('another', 'list'), undefined);
  pages.forget('tenant', 'list');
  assert.equal(pages.find('tenant', 'list'), undefined);
});
