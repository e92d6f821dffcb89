// Where the host of a virtual machine gives its processors to others, a figure is the host's and not ours. That passes
// mostly, so what is measured waits for it; but it does not wait for ever, and the results say how long it did.
import { availableParallelism } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { runOwn } from './processes.ts';
import { watchStolenTime } from './stolen-time.ts';

/** More than this share of the processors' time is in the way. */
const mostStolen = 0.05;

/** Nothing is stolen from a processor that nobody wants, so each is kept busy for a look. */
const lookMs = 500;
const usualRestMs = 10_000;

export class Patience {
  readonly #mostMs: number;
  readonly #restMs: number;
  readonly #look: () => Promise<number>;
  #waitedMs = 0;

  /** `look` answers with the share of the processors' time that is stolen just now. */
  constructor({
    mostMs,
    restMs = usualRestMs,
    look = lookForStolenTime,
  }: {
    mostMs: number;
    restMs?: number;
    look?: () => Promise<number>;
  }) {
    this.#mostMs = mostMs;
    this.#restMs = restMs;
    this.#look = look;
  }

  get waitedSeconds(): number {
    return Math.round(this.#waitedMs / 1000);
  }

  async untilQuiet(): Promise<void> {
    while (this.#waitedMs < this.#mostMs && (await this.#look()) > mostStolen) {
      await sleep(this.#restMs);
      this.#waitedMs += this.#restMs;
    }
  }
}

async function lookForStolenTime(): Promise<number> {
  const stolen = watchStolenTime();
  const spinners = Array.from({ length: availableParallelism() }, () =>
    runOwn('spinner.ts', { milliseconds: lookMs }, 60),
  );
  await Promise.all(spinners);
  // Where nobody counts it, there is nothing to wait for.
  return stolen.stop() ?? 0;
}
