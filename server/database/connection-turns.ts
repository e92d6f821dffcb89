// Shares out scarce connections. Each tenant waits in its own queue, the queues take turns, and one tenant never holds
// more than half of the connections.
import { DeadlineError } from './errors.ts';

interface Waiting {
  start(): void;
}

export class ConnectionTurns {
  readonly #most: number;
  readonly #mostOfTenant: number;
  #taken = 0;
  readonly #takenBy = new Map<string, number>();
  /** Only tenants that wait, in the order of their turns. */
  readonly #queues = new Map<string, Waiting[]>();

  /** Leaves some connections of the pool to statements of no tenant, such as key look-ups, which take no turn. */
  constructor(poolSize: number) {
    this.#most = Math.max(1, poolSize - Math.max(1, Math.floor(poolSize / 8)));
    this.#mostOfTenant = Math.ceil(this.#most / 2);
  }

  /** Takes a connection immediately, or promises one before `deadline`, a time of performance.now(). */
  take(tenant: string, deadline: number): Promise<void> | undefined {
    if (this.#taken < this.#most && this.#mayTake(tenant)) {
      this.#add(tenant, 1);
      return undefined;
    }
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const queue = this.#queues.get(tenant) ?? [];
    const timer = setTimeout(() => {
      queue.splice(queue.indexOf(waiting), 1);
      if (queue.length === 0) this.#queues.delete(tenant);
      reject(new DeadlineError('No connection was free in time.'));
    }, deadline - performance.now());
    const waiting = {
      start() {
        clearTimeout(timer);
        resolve();
      },
    };
    queue.push(waiting);
    this.#queues.set(tenant, queue);
    return promise;
  }

  release(tenant: string): void {
    this.#add(tenant, -1);
    while (this.#taken < this.#most && this.#startNext());
  }

  #mayTake(tenant: string): boolean {
    return (this.#takenBy.get(tenant) ?? 0) < this.#mostOfTenant;
  }

  #add(tenant: string, change: 1 | -1): void {
    this.#taken += change;
    const taken = (this.#takenBy.get(tenant) ?? 0) + change;
    if (taken > 0) this.#takenBy.set(tenant, taken);
    else this.#takenBy.delete(tenant);
  }

  /** False where nobody who waits may take a connection. */
  #startNext(): boolean {
    for (const [tenant, queue] of this.#queues) {
      if (!this.#mayTake(tenant)) continue;
      this.#queues.delete(tenant);
      this.#add(tenant, 1);
      queue.shift()!.start();
      if (queue.length > 0) this.#queues.set(tenant, queue);
      return true;
    }
    return false;
  }
}
