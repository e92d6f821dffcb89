// Heavy reads of one tenant take turns: each worker runs one at a time. More would take the processor from small requests of
// other tenants. A streamed answer takes a turn per piece.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ApiError } from '../errors.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Undefined for a request that reads little. */
    heavyRead: HeavyRead | undefined;
  }
  interface FastifyContextConfig {
    /** Whether requests read much, or which of them do. */
    isHeavyRead?: boolean | ((query: Record<string, unknown>) => boolean);
  }
}

/** A page of so many rows is small, even if each is as large as a body may be. */
const mostSmallRows = 10;

/** Weight of a list. A row's weight is unknown before it is read, so the requested number of rows decides. */
export function isLargePage({ limit, q, count, include }: Record<string, unknown>): boolean {
  return !(Number(limit) <= mostSmallRows) || q !== undefined || count === 'true' || include !== undefined;
}

interface Waiting {
  queue: string;
  start(): void;
}

interface Turns {
  waiting: Waiting[];
  lastQueue: string;
  ended: number;
}

export class HeavyReads {
  /** Holds only tenants with a turn under way. */
  readonly #tenants = new Map<string, Turns>();

  /** Takes the tenant's turn, or waits for it until `deadline`, a time of performance.now(). */
  async take(tenantId: string, queue: string, deadline: number, left: AbortSignal): Promise<void> {
    const turns = this.#tenants.get(tenantId);
    if (turns) return waitIn(turns, queue, deadline, left);
    this.#tenants.set(tenantId, { waiting: [], lastQueue: queue, ended: 0 });
  }

  /** Queues alternate: a flood from the ERP must not lock the office out, nor the reverse. */
  end(tenantId: string): void {
    const turns = this.#tenants.get(tenantId)!;
    turns.ended++;
    const other = turns.waiting.findIndex(({ queue }) => queue !== turns.lastQueue);
    const [next] = turns.waiting.splice(Math.max(other, 0), 1);
    if (!next) return void this.#tenants.delete(tenantId);
    turns.lastQueue = next.queue;
    next.start();
  }
}

function waitIn(turns: Turns, queue: string, deadline: number, left: AbortSignal): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const endedBefore = turns.ended;
  const stop = () => {
    clearTimeout(timer);
    left.removeEventListener('abort', giveUp);
  };
  const waiting = {
    queue,
    start() {
      stop();
      resolve();
    },
  };
  const giveUp = () => {
    stop();
    turns.waiting.splice(turns.waiting.indexOf(waiting), 1);
    // If no turn ended, the service hangs. Otherwise the tenant sends more than its share.
    reject(new ApiError(turns.ended > endedBefore ? 'too_many_at_once' : 'overloaded'));
  };
  const waitMs = Math.max(deadline - performance.now(), 1);
  const timer = waitMs < Number.POSITIVE_INFINITY ? setTimeout(giveUp, waitMs) : undefined;
  left.addEventListener('abort', giveUp);
  turns.waiting.push(waiting);
  if (left.aborted) giveUp();
  return promise;
}

/** The turns of one request. */
export class HeavyRead {
  readonly #reads: HeavyReads;
  readonly #tenantId: string;
  readonly #queue: string;
  readonly #left = new AbortController();
  #isTaken = false;

  constructor(reads: HeavyReads, tenantId: string, queue: string, reply: FastifyReply) {
    this.#reads = reads;
    this.#tenantId = tenantId;
    this.#queue = queue;
    if (reply.raw.destroyed) this.#left.abort();
    else reply.raw.once('close', () => this.#left.abort());
  }

  /** Without a deadline it waits until the client leaves. */
  async begin(deadline = Number.POSITIVE_INFINITY): Promise<void> {
    await this.#reads.take(this.#tenantId, this.#queue, deadline, this.#left.signal);
    this.#isTaken = true;
  }

  end(): void {
    if (!this.#isTaken) return;
    this.#isTaken = false;
    this.#reads.end(this.#tenantId);
  }
}

/** Call it last: the turn lasts until all other hooks are done with the answer. */
export function addHeavyReads(scope: FastifyInstance, reads: HeavyReads): void {
  scope.addHook('preHandler', (request, reply, done) => {
    if (!isHeavy(request)) return done();
    const { tenantId, session } = request;
    const read = new HeavyRead(reads, tenantId, session ? 'session' : 'key', reply);
    awaitTurn(request, read).then(() => done(), done);
  });
  // Do not end it when the client leaves: the requested work goes on.
  scope.addHook('onSend', (request, _reply, payload, done) => {
    request.heavyRead?.end();
    done(null, payload);
  });
}

/** The turn ends with the request. */
export async function awaitTurn(request: FastifyRequest, read: HeavyRead): Promise<void> {
  request.heavyRead = read;
  const now = performance.now();
  // Half of the time is left for the work.
  await read.begin(now + (request.deadline - now) / 2).finally(() => {
    request.work.turnWaitMs = performance.now() - now;
  });
}

function isHeavy({ routeOptions, query }: FastifyRequest): boolean {
  const { isHeavyRead = false } = routeOptions.config;
  return typeof isHeavyRead === 'function' ? isHeavyRead(query as Record<string, unknown>) : isHeavyRead;
}
