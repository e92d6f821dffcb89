// Items that arrive together are handled together. An item never waits for company: whatever has arrived by the
// next turn of the event loop goes at once, and what arrives while `maxConcurrent` batches run forms the next one.
import { requestDeadlineMs } from './database.ts';
import { DeadlineError } from './failures.ts';

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
    setImmediate(() => {
      this.#isScheduled = false;
      void this.#flush();
    });
  }

  async #flush(): Promise<void> {
    const batch = this.#waiting.splice(0, this.#maxItems).filter((entry) => !entry.isSettled);
    if (batch.length > 0) {
      this.#running++;
      this.#schedule();
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
    }
    this.#schedule();
  }
}
