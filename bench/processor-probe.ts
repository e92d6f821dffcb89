// Some machines' processors do next to nothing for some hundredths of a second now and then, such as those of guests whose
// host is busy with them. Where the host gives them to others, the guest is told; where they are only slow, it is not. Such
// moments are in every p99, whatever runs: how much of the time they take belongs beside the figures.
import { median } from './statistics.ts';
import { readProcessorTicks, tickMs } from './stolen-time.ts';

const sliceMs = 5;
const stepsBetweenLooks = 1000;
let state = 1;

/** Needs no memory. */
function work(steps: number): void {
  for (let step = 0; step < steps; step++) state = (Math.imul(state, 1664525) + 1013904223) | 0;
}

/** Answers how much was done. */
export function workFor(milliseconds: number): number {
  const endsAt = performance.now() + milliseconds;
  let looks = 0;
  for (; performance.now() < endsAt; looks++) work(stepsBetweenLooks);
  return looks;
}

/** The share of the time in which a processor does less than a third of its usual work. */
export function measureSlowTime(milliseconds: number): number {
  workFor(200);
  const slices = Array.from({ length: milliseconds / sliceMs }, () => workFor(sliceMs));
  const usual = median(slices);
  return slices.filter((done) => done < usual / 3).length / slices.length;
}

const stepsOfLook = 300;

/** What is due so shortly before the processors are slow is still being served then. */
const underWayMs = 15;

/** What is due so shortly after meets what has piled up. */
const recoveryMs = 150;

function timeWork(): number {
  const startedAt = performance.now();
  work(stepsOfLook);
  return performance.now() - startedAt;
}

/** Slow moments while something else is measured, seen by whoever looks about once a millisecond. */
export class SlowMoments {
  readonly #looks: { at: number; cost: number }[] = [];
  readonly #thefts: number[] = [];
  #stolen = readProcessorTicks().stolen;
  #stolenReadAt = performance.now();

  look(): void {
    const at = performance.now();
    // The quickest of three: who has to give the processor away in between loses one of them and not all.
    this.#looks.push({ at, cost: Math.min(timeWork(), timeWork(), timeWork()) });
    // To look for stolen time more often would find nothing more.
    if (at < this.#stolenReadAt + tickMs) return;
    const { stolen } = readProcessorTicks();
    if (stolen > this.#stolen) this.#thefts.push(at);
    this.#stolen = stolen;
    this.#stolenReadAt = at;
  }

  /** Tells of a time whether such a moment has to do with it. */
  toTest(): (at: number) => boolean {
    const usual = median(this.#looks.map(({ cost }) => cost));
    const slow = this.#looks.filter(({ cost }) => cost > 3 * usual).map(({ at }) => at);
    const moments = [...slow, ...this.#thefts];
    return (at) => moments.some((moment) => at > moment - underWayMs && at < moment + recoveryMs);
  }
}
