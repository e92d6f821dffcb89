// Visits that cannot take place on their day, and the free days to which they move. Two visits never share a free day.
// docs/visits.md has the rule with an example.

import { DayBytes } from './calendar-days.ts';

/** The days around a visit, as its interval sees them. No day is both. */
export interface MovableDays {
  /** Whether the visit of this day must move. */
  mustMove(day: number): boolean;
  /** Whether this day can take a visit from another day. */
  canTake(day: number): boolean;
}

/** A visit looks for a day, a free day looks for a visit. */
const [visit, freeDay] = [1, -1];

/** The rounds try one day later, one day earlier, two days later, two days earlier, and so on. */
function shiftOf(round: number): number {
  const distance = (round >> 1) + 1;
  return round % 2 === 0 ? distance : -distance;
}

/**
 * Each round has a distance: a visit without a day takes the free day that is so far away. The nearest visit gets a day
 * first; at the same distance, the earlier visit does. A result depends on earlier rounds only, so on a bounded number
 * of days and not on the requested range.
 */
export class Moves {
  readonly #days: MovableDays;
  readonly #rounds: number;
  /** Per day: the number of rounds that found nothing, or `~round` for the round that found something. */
  readonly #states = new DayBytes();

  constructor(toleranceInDays: number, days: MovableDays) {
    this.#days = days;
    this.#rounds = 2 * toleranceInDays;
  }

  /** The day to which the visit of this day moves. */
  dayFor(day: number): number | undefined {
    return this.#find(day, visit);
  }

  /** The day whose visit moves to this one. */
  visitFor(day: number): number | undefined {
    const from = this.#find(day, freeDay);
    return from !== undefined && this.#days.canTake(day) ? from : undefined;
  }

  #find(day: number, side: number): number | undefined {
    const round = this.#roundOf(day, side, this.#rounds);
    return round === undefined ? undefined : day + side * shiftOf(round);
  }

  /** The round in which a day finds its partner, if it is one before `end`. */
  #roundOf(day: number, side: number, end: number): number | undefined {
    let state = this.#states.get(day);
    while (state >= 0 && state < end) {
      const other = day + side * shiftOf(state);
      const isPartner =
        (side === visit ? this.#days.canTake(other) : this.#days.mustMove(other)) &&
        this.#roundOf(other, -side, state) === undefined;
      state = isPartner ? ~state : state + 1;
      this.#states.set(day, state);
    }
    return state < 0 && ~state < end ? ~state : undefined;
  }
}
