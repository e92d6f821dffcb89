import assert from 'node:assert/strict';
import { test } from 'node:test';
import { countSteps, Pace, runNow, type Steps } from './pace.ts';

function* stepsUntil(isOver: () => boolean): Steps<string> {
  while (!isOver()) yield;
  return 'done';
}

test('long work lets other work run in between', async () => {
  let hasRun = false;
  setImmediate(() => {
    hasRun = true;
  });
  assert.equal(await new Pace().run(stepsUntil(() => hasRun)), 'done');
});

test('short pieces of work share a turn, and the turn still ends', async () => {
  const pace = new Pace();
  let hasRun = false;
  setImmediate(() => {
    hasRun = true;
  });
  while (!hasRun) await pace.run(stepsUntil(() => true));
});

test('work ends when its result is no longer wanted', async () => {
  let isWanted = true;
  const pace = new Pace(() => {
    if (!isWanted) throw new Error('The client has left.');
  });
  setImmediate(() => {
    isWanted = false;
  });
  await assert.rejects(pace.run(stepsUntil(() => false)), /The client has left/);
});

test('steps are counted, at a pace or not', async () => {
  const countdown = (left: number) => stepsUntil(() => left-- === 0);
  const before = countSteps();
  runNow(countdown(7));
  assert.equal(countSteps() - before, 8);
  await new Pace().run(countdown(7));
  assert.equal(countSteps() - before, 16);
});
