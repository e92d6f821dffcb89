// Items that arrive together are handled together. An item that is alone never waits for company: it goes with the next
// turn of the event loop. What arrives while a batch runs forms the next one; and where there was company a moment ago,
// the next batch waits a little for those who have just been answered and are about to send again, because a batch
// costs the database about as much as eight rows in it.
//
// Nobody waits long for others: beside a batch that is slow, or full of one tenant's items, the other tenants' items
// form a batch of their own.
import { DeadlineError } from './failures.ts';

/** How long is waited for company, measured by how long the last batch took, and at most. */
const gatheringShare = 0.6;
const longestGatheringMs = 5;

/** A batch that takes longer than this waits for something that has nothing to do with most of its items. */
const slowAfterMs = 25;

/** From this size on a batch can be full of one tenant's items. */
const smallestFlood = 8;

/** A timer for each item would cost more than the item: deadlines are looked at this often instead. */
const deadlineCheckMs = 20;

export interface BatchOptions<Item, Result> {
  /**
   * Answers with one result, one error, or the promise of a result that takes longer, for each item in order. If it
   * throws, all items fail alike.
   */
  run(items: Item[]): Promise<readonly (Result | Error | Promise<Result>)[]>;
  /** Whose item it is. Items of one tenant are never in two batches at the same time. */
  tenantOf(item: Item): string;
  maxItems: number;
}

const maxConcurrent = 4;

interface Entry<Item, Result> {
  item: Item;
  tenant: string;
  deadline: number;
  resolve: (result: Result | Promise<Result>) => void;
  reject: (error: unknown) => void;
}

interface Running<Item, Result> {
  entries: readonly Entry<Item, Result>[];
  tenants: ReadonlySet<string>;
  isFlood: boolean;
  startedAt: number;
}

export class Batch<Item, Result> {
  readonly #options: BatchOptions<Item, Result>;
  #waiting: Entry<Item, Result>[] = [];
  readonly #running = new Set<Running<Item, Result>>();
  #isScheduled = false;
  #gatherUntil = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: BatchOptions<Item, Result>) {
    this.#options = options;
  }

  /** `deadline` is a time of performance.now(); past it the item fails, and if it was not sent yet it never is. */
  add(item: Item, deadline: number): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, tenant: this.#options.tenantOf(item), deadline, resolve, reject });
      this.#timer ??= setInterval(() => this.#lookAtTheClock(), deadlineCheckMs);
      this.#schedule();
    });
  }

  #schedule(): void {
    if (this.#isScheduled || this.#waiting.length === 0) return;
    this.#isScheduled = true;
    const start = () => {
      this.#isScheduled = false;
      const entries = this.#takeStartable();
      if (entries.length > 0) void this.#start(entries);
    };
    const gatheringMs = this.#running.size === 0 ? this.#gatherUntil - performance.now() : 0;
    if (gatheringMs >= 1) setTimeout(start, gatheringMs);
    else setImmediate(start);
  }

  /** Takes what may go now from those who wait. */
  #takeStartable(): Entry<Item, Result>[] {
    const { maxItems } = this.#options;
    if (this.#running.size === 0) return this.#waiting.splice(0, maxItems);
    if (this.#running.size >= maxConcurrent) return [];
    const now = performance.now();
    const running = [...this.#running];
    if (!running.every(({ isFlood, startedAt }) => isFlood || startedAt < now - slowAfterMs)) return [];
    const isStartable = ({ tenant }: Entry<Item, Result>) =>
      running.every(({ tenants }) => !tenants.has(tenant));
    const startable = this.#waiting.filter(isStartable).slice(0, maxItems);
    if (startable.length > 0) {
      const started = new Set(startable);
      this.#waiting = this.#waiting.filter((entry) => !started.has(entry));
    }
    return startable;
  }

  async #start(entries: readonly Entry<Item, Result>[]): Promise<void> {
    const startedAt = performance.now();
    const running = { entries, startedAt, ...countTenants(entries) };
    this.#running.add(running);
    try {
      const results = await this.#options.run(entries.map(({ item }) => item));
      entries.forEach(({ resolve, reject }, index) => {
        const result = results[index]!;
        if (result instanceof Error) reject(result);
        else resolve(result);
      });
      this.#awaitLonger(entries, results, startedAt);
    } catch (error) {
      for (const { reject } of entries) reject(error);
    }
    this.#running.delete(running);
    const now = performance.now();
    const hadCompany = entries.length > 1;
    this.#gatherUntil =
      now + (hadCompany ? Math.min((now - startedAt) * gatheringShare, longestGatheringMs) : 0);
    this.#schedule();
  }

  /** What takes longer than the rest of its batch still keeps its tenant out of others, until it is done itself. */
  #awaitLonger(
    entries: readonly Entry<Item, Result>[],
    results: readonly unknown[],
    startedAt: number,
  ): void {
    const longer = entries.filter((_, index) => results[index] instanceof Promise);
    if (longer.length === 0) return;
    const running = { entries: longer, startedAt, ...countTenants(longer) };
    this.#running.add(running);
    for (const [tenant, own] of Map.groupBy(entries.keys(), (index) => entries[index]!.tenant)) {
      void Promise.allSettled(own.map((index) => results[index])).then(() => {
        running.tenants.delete(tenant);
        if (running.tenants.size === 0) this.#running.delete(running);
        this.#schedule();
      });
    }
  }

  /** Fails what is late, and starts what need not wait for a slow batch. What was sent is answered all the same, but to nobody. */
  #lookAtTheClock(): void {
    const now = performance.now();
    const isLate = ({ deadline }: Entry<Item, Result>) => deadline <= now;
    const sent = [...this.#running].flatMap(({ entries }) => entries);
    const late = [...this.#waiting, ...sent].filter(isLate);
    if (late.length > 0) this.#waiting = this.#waiting.filter((entry) => !isLate(entry));
    for (const { reject } of late) reject(new DeadlineError('The database did not answer in time.'));
    this.#schedule();
    if (this.#waiting.length > 0 || this.#running.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}

function countTenants(entries: readonly { tenant: string }[]) {
  const counts = new Map<string, number>();
  for (const { tenant } of entries) counts.set(tenant, (counts.get(tenant) ?? 0) + 1);
  const most = Math.max(...counts.values());
  return {
    tenants: new Set(counts.keys()),
    isFlood: most >= smallestFlood && most > entries.length / 2,
  };
}
