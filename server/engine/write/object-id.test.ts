import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newObjectId } from './object-id.ts';

test('ids ascend in the order of creation, however many a millisecond has', () => {
  const ids = Array.from({ length: 20_000 }, newObjectId);
  assert.deepEqual(ids, ids.toSorted());
  assert.equal(new Set(ids).size, ids.length);
  for (const id of ids)
    assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
});
