import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Definition } from '../api/definitions.ts';
import type { Change } from '../api/records.ts';
import { earlierStates, patchBack, patchTo } from './earlier-state.ts';

const definition = {
  fields: [
    { name: 'companyName' },
    { name: 'phone' },
    {
      name: 'address',
      fields: [{ name: 'city' }, { name: 'location', fields: [{ name: 'lat' }, { name: 'lng' }] }],
    },
  ],
} as unknown as Definition;

test('a save is undone by the old values, and what was missing is cleared', () => {
  const before = { companyName: 'Alt', address: { city: 'Kiel' }, version: 1 };
  const after = {
    companyName: 'Neu',
    phone: '1',
    address: { city: 'Kiel', location: { lat: 1, lng: 2 } },
    version: 2,
  };
  assert.deepEqual(patchBack(definition, before, after), {
    companyName: 'Alt',
    phone: null,
    address: { city: 'Kiel', location: { lat: null, lng: null } },
  });
  assert.deepEqual(patchBack(definition, before, before), {});
});

const entry = (action: string, changes?: object) => ({ action, changes }) as unknown as Change;

test('an earlier state is the present one with all later changes taken back', () => {
  const states = earlierStates([
    entry('CHANGED', { phone: { from: '2', to: '3' } }),
    entry('CHANGED', { phone: { from: '1', to: '2' }, companyName: { from: 'Alt', to: 'Neu' } }),
    entry('CREATED'),
    entry('DELETED'),
    entry('CHANGED', { phone: { to: '1' } }),
    entry('CREATED'),
  ]);
  assert.deepEqual(
    states.map((state) => Object.fromEntries(state!)),
    [
      {},
      { phone: '2' },
      { phone: '1', companyName: 'Alt' },
      { phone: '1', companyName: 'Alt' },
      { phone: '1', companyName: 'Alt' },
      { phone: undefined, companyName: 'Alt' },
    ],
  );
  assert.deepEqual(patchTo(definition, states[5]!), { phone: null, companyName: 'Alt' });
});

test('nothing is offered before a change whose values are forgotten', () => {
  const states = earlierStates([
    entry('CHANGED', { phone: { to: '1' } }),
    entry('CHANGED'),
    entry('CREATED'),
  ]);
  assert.deepEqual(
    states.map((state) => state !== undefined),
    [true, true, false],
  );
});
