// Sends what the journal has to the endpoints. A lease in PostgreSQL makes one process the only sender of an endpoint. A
// process that dies or hangs loses its leases within seconds. The cursor moves after the receiver has answered, so a crash
// repeats a message and never loses one.
import type { FastifyBaseLogger } from 'fastify';
import { reportFailure } from '../../database/background.ts';
import type { Database } from '../../database/database.ts';
import type { Definition } from '../../engine/definition/definition.ts';
import { pauseSecondsAfter } from '../../http/retry-pauses.ts';
import type { Notices } from '../../mail/notices.ts';
import { topics } from '../../telemetry/topics.ts';
import { endSpan, startDeliverySpan } from '../../telemetry/tracing.ts';
import {
  type Claim,
  readState,
  recordFailure,
  recordSuccess,
  release,
  type State,
  skipMissing,
  skipTo,
} from './cursor.ts';
import { headersOf, type Message, readMessages } from './events.ts';
import { type OutgoingConfig, openAgent, send } from './outgoing-request.ts';

export interface SenderLimits {
  pollMs: number;
  leaseMs: number;
  /** An endpoint with a long backlog lets others have their turn after this time. */
  turnMs: number;
  /** Endpoints that are sent to at the same time. */
  mostEndpoints: number;
  giveUpAfterSeconds: number;
  pauseSeconds(failures: number, retryAfterSeconds: number | undefined): number;
}

const defaultLimits: SenderLimits = {
  pollMs: 1000,
  leaseMs: 6000,
  turnMs: 10_000,
  mostEndpoints: 500,
  giveUpAfterSeconds: 3 * 24 * 3600,
  pauseSeconds: pauseSecondsAfter,
};

/** How long a stop waits for requests that are under way. */
const stopAfterMs = 2000;

interface SenderOptions {
  config: OutgoingConfig;
  database: Database;
  resources: readonly Definition[];
  notices: Notices;
  log: FastifyBaseLogger;
  limits?: Partial<SenderLimits>;
}

/** A lease of this process, and until when it is certain. */
interface Held extends Claim {
  /** A time of performance.now(). */
  validUntil: number;
  expiry: NodeJS.Timeout;
  lost: AbortController;
}

export class WebhookSender {
  readonly #options: SenderOptions;
  readonly #limits: SenderLimits;
  readonly #held = new Map<string, Held>();
  readonly #turns = new Set<Promise<void>>();
  readonly #stopping = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  #polling: Promise<void> | undefined;

  constructor(options: SenderOptions) {
    this.#options = options;
    this.#limits = { ...defaultLimits, ...options.limits };
  }

  start(): void {
    this.#schedule(0);
  }

  /** Lets requests that are under way finish for a moment. The next sender repeats an interrupted one. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    clearTimeout(this.#timer);
    await this.#polling;
    const cutOff = setTimeout(() => {
      for (const held of this.#held.values()) held.lost.abort();
    }, stopAfterMs);
    await Promise.all(this.#turns);
    clearTimeout(cutOff);
  }

  #schedule(delayMs: number): void {
    if (this.#stopping.signal.aborted) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      if (this.#polling) return;
      this.#polling = this.#poll().finally(() => {
        this.#polling = undefined;
        this.#schedule(this.#limits.pollMs);
      });
    }, delayMs).unref();
  }

  /** While the database is away, leases end by themselves, and nothing is sent. */
  async #poll(): Promise<void> {
    const { leaseMs, mostEndpoints } = this.#limits;
    const held = [...this.#held.values()];
    const askedAt = performance.now();
    const { rows } = await this.#options.database.pool
      .query<{ tenant_id: string; id: string; lease: string }>({
        name: 'claim webhooks',
        text: 'SELECT tenant_id, id, lease FROM claim_webhooks($1, $2, $3, $4, $5)',
        values: [
          held.map(({ tenantId }) => tenantId),
          held.map(({ id }) => id),
          held.map(({ lease }) => lease),
          leaseMs,
          Math.max(mostEndpoints - this.#turns.size, 0),
        ],
      })
      .catch((error) => {
        reportFailure('webhooks', error);
        return { rows: [] };
      });
    for (const { tenant_id: tenantId, id, lease } of rows) {
      const known = this.#held.get(lease);
      if (known) this.#extend(known, askedAt);
      else this.#begin({ tenantId, id, lease }, askedAt);
    }
  }

  #begin(claim: Claim, askedAt: number): void {
    const lost = new AbortController();
    const held: Held = { ...claim, lost, validUntil: 0, expiry: setTimeout(() => {}, 0) };
    this.#extend(held, askedAt);
    this.#held.set(claim.lease, held);
    const turn = this.#runTurn(held)
      .catch((error) => reportFailure('webhooks', error))
      .finally(() => {
        clearTimeout(held.expiry);
        this.#held.delete(claim.lease);
        this.#turns.delete(turn);
      });
    this.#turns.add(turn);
  }

