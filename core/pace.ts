// Long work in short turns: it gives the event loop back every 3 ms, and ends with the request that wants it.

/** Work that yields between steps. No step may grow with the data. */
export type Steps<Result> = Generator<undefined, Result, undefined>;

/** A small request of another tenant waits for several turns. Longer ones would make it three times as slow. */
const turnMs = 3;

let taken = 0;

/** Steps that this process has taken, for tests that hold work to linear growth. */
export function countSteps(): number {
  return taken;
}

/** Runs all steps without a pause: nobody else waits. */
export function runNow<Result>(work: Steps<Result>): Result {
  for (;;) {
    const step = work.next();
    taken++;
    if (step.done) return step.value;
  }
}

export class Pace {
  readonly #demandTime: () => void;
  #turnEnds = performance.now() + turnMs;

  /** `demandTime` throws once nobody wants the result any more, or it would come too late. */
  constructor(demandTime: () => void = () => {}) {
    this.#demandTime = demandTime;
  }

  async run<Result>(work: Steps<Result>): Promise<Result> {
    for (;;) {
      const step = work.next();
      const wait = this.step();
      if (wait) await wait;
      if (step.done) return step.value;
    }
  }

  /** Ends a step, and the turn if it was long enough. Waits for others only then. */
  step(): Promise<void> | undefined {
    taken++;
    return performance.now() < this.#turnEnds ? undefined : this.#giveWay();
  }

  async #giveWay(): Promise<void> {
    await nextTurn();
    this.#demandTime();
    this.#turnEnds = performance.now() + turnMs;
  }
}

/** Browsers have no setImmediate. */
function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    if (typeof setImmediate === 'function') setImmediate(resolve);
    else setTimeout(resolve, 0);
  });
}
