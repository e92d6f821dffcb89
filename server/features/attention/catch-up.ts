// Goes on judging behind a request that ran out of time. A retry then finds the verdicts.
import { Pace } from '../../../core/pace.ts';
import { report } from '../../database/background.ts';
import { isOverloaded } from '../../database/errors.ts';
import type { Pass } from './attention-passes.ts';
import { firstPlace, type Place, type Reader, readPart } from './attention-scan.ts';

const partMs = 30_000;

export class CatchUp {
  readonly #passes: readonly Pass[];
  readonly #running = new Map<string, Promise<unknown>>();
  #isStopped = false;

  constructor(passes: readonly Pass[]) {
    this.#passes = passes.filter(({ isJudged }) => isJudged);
  }

  async behind<Result>(reader: Reader, read: () => Promise<Result>): Promise<Result> {
    try {
      return await read();
    } catch (error) {
      if (isOverloaded(error)) this.#start(reader);
      throw error;
    }
  }

  /** One at a time for each business. */
  #start({ database, tenantId, log }: Reader): void {
    if (this.#isStopped || this.#running.has(tenantId)) return;
    const judgeAll = async () => {
      for (let place: Place | undefined = firstPlace; place && !this.#isStopped; ) {
        const deadline = performance.now() + partMs;
        place = (await readPart({ database, tenantId, log, deadline, pace: new Pace() }, this.#passes, place))
          .next;
      }
    };
    const running = report('attention', judgeAll).finally(() => this.#running.delete(tenantId));
    this.#running.set(tenantId, running);
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await Promise.all(this.#running.values());
  }
}
