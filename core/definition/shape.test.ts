import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hasShape, type ObjectShape } from './shape.ts';

const shape: ObjectShape = {
  type: 'object',
  title: 'Thing',
  properties: {
    kind: { type: 'string', enum: ['A', 'B'] },
    from: { type: 'string', format: 'date' },
    count: { type: 'integer', minimum: 1, maximum: 3 },
    places: { type: 'array', items: { type: 'integer', enum: [1, -1] } },
  },
  required: ['kind'],
  additionalProperties: false,
};

test('a value has a shape if each of its members has', () => {
  const known = [
    { kind: 'A' },
    { kind: 'B', from: '2026-01-31', count: 3, places: [] },
    { kind: 'A', places: [1, -1, 1] },
    // An editor leaves such members behind, and JSON drops them.
    { kind: 'A', count: undefined },
  ];
  for (const value of known) assert.ok(hasShape(shape, value), JSON.stringify(value));
});

test('a value lacks a shape by one wrong, missing or further member', () => {
  const unknown: unknown[] = [
    ...[null, 'A', 1, [], [{ kind: 'A' }], {}, { kind: undefined }],
    ...[{ kind: 'C' }, { kind: ['A'] }, { kind: 'A', from: '2026-02-30' }, { kind: 'A', from: 20260131 }],
    ...[
      { kind: 'A', count: 0 },
      { kind: 'A', count: 4 },
      { kind: 'A', count: 1.5 },
      { kind: 'A', count: '1' },
    ],
    ...[
      { kind: 'A', count: null },
      { kind: 'A', places: 1 },
      { kind: 'A', places: [0] },
    ],
    ...[
      { kind: 'A', note: 'x' },
      { kind: 'A', constructor: 'x' },
    ],
  ];
  for (const value of unknown) assert.ok(!hasShape(shape, value), JSON.stringify(value));
});
