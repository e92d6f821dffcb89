import assert from 'node:assert/strict';
import { afterEach, beforeEach, mock, test } from 'node:test';
import { Batcher } from './batcher.ts';
import { DeadlineError } from './errors.ts';

const realTurn = setImmediate;
let now = 0;

beforeEach(() => {
  now = 1000;
  mock.timers.enable({ apis: ['setTimeout', 'setInterval', 'setImmediate'] });
  mock.method(performance, 'now', () => now);
});

afterEach(() => {
  mock.timers.reset();
  mock.restoreAll();
});

/** Lets promises settle; the fake clock stands still. */
function settle(): Promise<void> {
  return new Promise((resolve) => realTurn(resolve));
}

async function advance(ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed++) {
    now++;
    mock.timers.tick(1);
    await settle();
  }
}

/** The next turn of the event loop, at the same moment. */
async function turn(): Promise<void> {
  mock.timers.tick(0);
  await settle();
}

type Result = string | Error | Promise<string>;

interface Batch {
  items: readonly string[];
  answer(results?: readonly Result[]): Promise<void>;
  fail(error: Error): Promise<void>;
}

/** Items are called "tenant" or "tenant anything". A batch runs until the test answers it. */
function build({ paceMs = 0, maxItems = 100 } = {}) {
  const batches: Batch[] = [];
  const batcher = new Batcher<string, string>({
    kind: 'test',
    paceMs,
    maxItems,
    isRead: (result) => result === 'read',
    hasAnsweredSince: () => true,
    tenantOf: (item) => item.split(' ')[0]!,
    run(items) {
      const { promise, resolve, reject } = Promise.withResolvers<readonly Result[]>();
      batches.push({
        items,
        async answer(results = items.map((item) => `${item} done`)) {
          resolve(results);
          await settle();
        },
        async fail(error) {
          reject(error);
          await settle();
        },
      });
      return promise;
    },
  });
  const add = (item: string, deadline = Number.POSITIVE_INFINITY) => {
    const result = batcher.add(item, deadline);
    // A test that does not look at a result must not end because it is an error.
    result.catch(() => {});
    return result;
  };
  return { add, batches, sizes: () => batches.map(({ items }) => items.length) };
}

test('a lone item goes on the next tick', async () => {
  const { add, batches } = build({ paceMs: 8 });
  const result = add('a');
  assert.equal(batches.length, 0);
  await turn();
  assert.deepEqual(batches[0]?.items, ['a']);
  await batches[0]!.answer();
  assert.equal(await result, 'a done');
});

test('items of one tick go together, and each gets its own result', async () => {
  const { add, batches } = build();
  const results = ['a 1', 'b', 'a 2'].map((item) => add(item));
  await turn();
  assert.deepEqual(batches[0]?.items, ['a 1', 'b', 'a 2']);
  await batches[0]!.answer(['one', new Error('not this one'), 'two']);
  assert.equal(await results[0], 'one');
  await assert.rejects(results[1]!, /not this one/);
  assert.equal(await results[2], 'two');
});

test('items that arrive while a batch runs form the next one', async () => {
  const { add, batches, sizes } = build();
  add('a');
  await turn();
  for (const item of ['b', 'c', 'd']) add(item);
  await turn();
  assert.deepEqual(sizes(), [1]);
  await batches[0]!.answer();
  await turn();
  assert.deepEqual(sizes(), [1, 3]);
});

test('a batch has no more items than it may have', async () => {
  const { add, batches, sizes } = build({ maxItems: 2 });
  for (const item of ['a', 'b', 'c', 'd', 'e']) add(item);
  for (let count = 0; count < 3; count++) {
    await turn();
    await batches[count]!.answer();
  }
  assert.deepEqual(sizes(), [2, 2, 1]);
});

test('after a batch of several the next one waits for as many', async () => {
  const { add, batches, sizes } = build({ paceMs: 8 });
  for (const item of ['a', 'b', 'c']) add(item);
  await turn();
  await batches[0]!.answer();
  add('a');
  await turn();
  add('b');
  assert.deepEqual(sizes(), [3]);
  await advance(1);
  add('c');
  await advance(1);
  assert.deepEqual(sizes(), [3, 3]);
});

test('it does not wait once no item joins any more', async () => {
  const { add, batches, sizes } = build({ paceMs: 8 });
  for (const item of ['a', 'b', 'c']) add(item);
  await turn();
  await batches[0]!.answer();
  add('a');
  await advance(1);
  assert.deepEqual(sizes(), [3, 1]);
});

