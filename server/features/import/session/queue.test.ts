import assert from 'node:assert/strict';
import { test } from 'node:test';
import { defaultImportLimits } from './limits.ts';
import { buildQueue, type Place } from './queue.ts';

/** Enters and notes the order in which places were given. */
function buildLobby(limits: Partial<typeof defaultImportLimits> = {}) {
  const enter = buildQueue({ ...defaultImportLimits, ...limits });
  const admitted: string[] = [];
  return {
    admitted,
    async enter(tenantId: string, signal?: AbortSignal): Promise<Place> {
      const place = await enter(tenantId, signal);
      admitted.push(tenantId);
      return place;
    },
  };
}

const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

test('tenants get places in turn, however many imports one of them has waiting', async () => {
  const { admitted, enter } = buildLobby({ places: 1 });
  let current = await enter('a');
  const waiting = ['a', 'a', 'b', 'c'].map((tenantId) => enter(tenantId));
  for (const next of [waiting[2]!, waiting[3]!, waiting[0]!, waiting[1]!]) {
    current.leave();
    current = await next;
  }
  assert.deepEqual(admitted, ['a', 'b', 'c', 'a', 'a']);
  current.leave();
});

test('a tenant that had no place yet comes before those that had one', async () => {
  const { admitted, enter } = buildLobby({ places: 2 });
  const [a, b] = [await enter('a'), await enter('b')];
  const again = [enter('a'), enter('b')];
  const fresh = enter('c');
  a.leave();
  (await fresh).leave();
  b.leave();
  for (const place of again) (await place).leave();
  assert.deepEqual(admitted, ['a', 'b', 'c', 'a', 'b']);
});

test('a tenant has one place, even if others are free', async () => {
  const { admitted, enter } = buildLobby();
  const first = await enter('a');
  const second = enter('a');
  await nextTurn();
  assert.deepEqual(admitted, ['a']);
  first.leave();
  (await second).leave();
});

test('an import that no longer waits makes room in the queue', async () => {
  const { enter } = buildLobby({ waitingPerTenant: 1 });
  const first = await enter('a');
  const leaving = new AbortController();
  const second = enter('a', leaving.signal);
  await assert.rejects(enter('a'), { code: 'too_many_imports' });
  leaving.abort(new Error('left'));
  await assert.rejects(second, { message: 'left' });
  const third = enter('a');
  first.leave();
  (await third).leave();
});

test('each waiting tenant displaces one slow import, and none that sends its lines', async () => {
  const { enter } = buildLobby({ places: 3, slowAfterMs: 0 });
  const displaced: string[] = [];
  for (const tenantId of ['busy', 'slow', 'slower']) {
    const place = await enter(tenantId);
    place.lines = tenantId === 'busy' ? 1_000_000 : 0;
    place.giveWay = () => {
      displaced.push(tenantId);
      place.leave();
    };
  }
  (await enter('new')).leave();
  assert.deepEqual(displaced, ['slow']);
});