  /** Counted from before the question, so this process gives up before PostgreSQL gives the lease to another. */
  #extend(held: Held, askedAt: number): void {
    clearTimeout(held.expiry);
    held.validUntil = askedAt + this.#limits.leaseMs;
    held.expiry = setTimeout(() => held.lost.abort(), held.validUntil - performance.now()).unref();
  }

  /** Timers stand still with the process; the clock does not. */
  #isHeld(held: Held): boolean {
    return !held.lost.signal.aborted && performance.now() < held.validUntil;
  }

  async #runTurn(held: Held): Promise<void> {
    const { database, resources } = this.#options;
    const endsAt = performance.now() + this.#limits.turnMs;
    const state = await readState(database, held);
    if (!state) return;
    const isGap = state.firstEntry !== null && BigInt(state.firstEntry) > BigInt(state.position) + 1n;
    if (isGap) return skipMissing(database, held, state).then(() => release(database, held, true));
    const agent = openAgent(state.url);
    try {
      let after = state.position;
      for (;;) {
        const reading = { tenantId: held.tenantId, webhookId: held.id, after, wanted: state };
        const { messages, scannedUpTo, hasMore } = await readMessages(database, resources, reading);
        for (const message of messages) {
          if (!this.#isHeld(held)) return;
          // However long the database took: each turn delivers something.
          const isOver = after !== state.position && performance.now() > endsAt;
          if (this.#stopping.signal.aborted || isOver) {
            await release(database, held, true);
            // The next poll may give it back, unless others wait longer.
            return this.#schedule(0);
          }
          if (!(await this.#deliver(held, state, message, agent))) return;
          after = message.position!;
        }
        if (messages.length > 0) continue;
        await skipTo(database, held, scannedUpTo);
        after = scannedUpTo;
        if (!hasMore || !this.#isHeld(held)) return release(database, held, false);
      }
    } finally {
      agent.destroy();
    }
  }

  /** Answers whether the turn goes on. */
  async #deliver(
    held: Held,
    state: State,
    message: Message,
    agent: ReturnType<typeof openAgent>,
  ): Promise<boolean> {
    const { config, database } = this.#options;
    const { signal } = held.lost;
    const trace = startDeliverySpan(new URL(state.url).hostname);
    const headers = { ...headersOf(message, state), ...trace.headers };
    const { url, realUrls } = state;
    const result = await send(config, { url, realUrls, headers, body: message.body, signal, agent });
    const { status = 0 } = result;
    const isDelivered = status >= 200 && status < 300;
    endSpan(trace.span, isDelivered ? undefined : (result.error ?? status));
    if (result.error === 'interrupted') {
      if (this.#stopping.signal.aborted) await release(database, held, true);
      return false;
    }
    const delaySeconds = Math.max(0, Date.now() - Date.parse(message.at)) / 1000;
    topics.delivery.publish({ isDelivered, delaySeconds });
    if (isDelivered) {
      state.failedAttempts = 0;
      return recordSuccess(database, held, message, result);
    }
    const pauseSeconds = this.#limits.pauseSeconds(state.failedAttempts + 1, result.retryAfterSeconds);
    const { giveUpAfterSeconds } = this.#limits;
    const failure = { message, result, pauseSeconds, giveUpAfterSeconds };
    const because = await recordFailure(database, held, failure);
    if (because) this.#tellPaused(held, state.url, because);
    return false;
  }

  #tellPaused({ tenantId, id }: Claim, url: string, because: 'GONE' | 'FAILED'): void {
    this.#options.log.warn({ tenantId, webhookId: id, because }, 'webhook paused');
    const kind = because === 'GONE' ? 'webhookGone' : 'webhookFailed';
    this.#options.notices.toAdministrators(tenantId, kind, { url });
  }
}
