// Handles items together that arrive together. A lone item goes on the next tick. Items that arrive while a batch runs
// form the next one. A batch costs the database about as much as eight rows in it. So after a batch of several items
// the next one waits a few milliseconds. It starts when it is as large, or when no item joins.
//
// If a batch is slow, or mostly of one tenant, the items of other tenants form their own batch.
import { topics } from '../telemetry/topics.ts';
import { startBatchSpan } from '../telemetry/tracing.ts';
import { currentWork, Work } from '../telemetry/work.ts';
import { DeadlineError } from './errors.ts';

/** A slower batch waits for a lock or the disk, which most of its items do not need. */
const slowAfterMs = 25;

/** Smallest batch that can count as full of one tenant's items. */
const smallestFlood = 8;

/** Interval of deadline checks: a timer per item would cost more than the item. */
const deadlineCheckMs = 20;

export interface BatcherOptions<Item, Result> {
  /** The name in metrics and traces. */
  kind: string;
  /**
   * Returns for each item, in order, a result, an error, or the promise of a slower result. If it throws, all items
   * fail with that error.
   */
  run(items: Item[]): Promise<readonly (Result | Error | Promise<Result>)[]>;
  /** Items of one tenant are never in two batches at the same time. */
  tenantOf(item: Item): string;
  maxItems: number;
  /** How long after the start of the last batch the next one may still wait for further items. */
  paceMs: number;
  /** Whether a result took no write. The batch after one that only read does not wait. */
  isRead?(result: Result | Error): boolean;
  /** Whether the database has answered anything since then, a time of performance.now(). */
  hasAnsweredSince(time: number): boolean;
}

const maxConcurrent = 4;

interface Entry<Item, Result> {
  item: Item;
  tenant: string;
  deadline: number;
  addedAt: number;
  /** The request that waits for it. */
  work: Work | undefined;
  resolve: (result: Result) => void;
  reject: (error: unknown) => void;
}

interface Running<Item, Result> {
  entries: readonly Entry<Item, Result>[];
  tenants: ReadonlySet<string>;
  isFlood: boolean;
  startedAt: number;
}

