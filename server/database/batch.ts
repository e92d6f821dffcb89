// Items that arrive together are handled together. An item that is alone never waits for company: it goes with the next
// turn of the event loop. What arrives while `maxConcurrent` batches run forms the next one; and where there was company
// a moment ago, the next batch waits a little for those who have just been answered and are about to send again, because
// a batch costs the database about as much as eight rows in it.
import { requestDeadlineMs } from './database.ts';
import { DeadlineError } from './failures.ts';

/** How long is waited for company, measured by how long the last batch took, and at most. */
const gatheringShare = 0.6;
const longestGatheringMs = 5;

interface Waiting<Item, Result> {
  item: Item;
  resolve: (result: Result) => void;
  reject: (error: unknown) => void;
  isSettled: boolean;
}

export class Batch<Item, Result> {
  readonly #run: (items: Item[]) => Promise<readonly (Result | Error)[]>;
  readonly #maxItems: number;
  readonly #maxConcurrent: number;
  #waiting: Waiting<Item, Result>[] = [];
  #running = 0;
  #isScheduled = false;
  #gatherUntil = 0;

  /** `run` answers with one result, or one error, for each item in order; if it throws, all items fail alike. */
  constructor(options: {
    run: (items: Item[]) => Promise<readonly (Result | Error)[]>;
    maxItems: number;
    maxConcurrent: number;
  }) {
    this.#run = options.run;
    this.#maxItems = options.maxItems;
    this.#maxConcurrent = options.maxConcurrent;
  }

  /** `deadline` is a time of performance.now(); past it the item fails, and if it was not sent yet it never is. */
  add(item: Item, deadline = performance.now() + requestDeadlineMs): Promise<Result> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(
        () => settle(() => reject(new DeadlineError('The database did not answer in time.'))),
        deadline - performance.now(),
      );
      const settle = (finish: () => void) => {
        entry.isSettled = true;
        clearTimeout(timer);
        finish();
      };
      const entry: Waiting<Item, Result> = {
        item,
        resolve: (result) => settle(() => resolve(result)),
        reject: (error) => settle(() => reject(error)),
        isSettled: false,
      };
      this.#waiting.push(entry);
      this.#schedule();
    });
  }

  #schedule(): void {
    if (this.#isScheduled || this.#running >= this.#maxConcurrent || this.#waiting.length === 0) return;
    this.#isScheduled = true;
    const flush = () => {
      this.#isScheduled = false;
      void this.#flush();
    };
    const rest = this.#gatherUntil - performance.now();
    if (rest >= 1) setTimeout(flush, rest);
    else setImmediate(flush);
  }

  async #flush(): Promise<void> {
    const batch = this.#waiting.splice(0, this.#maxItems).filter((entry) => !entry.isSettled);
    if (batch.length > 0) {
      this.#running++;
      this.#schedule();
      const startedAt = performance.now();
      try {
        const results = await this.#run(batch.map((entry) => entry.item));
        batch.forEach((entry, index) => {
          const result = results[index]!;
          if (result instanceof Error) entry.reject(result);
          else entry.resolve(result);
        });
      } catch (error) {
        for (const entry of batch) entry.reject(error);
      }
      this.#running--;
      const now = performance.now();
      const pauseMs = batch.length > 1 ? Math.min((now - startedAt) * gatheringShare, longestGatheringMs) : 0;
      this.#gatherUntil = now + pauseMs;
    }
    this.#schedule();
  }
}
