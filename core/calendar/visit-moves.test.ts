import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Moves } from './visit-moves.ts';

/** "." is no day for visits, "x" a visit that must move, "o" a free day. */
function movesOf(days: string, tolerance: number): Moves {
  return new Moves(tolerance, {
    mustMove: (day) => days[day] === 'x',
    canTake: (day) => days[day] === 'o',
  });
}

/** "1>2" for each visit that moves, by position. */
function moved(days: string, tolerance: number): string[] {
  const moves = movesOf(days, tolerance);
  return [...days].flatMap((_, day) => {
    const to = days[day] === 'x' ? moves.dayFor(day) : undefined;
    return to === undefined ? [] : [`${day}>${to}`];
  });
}

test('a visit moves to the nearest free day, and of two to the later one', () => {
  assert.deepEqual(moved('o.x.o', 2), ['2>4']);
  assert.deepEqual(moved('ox..o', 3), ['1>0']);
  assert.deepEqual(moved('o.x', 1), []);
});

test('of two visits that want a day, the nearer one gets it and the other one looks elsewhere', () => {
  assert.deepEqual(moved('oxx..o', 3), ['1>0', '2>5']);
  assert.deepEqual(moved('oxx', 3), ['1>0']);
  assert.deepEqual(moved('xoxo', 1), ['0>1', '2>3']);
  assert.deepEqual(moved('xox', 1), ['0>1']);
});

const calendar = fc
  .array(fc.constantFrom('.', 'x', 'x', 'o'), { minLength: 1, maxLength: 120 })
  .map((days) => days.join(''));
const tolerance = fc.integer({ min: 0, max: 31 });

test('each round gives every free day to the visit that is so far away', () => {
  fc.assert(
    fc.property(calendar, tolerance, (days, tolerance) => {
      const left = [...days];
      const expected = new Map<number, number>();
      for (let distance = 1; distance <= tolerance; distance++) {
        for (const shift of [distance, -distance]) {
          for (const day of left.keys()) {
            if (left[day] !== 'x' || left[day + shift] !== 'o') continue;
            expected.set(day, day + shift);
            left[day] = left[day + shift] = '.';
          }
        }
      }
      const found = [...expected].map(([from, to]) => `${from}>${to}`).sort();
      assert.deepEqual(moved(days, tolerance).sort(), found);
    }),
  );
});

test('a free day names the visit that it takes, whichever day is asked first', () => {
  fc.assert(
    fc.property(calendar, tolerance, fc.nat(119), (days, tolerance, asked) => {
      const all = movesOf(days, tolerance);
      for (const [day, kind] of [...days].entries()) {
        const to = kind === 'x' ? all.dayFor(day) : undefined;
        if (to !== undefined) assert.equal(all.visitFor(to), day);
      }
      const alone = movesOf(days, tolerance);
      if (days[asked] === 'x') assert.equal(alone.dayFor(asked), all.dayFor(asked));
      else assert.equal(alone.visitFor(asked), all.visitFor(asked));
    }),
  );
});

test('an answer looks at few days, however many visits must move', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 62 }), fc.integer({ min: 1, max: 62 }), (visits, free) => {
      let looks = 0;
      const isVisit = (day: number) => {
        looks++;
        return Math.abs(day) % (visits + free) < visits;
      };
      const moves = new Moves(31, { mustMove: isVisit, canTake: (day) => !isVisit(day) });
      moves.dayFor(0);
      moves.visitFor(visits);
      assert.ok(looks < 10_000, String(looks));
    }),
  );
});