export class Batcher<Item, Result> {
  readonly #options: BatcherOptions<Item, Result>;
  #waiting: Entry<Item, Result>[] = [];
  readonly #running = new Set<Running<Item, Result>>();
  #isScheduled = false;
  /** Start and size of the last batch. */
  #startedAt = 0;
  #answered = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: BatcherOptions<Item, Result>) {
    this.#options = options;
  }

  /** `deadline` is a time of performance.now(). A late item fails, and is not sent if it still waits. */
  add(item: Item, deadline: number): Promise<Result> {
    return new Promise((resolve, reject) => {
      const tenant = this.#options.tenantOf(item);
      const [addedAt, work] = [performance.now(), currentWork.getStore()];
      this.#waiting.push({ item, tenant, deadline, addedAt, work, resolve, reject });
      this.#timer ??= setInterval(() => this.#lookAtTheClock(), deadlineCheckMs);
      this.#schedule();
    });
  }

  #schedule(): void {
    if (this.#isScheduled || this.#waiting.length === 0) return;
    this.#isScheduled = true;
    if (this.#running.size === 0 && this.#isWorthWaiting()) this.#gather();
    else setImmediate(() => this.#go());
  }

  #isWorthWaiting(): boolean {
    const hadCompany = this.#answered > 1;
    const isComplete = this.#waiting.length >= this.#answered;
    return hadCompany && !isComplete && performance.now() < this.#startedAt + this.#options.paceMs;
  }

  /** Waits while items join. */
  #gather(): void {
    const seen = this.#waiting.length;
    setTimeout(() => {
      if (this.#waiting.length > seen && this.#isWorthWaiting()) this.#gather();
      else this.#go();
    }, 1);
  }

  #go(): void {
    this.#isScheduled = false;
    const entries = this.#takeStartable();
    if (entries.length > 0) void this.#start(entries);
  }

  /** Takes the waiting items that may start now. */
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
    this.#startedAt = startedAt;
    this.#running.add(running);
    try {
      const results = await this.#run(entries, startedAt);
      this.#end(running);
      const { isRead } = this.#options;
      if (isRead && results.every((result) => !(result instanceof Promise) && isRead(result)))
        this.#answered = 1;
      this.#awaitLonger(entries, results, startedAt);
      // Send the next batch before answering this one: the database works meanwhile.
      if (this.#running.size === 0 && this.#waiting.length >= entries.length) {
        this.#go();
        setImmediate(answer, entries, results);
      } else answer(entries, results);
    } catch (error) {
      this.#end(running);
      for (const { reject } of entries) reject(error);
    }
    this.#schedule();
  }

  /** Its time counts for each request in it. */
  async #run(entries: readonly Entry<Item, Result>[], startedAt: number) {
    const { kind, run } = this.#options;
    const works = entries.flatMap(({ work }) => work ?? []);
    const batch = works.length > 0 ? new Work() : undefined;
    if (batch) batch.span = startBatchSpan(kind, works);
    for (const { work, addedAt } of entries) if (work) work.batchWaitMs += startedAt - addedAt;
    const items = entries.map(({ item }) => item);
    try {
      return await currentWork.run(batch, run, items);
    } finally {
      batch?.span?.end();
      topics.batch.publish({ kind, items: items.length, seconds: (performance.now() - startedAt) / 1000 });
      if (batch) for (const { work } of entries) work?.add(batch);
    }
  }

  #end(running: Running<Item, Result>): void {
    this.#running.delete(running);
    this.#answered = running.entries.length;
  }

  /** A slow item keeps its tenant out of other batches until it is done. */
  #awaitLonger(
    entries: readonly Entry<Item, Result>[],
    results: readonly unknown[],
    startedAt: number,
  ): void {
    const longer = entries.filter((_, index) => results[index] instanceof Promise);
    if (longer.length === 0) return;
    countLonger(entries, results);
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

  /** Fails late items, and starts items that need not wait for a slow batch. The result of a late item is dropped. */
  #lookAtTheClock(): void {
    const now = performance.now();
    const isLate = ({ deadline }: Entry<Item, Result>) => deadline <= now;
    const sent = [...this.#running].flatMap(({ entries }) => entries).filter(isLate);
    const unsent = this.#waiting.filter(isLate);
    for (const { work, addedAt } of unsent) if (work) work.batchWaitMs += now - addedAt;
    for (const { entries, startedAt } of this.#running) countLate(entries.filter(isLate), now - startedAt);
    if (unsent.length > 0) this.#waiting = this.#waiting.filter((entry) => !isLate(entry));
    const { hasAnsweredSince } = this.#options;
    for (const { reject, addedAt } of sent) {
      const isBusy = hasAnsweredSince(addedAt);
      reject(new DeadlineError('The database did not answer in time.', { wasSent: true, isBusy }));
    }
    for (const { reject, addedAt } of unsent)
      reject(new DeadlineError('No batch was free in time.', { isBusy: hasAnsweredSince(addedAt) }));
    this.#schedule();
    if (this.#waiting.length > 0 || this.#running.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}

/** The time of a slower result counts for its request too. */
function countLonger(entries: readonly Entry<unknown, never>[], results: readonly unknown[]): void {
  const since = performance.now();
  for (const [index, { work }] of entries.entries()) {
    const result = results[index];
    if (!work || !(result instanceof Promise)) continue;
    const count = () => {
      work.databaseMs += performance.now() - since;
    };
    result.then(count, count);
  }
}

/** A batch that hangs cannot say where the time goes. Each item is counted once. */
function countLate(late: readonly Pick<Entry<unknown, never>, 'work'>[], batchMs: number): void {
  for (const entry of late) {
    if (entry.work) entry.work.databaseMs += batchMs;
    entry.work = undefined;
  }
}

function answer<Item, Result>(
  entries: readonly Entry<Item, Result>[],
  results: readonly (Result | Error | Promise<Result>)[],
): void {
  entries.forEach(({ resolve, reject }, index) => {
    const result = results[index]!;
    if (result instanceof Error) reject(result);
    // It can still miss its deadline.
    else if (result instanceof Promise) result.then(resolve, reject);
    else resolve(result);
  });
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
