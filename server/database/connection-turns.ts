// Shares scarce connections between tenants. Each tenant has its own queues, and the queues take turns. One tenant
// never holds more than half of the connections.
import { ApiError } from '../errors.ts';

/** A tenant's queue: long reads have one of their own. */
export interface Turn {
  name: string;
  isRead: boolean;
}

/** Two reads keep two cores busy. More would starve other tenants. */
const mostReadsAtBest = 2;

interface Waiting {
  start(): void;
}

interface Queue {
  most: number;
  taken: number;
  waiting: Waiting[];
}

export class ConnectionTurns {
  readonly #most: number;
  readonly #mostReads: number;
  readonly #mostOthers: number;
  #taken = 0;
  #releases = 0;
  readonly #queues = new Map<string, Queue>();
  /** Queues that are not empty, in the order of their turns. */
  readonly #inTurn = new Set<Queue>();

  /** Reserves some connections for statements without a tenant, such as key look-ups. */
  constructor(poolSize: number) {
    this.#most = Math.max(1, poolSize - Math.max(1, Math.floor(poolSize / 8)));
    const half = Math.ceil(this.#most / 2);
    this.#mostReads = Math.min(mostReadsAtBest, Math.max(1, Math.floor(half / 2)));
    this.#mostOthers = Math.max(1, half - this.#mostReads);
  }

  /**
   * Takes a connection immediately, or promises one before `deadline`, a time of performance.now(). `toError` makes the
   * error of a wait that another tenant or the database caused.
   */
  take(turn: Turn, deadline: number, toError: () => Error): Promise<void> | undefined {
    const queue = this.#queueOf(turn);
    if (this.#taken < this.#most && queue.taken < queue.most) {
      this.#taken++;
      queue.taken++;
      return undefined;
    }
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const releasesBefore = this.#releases;
    const giveUp = () => {
      queue.waiting.splice(queue.waiting.indexOf(waiting), 1);
      if (queue.waiting.length === 0) this.#inTurn.delete(queue);
      this.#forgetIdle(turn, queue);
      // A hanging database releases nothing. A working one has too many reads of this tenant.
      const isOwnFault = turn.isRead && this.#releases > releasesBefore;
      reject(isOwnFault ? new ApiError('too_many_at_once') : toError());
    };
    const timer = setTimeout(giveUp, Math.max(deadline - performance.now(), 1));
    const waiting = {
      start() {
        clearTimeout(timer);
        resolve();
      },
    };
    queue.waiting.push(waiting);
    this.#inTurn.add(queue);
    return promise;
  }

  get waiting(): number {
    let count = 0;
    for (const queue of this.#inTurn) count += queue.waiting.length;
    return count;
  }

  release(turn: Turn): void {
    const queue = this.#queueOf(turn);
    this.#releases++;
    this.#taken--;
    queue.taken--;
    while (this.#taken < this.#most && this.#startNext());
    this.#forgetIdle(turn, queue);
  }

  #queueOf(turn: Turn): Queue {
    const key = keyOf(turn);
    const known = this.#queues.get(key);
    if (known) return known;
    const queue = { most: turn.isRead ? this.#mostReads : this.#mostOthers, taken: 0, waiting: [] };
    this.#queues.set(key, queue);
    return queue;
  }

  #forgetIdle(turn: Turn, queue: Queue): void {
    if (queue.taken === 0 && queue.waiting.length === 0) this.#queues.delete(keyOf(turn));
  }

  /** False if no waiting queue may take a connection. */
  #startNext(): boolean {
    for (const queue of this.#inTurn) {
      if (queue.taken >= queue.most) continue;
      this.#taken++;
      queue.taken++;
      queue.waiting.shift()!.start();
      this.#inTurn.delete(queue);
      if (queue.waiting.length > 0) this.#inTurn.add(queue);
      return true;
    }
    return false;
  }
}

function keyOf({ name, isRead }: Turn): string {
  return isRead ? `reads of ${name}` : name;
}
