import assert from 'node:assert/strict';
import { test } from 'node:test';
import { groupByRoom } from './rooms.ts';

const plant = (id: string, place: object) => ({ id, version: 1, createdAt: '', updatedAt: '', ...place });

test('plants stand by building, floor and room, and removed ones not at all', () => {
  const rooms = groupByRoom([
    plant('a', { floor: '10', room: 'Flur' }),
    plant('b', {}),
    plant('c', { floor: '2', room: 'Flur' }),
    plant('d', { floor: '2', room: 'Flur', status: 'REMOVED' }),
    plant('e', { floor: '2', room: 'Flur', status: 'HEALTHY' }),
  ] as never);
  assert.deepEqual(
    rooms.map(({ place, plants }) => [place, plants.map(({ id }) => id).join('')]),
    [
      ['2, Flur', 'ce'],
      ['10, Flur', 'a'],
      ['', 'b'],
    ],
  );
});
