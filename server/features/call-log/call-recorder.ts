// Records the API calls of tenants for the office. A request only adds a small object to a list; about once per second one
// statement writes the list. With too many calls or a slow database, calls are counted and not recorded: the API never
// waits.
import type { FastifyReply, FastifyRequest } from 'fastify';
import { report } from '../../database/background.ts';
import type { Database } from '../../database/database.ts';
import { timeOfUuid } from '../../engine/definition/formats.ts';
import type { JsonBody } from '../../http/json-body.ts';
import { type Entry, type Hour, hourMs, trimRecordedCalls, writeEntries } from './recorded-calls.ts';

const flushIntervalMs = 1000;
/** Most calls that are kept between two writes. */
const maxEntries = 1000;
/** Most successful ones among them: nobody reads each line of a synchronisation at full speed, and each costs a row. */
const maxServed = 200;
/** The lines of a flood above the rate limit look alike: a few of each tenant are enough. */
const maxRateLimited = 10;
const maxBodyBytes = 16 * 1024;

/** So many new rows of a tenant are a reason to check the bounds; otherwise that happens hourly. */
const rowsBetweenTrims = 5000;

function hourName(tenantId: string, time: number): string {
  return `${tenantId} ${Math.floor(time / hourMs)}`;
}

/** Calls and counts that one transaction writes. */
interface Part {
  entries: readonly Entry[];
  hours: readonly Hour[];
}

export class CallRecorder {
  readonly #database: Database;
  readonly #retentionDays: number;
  readonly #timer: NodeJS.Timeout;
  #entries: Entry[] = [];
  #served = 0;
  #hours = new Map<string, Hour>();
  #rateLimited = new Map<string, number>();
  #flushing: Promise<void> | undefined;
  readonly #rowsSinceTrim = new Map<string, number>();

  constructor(database: Database, retentionDays: number) {
    this.#database = database;
    this.#retentionDays = retentionDays;
    this.#timer = setInterval(() => void this.flush(), flushIntervalMs).unref();
  }

  note(request: FastifyRequest, reply: FastifyReply): void {
    const { tenantId, id, apiError } = request;
    // Without a valid key there is no tenant whose call it could be.
    if (tenantId === '') return;
    const { statusCode: status } = reply;
    if (
      this.#entries.length >= maxEntries ||
      (status < 400 && ++this.#served > maxServed) ||
      (status === 429 && this.#isEnoughOf(tenantId))
    ) {
      this.#count(tenantId, id, status, true);
      return;
    }
    this.#entries.push({
      id,
      tenantId,
      method: request.method,
      route: request.routeOptions.url ?? '',
      url: request.url,
      status,
      durationMs: reply.elapsedTime,
      address: request.ip,
      userAgent: request.headers['user-agent'],
      apiError,
      ignoredFields: request.ignoredFields,
      body: status >= 400 && status < 500 ? bodyOf(request) : undefined,
    });
  }

  #isEnoughOf(tenantId: string): boolean {
    const seen = this.#rateLimited.get(tenantId) ?? 0;
    this.#rateLimited.set(tenantId, seen + 1);
    return seen >= maxRateLimited;
  }

  #count(tenantId: string, id: string, status: number, isUnrecorded: boolean): void {
    const time = timeOfUuid(id);
    const name = hourName(tenantId, time);
    let counts = this.#hours.get(name);
    if (!counts) {
      const hour = new Date(time - (time % hourMs));
      counts = { tenant_id: tenantId, hour, requests: 0, refusals: 0, failures: 0, unrecorded: 0 };
      this.#hours.set(name, counts);
    }
    counts.requests++;
    if (status >= 500) counts.failures++;
    else if (status >= 400) counts.refusals++;
    if (isUnrecorded) counts.unrecorded++;
  }

  /** One write at a time: while the database is behind, calls are counted instead. */
  flush(): Promise<void> {
    this.#flushing ??= this.#write().finally(() => {
      this.#flushing = undefined;
    });
    return this.#flushing;
  }

  async #write(): Promise<void> {
    const entries = this.#entries;
    this.#entries = [];
    this.#served = 0;
    this.#rateLimited = new Map();
    for (const { tenantId, id, status } of entries) this.#count(tenantId, id, status, false);
    const hours = [...this.#hours.values()];
    if (hours.length === 0) return;
    this.#hours = new Map();
    const parts = this.#database.isDistributed ? splitByTenant(entries, hours) : [{ entries, hours }];
    await Promise.all(parts.map((part) => this.#writePart(part)));
    await this.#trimFullTenants();
  }

  async #writePart({ entries, hours }: Part): Promise<void> {
    const tenantIds = [...new Set(hours.map(({ tenant_id }) => tenant_id))];
    const isWritten = await report('call_log', () =>
      this.#database.inTenants(tenantIds, (client) => writeEntries(client, entries, hours)),
    );
    if (isWritten) this.#noteRows(entries);
    else this.#keepCounts(hours);
  }

  /** The next write counts what could not be written. */
  #keepCounts(hours: readonly Hour[]): void {
    if (this.#hours.size > maxEntries) return;
    for (const lost of hours) {
      const name = hourName(lost.tenant_id, lost.hour.getTime());
      const counts = this.#hours.get(name) ?? {
        ...lost,
        requests: 0,
        refusals: 0,
        failures: 0,
        unrecorded: 0,
      };
      counts.requests += lost.requests;
      counts.refusals += lost.refusals;
      counts.failures += lost.failures;
      counts.unrecorded += lost.requests;
      this.#hours.set(name, counts);
    }
  }

  #noteRows(entries: readonly Entry[]): void {
    for (const { tenantId } of entries) {
      this.#rowsSinceTrim.set(tenantId, (this.#rowsSinceTrim.get(tenantId) ?? 0) + 1);
    }
  }

  async #trimFullTenants(): Promise<void> {
    const full = [...this.#rowsSinceTrim].filter(([, rows]) => rows >= rowsBetweenTrims).map(([id]) => id);
    if (full.length === 0) return;
    for (const tenantId of full) this.#rowsSinceTrim.delete(tenantId);
    await report('recorded_calls', () => trimRecordedCalls(this.#database, this.#retentionDays, full));
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#flushing;
    await this.flush();
  }
}

function splitByTenant(entries: readonly Entry[], hours: readonly Hour[]): Part[] {
  const entriesOf = Map.groupBy(entries, ({ tenantId }) => tenantId);
  return [...Map.groupBy(hours, ({ tenant_id }) => tenant_id)].map(([tenantId, own]) => ({
    entries: entriesOf.get(tenantId) ?? [],
    hours: own,
  }));
}

/** A truncated body is no JSON, so it cannot be shown without its personal data. */
function bodyOf({ body }: FastifyRequest): string | undefined {
  const bytes = (body as JsonBody | undefined)?.bytes;
  return bytes && bytes.length <= maxBodyBytes ? bytes.toString('utf8') : undefined;
}
