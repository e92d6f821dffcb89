// Recorded calls as they arrive, over all processes: while somebody listens, each process polls the table once per second.
// Polling needs no connection of its own, survives a restart of the database, and costs nothing while nobody listens.
import { PassThrough, type Readable } from 'node:stream';
import { filterLiveSessions, type Session } from '../../auth/sessions.ts';
import { report } from '../../database/background.ts';
import type { Database } from '../../database/database.ts';
import { ApiError } from '../../errors.ts';
import type { Language } from '../../messages.ts';
import { type RequestRow, requestColumns, toRequest } from './call-list.ts';

const pollIntervalMs = 1000;
const heartbeatMs = 15_000;
/** A row becomes visible a little after its own time: look back this long for late rows. */
const overlapSeconds = 5;
const maxRows = 500;
const maxListeners = { inAll: 200, ofTenant: 20 };
/** A reader who is so far behind is cut off, and begins anew. */
const maxWaitingBytes = 1024 * 1024;

interface Listener {
  session: Session;
  language: Language;
  stream: PassThrough;
  heardAt: number;
}

interface Feed {
  listeners: Set<Listener>;
  /** Ids of sent calls, with the time after which they cannot come again. */
  sent: Map<string, number>;
  /** Whether it is known what was there before anybody listened. */
  isPrimed: boolean;
}

export class RequestStreams {
  readonly #database: Database;
  readonly #feeds = new Map<string, Feed>();
  #timer: NodeJS.Timeout | undefined;
  #isPolling = false;

  constructor(database: Database) {
    this.#database = database;
  }

  async open(session: Session, language: Language): Promise<Readable> {
    const { tenantId } = session;
    let all = 0;
    for (const { listeners } of this.#feeds.values()) all += listeners.size;
    const feed = this.#feeds.get(tenantId) ?? { listeners: new Set(), sent: new Map(), isPrimed: false };
    if (all >= maxListeners.inAll || feed.listeners.size >= maxListeners.ofTenant)
      throw new ApiError('too_many_streams');
    const stream = new PassThrough();
    const listener = { session, language, stream, heardAt: performance.now() };
    this.#feeds.set(tenantId, feed);
    feed.listeners.add(listener);
    stream.once('close', () => this.#leave(tenantId, listener));
    // A browser that has gone is no failure, and an error that nobody hears ends the process.
    stream.on('error', () => {});
    try {
      // Existing calls are not news.
      if (!feed.isPrimed) await this.#readNews(tenantId, feed);
      feed.isPrimed = true;
    } catch (error) {
      stream.destroy();
      throw error;
    }
    stream.write('retry: 2000\n\n');
    this.#timer ??= setInterval(() => void this.#poll(), pollIntervalMs).unref();
    return stream;
  }

  #leave(tenantId: string, listener: Listener): void {
    const feed = this.#feeds.get(tenantId);
    feed?.listeners.delete(listener);
    if (feed?.listeners.size === 0) this.#feeds.delete(tenantId);
    if (this.#feeds.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  async #poll(): Promise<void> {
    if (this.#isPolling) return;
    this.#isPolling = true;
    // While the database is away nothing is sent. The list shows the calls recorded meanwhile.
    for (const [tenantId, feed] of this.#feeds)
      await report('live_stream', () => this.#tellNews(tenantId, feed));
    this.#isPolling = false;
  }

  async #tellNews(tenantId: string, feed: Feed): Promise<void> {
    if (!feed.isPrimed) return;
    const rows = await this.#readNews(tenantId, feed);
    const listeners = [...feed.listeners];
    // After the rows were read: a session that ended before one of them hears nothing of it.
    const live = await filterLiveSessions(
      this.#database,
      tenantId,
      listeners.map(({ session }) => session),
    );
    for (const listener of listeners) {
      if (!live.has(listener.session)) {
        listener.stream.end();
        continue;
      }
      for (const row of rows) tell(listener, row);
      keepAlive(listener);
    }
  }

  async #readNews(tenantId: string, feed: Feed): Promise<RequestRow[]> {
    const { rows } = await this.#database.queryInTenants<RequestRow>([tenantId], {
      name: 'recorded requests since',
      text: `SELECT ${requestColumns} FROM recorded_request
        WHERE tenant_id = $1
          AND recorded_at BETWEEN now() - interval '${overlapSeconds} seconds' AND now() + interval '${overlapSeconds} seconds'
        ORDER BY recorded_at DESC, id DESC LIMIT ${maxRows}`,
      values: [tenantId],
    });
    const now = performance.now();
    for (const [id, until] of feed.sent) if (until < now) feed.sent.delete(id);
    const news = rows.filter(({ id }) => !feed.sent.has(id)).reverse();
    for (const { id } of rows) feed.sent.set(id, now + 4 * overlapSeconds * 1000);
    return news;
  }

  close(): void {
    for (const { listeners } of this.#feeds.values()) {
      for (const { stream } of listeners) stream.end();
    }
  }
}

function tell({ stream, language }: Listener, row: RequestRow): void {
  if (stream.writableLength > maxWaitingBytes) stream.destroy();
  else if (stream.writable)
    stream.write(`event: request\ndata: ${JSON.stringify(toRequest(row, language))}\n\n`);
}

/** A line from time to time keeps proxies from closing the connection. */
function keepAlive(listener: Listener): void {
  if (performance.now() - listener.heardAt < heartbeatMs) return;
  listener.heardAt = performance.now();
  if (listener.stream.writable) listener.stream.write(': still here\n\n');
}