test('it does not wait for longer than its pace', async () => {
  const { add, batches, sizes } = build({ paceMs: 3 });
  for (let item = 0; item < 50; item++) add(`a ${item}`);
  await turn();
  await batches[0]!.answer();
  add('a');
  for (let ms = 0; ms < 3; ms++) {
    add('a');
    await advance(1);
  }
  assert.deepEqual(sizes(), [50, 4]);
});

test('after a batch that only read, the next one does not wait', async () => {
  const { add, batches, sizes } = build({ paceMs: 8 });
  for (const item of ['a', 'b', 'c']) add(item);
  await turn();
  await batches[0]!.answer(['read', 'read', 'read']);
  for (const item of ['a', 'b', 'c']) add(item);
  await turn();
  await batches[1]!.answer(['read', 'read', 'c done']);
  add('a');
  await turn();
  assert.deepEqual(sizes(), [3, 3]);
});

test('without a pace it never waits', async () => {
  const { add, batches, sizes } = build();
  for (const item of ['a', 'b', 'c']) add(item);
  await turn();
  await batches[0]!.answer();
  add('a');
  await turn();
  assert.deepEqual(sizes(), [3, 1]);
});

test('beside a slow batch other tenants go on, and its own tenants wait', async () => {
  const { add, batches } = build();
  add('a');
  await turn();
  add('a 2');
  add('b');
  await advance(20);
  assert.equal(batches.length, 1);
  await advance(20);
  assert.deepEqual(batches[1]?.items, ['b']);
  await batches[0]!.answer();
  await advance(40);
  assert.deepEqual(batches[2]?.items, ['a 2']);
});

test('beside a batch that is mostly of one tenant, other tenants go on without waiting', async () => {
  const { add, batches } = build();
  for (let item = 0; item < 8; item++) add(`a ${item}`);
  await turn();
  add('a');
  add('b');
  await turn();
  assert.deepEqual(batches[1]?.items, ['b']);
});

test('no more than four batches run at the same time', async () => {
  const { add, batches } = build();
  for (const tenant of ['a', 'b', 'c', 'd', 'e']) {
    add(tenant);
    await advance(60);
  }
  assert.deepEqual(
    batches.flatMap(({ items }) => items),
    ['a', 'b', 'c', 'd'],
  );
  await batches[2]!.answer();
  await advance(20);
  assert.deepEqual(batches[4]?.items, ['e']);
});

test('an item that waits past its deadline fails and is never sent', async () => {
  const { add, batches } = build();
  add('a');
  await turn();
  const late = add('a late', now + 30);
  const rejected = assert.rejects(late, DeadlineError);
  await advance(60);
  await rejected;
  await batches[0]!.answer();
  await advance(60);
  assert.equal(batches.length, 1);
});

test('an item that was sent fails at its deadline, and its neighbour gets its result', async () => {
  const { add, batches } = build();
  const late = assert.rejects(add('a', now + 30), DeadlineError);
  const inTime = add('b');
  await turn();
  await advance(60);
  await late;
  await batches[0]!.answer();
  assert.equal(await inTime, 'b done');
});

test('a result that takes longer holds up its own tenant and nobody else', async () => {
  const { add, batches } = build();
  const slow = add('a');
  const quick = add('b');
  await turn();
  const { promise, resolve } = Promise.withResolvers<string>();
  await batches[0]!.answer([promise, 'b done']);
  assert.equal(await quick, 'b done');
  add('a 2');
  add('b 2');
  await advance(60);
  assert.deepEqual(batches[1]?.items, ['b 2']);
  await batches[1]!.answer();
  resolve('a done');
  assert.equal(await slow, 'a done');
  await advance(60);
  assert.deepEqual(batches[2]?.items, ['a 2']);
});

test('a batch that fails as a whole fails each of its items, and the next one runs', async () => {
  const { add, batches } = build();
  const results = ['a', 'b'].map((item) => add(item));
  await turn();
  add('c');
  await batches[0]!.fail(new Error('all of them'));
  for (const result of results) await assert.rejects(result, /all of them/);
  await turn();
  assert.deepEqual(batches[1]?.items, ['c']);
});

test('nothing keeps the process alive once everything is answered', async () => {
  const cleared = mock.method(globalThis, 'clearInterval');
  const { add, batches } = build();
  add('a');
  await turn();
  await batches[0]!.answer();
  await advance(40);
  assert.equal(cleared.mock.callCount(), 1);
});
