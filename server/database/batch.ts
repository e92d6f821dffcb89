// Items that arrive together are handled together. An item that is alone never waits for company: it goes with the next
// turn of the event loop. What arrives while `maxConcurrent` batches run forms the next one; and where there was company
// a moment ago, the next batch waits a little for those who have just been answered and are about to send again, because
// a batch costs the database about as much as eight rows in it.
import { requestDeadlineMs } from './database.ts';
import { DeadlineError } from './failures.ts';

/** How long is waited for company, measured by how long the last batch took, and at most. */
const gatheringShare = 0.6;
const longestGatheringMs = 5;

/** A timer for each item would cost more than the item: deadlines are looked at this often instead. */
const deadlineCheckMs = 20;

interface Entry<Item, Result> {
  item: Item;
  deadline: number;
  resolve: (result: Result) => void;
  reject: (error: unknown) => void;
}

export class Batch<Item, Result> {
  readonly #run: (items: Item[]) => Promise<readonly (Result | Error)[]>;
  readonly #maxItems: number;
  readonly #maxConcurrent: number;
  #waiting: Entry<Item, Result>[] = [];
  readonly #running = new Set<Entry<Item, Result>[]>();
  #isScheduled = false;
  #gatherUntil = 0;
  #deadlineTimer: NodeJS.Timeout | undefined;

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
      this.#waiting.push({ item, deadline, resolve, reject });
      this.#deadlineTimer ??= setInterval(() => this.#failLate(), deadlineCheckMs);
      this.#schedule();
    });
  }

  #schedule(): void {
    if (this.#isScheduled || this.#running.size >= this.#maxConcurrent || this.#waiting.length === 0) return;
    this.#isScheduled = true;
    const flush = () => {
      this.#isScheduled = false;
      void this.#flush();
    };
    const gatheringMs = this.#gatherUntil - performance.now();
    if (gatheringMs >= 1) setTimeout(flush, gatheringMs);
    else setImmediate(flush);
  }

  async #flush(): Promise<void> {
    const batch = this.#waiting.splice(0, this.#maxItems);
    if (batch.length === 0) return;
    const startedAt = performance.now();
    this.#running.add(batch);
    this.#schedule();
    try {
      const results = await this.#run(batch.map(({ item }) => item));
      batch.forEach(({ resolve, reject }, index) => {
        const result = results[index]!;
        if (result instanceof Error) reject(result);
        else resolve(result);
      });
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
    this.#running.delete(batch);
    const now = performance.now();
    const hadCompany = batch.length > 1;
    this.#gatherUntil =
      now + (hadCompany ? Math.min((now - startedAt) * gatheringShare, longestGatheringMs) : 0);
    this.#schedule();
  }

  /** What was sent is answered all the same, but nobody waits for the answer any more. */
  #failLate(): void {
    const now = performance.now();
    const isLate = ({ deadline }: Entry<Item, Result>) => deadline <= now;
    const late = [this.#waiting, ...this.#running].flatMap((entries) => entries.filter(isLate));
    if (late.length > 0) this.#waiting = this.#waiting.filter((entry) => !isLate(entry));
    for (const { reject } of late) reject(new DeadlineError('The database did not answer in time.'));
    if (this.#waiting.length > 0 || this.#running.size > 0) return;
    clearInterval(this.#deadlineTimer);
    this.#deadlineTimer = undefined;
  }
}
