// Records the API calls of tenants for the office. A request only adds a small object to a list; about once a second the
// list is written with one statement. When there are too many, or the database is behind, calls are counted and not
// recorded: what the office sees gets coarser, and the API never waits.
import type { FastifyReply, FastifyRequest } from 'fastify';
import type pg from 'pg';
import { lowestUuidAt, timeOfUuid } from '../crud/formats.ts';
import type { Database } from '../database/database.ts';
import type { ApiError, Fault } from '../errors.ts';
import type { JsonBody } from '../http/json-body.ts';

const flushIntervalMs = 1000;
/** Of what arrives between two writes. */
const maxEntries = 1000;
/** A flood that is refused for its rate looks the same in every line; of each tenant a few of them are enough. */
const maxRateLimited = 10;
const maxBodyBytes = 16 * 1024;
const maxTextLength = 500;
const maxIgnoredFields = 50;

/** Bounds of what is kept: each tenant, all of them together, and bodies, which are the largest part. */
const bounds = { days: 30, rowsEach: 100_000, rowsInAll: 2_000_000, bodiesEach: 2000 };
/** So many new rows of a tenant are a reason to look at the bounds; otherwise that is done once an hour. */
const rowsBetweenTrims = 5000;

interface Entry {
  id: string;
  tenantId: string;
  method: string;
  route: string;
  url: string;
  status: number;
  durationMs: number;
  address: string;
  userAgent: string | undefined;
  problem: ApiError | undefined;
  ignoredFields: readonly string[] | undefined;
  body: string | undefined;
}

interface Hour {
  tenant_id: string;
  hour: Date;
  requests: number;
  refusals: number;
  failures: number;
  unrecorded: number;
}

const hourMs = 3_600_000;

function hourName(tenantId: string, time: number): string {
  return `${tenantId} ${Math.floor(time / hourMs)}`;
}

export class RequestRecorder {
  readonly #database: Database;
  readonly #timer: NodeJS.Timeout;
  #entries: Entry[] = [];
  #hours = new Map<string, Hour>();
  #rateLimited = new Map<string, number>();
  #isFlushing = false;
  readonly #rowsSinceTrim = new Map<string, number>();

  constructor(database: Database) {
    this.#database = database;
    this.#timer = setInterval(() => void this.flush(), flushIntervalMs).unref();
  }

  note(request: FastifyRequest, reply: FastifyReply): void {
    const { tenantId, id, problem } = request;
    // Without a valid key there is no tenant whose call it could be.
    if (tenantId === '') return;
    const { statusCode: status } = reply;
    if (this.#entries.length >= maxEntries || (status === 429 && this.#isEnoughOf(tenantId))) {
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
      problem,
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

  async flush(): Promise<void> {
    if (this.#isFlushing || (this.#entries.length === 0 && this.#hours.size === 0)) return;
    this.#isFlushing = true;
    const entries = this.#entries;
    this.#entries = [];
    this.#rateLimited = new Map();
    for (const { tenantId, id, status } of entries) this.#count(tenantId, id, status, false);
    const hours = [...this.#hours.values()];
    this.#hours = new Map();
    const tenantIds = [...new Set(hours.map(({ tenant_id }) => tenant_id))];
    try {
      await this.#database.inTenants(tenantIds, (client) => writeEntries(client, entries, hours));
      this.#noteRows(entries);
    } catch {
      this.#keepCounts(hours);
    } finally {
      this.#isFlushing = false;
    }
    await this.#trimFullTenants();
  }

  /** What could not be written is counted with the next write. */
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
    await trimRecordedRequests(this.#database, full).catch(() => {});
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.flush();
  }
}

/** A body that is too long cannot be shown without its personal data, since a part of it is no JSON. */
function bodyOf({ body }: FastifyRequest): string | undefined {
  const bytes = (body as JsonBody | undefined)?.bytes;
  return bytes && bytes.length <= maxBodyBytes ? bytes.toString('utf8') : undefined;
}

/** Erasing waits for writes that are under way, and writes wait for an erasure. */
const erasureLock = `hashtextextended('stamm: erase recorded bodies', 0)`;
/** Longer than any process holds a body before it is written. */
const erasureEchoSeconds = 15;

async function writeEntries(client: pg.ClientBase, entries: readonly Entry[], hours: readonly Hour[]) {
  // Losing the last second at a crash of the database is better than waiting for the disk.
  await client.query(
    `SELECT set_config('synchronous_commit', 'off', true), pg_advisory_xact_lock_shared(${erasureLock})`,
  );
  await client.query({
    name: 'record requests',
    text: `WITH recorded AS (
        INSERT INTO recorded_request (tenant_id, id, method, route, path, status, duration_ms, address, user_agent,
          code, faults, ignored_fields, body)
        SELECT sent.tenant_id, sent.id, method, route,
          CASE WHEN erasure.erased_at IS NULL OR strpos(route, '/by-external-id/') = 0 THEN path ELSE route END, status, duration_ms, address, user_agent,
          code, faults, ignored_fields, CASE WHEN erasure.erased_at IS NULL THEN body END
        FROM json_to_recordset($1) AS sent (tenant_id uuid, id uuid, method text, route text, path text,
          status smallint, duration_ms real, address text, user_agent text, code text, faults json,
          ignored_fields json, body text)
        LEFT JOIN request_erasure AS erasure ON erasure.tenant_id = sent.tenant_id
          AND erasure.erased_at > now() - interval '${erasureEchoSeconds} seconds'
        ON CONFLICT DO NOTHING
      )
      INSERT INTO request_hour AS known (tenant_id, hour, requests, refusals, failures, unrecorded)
      SELECT * FROM json_to_recordset($2) AS counted (tenant_id uuid, hour timestamptz, requests bigint,
        refusals bigint, failures bigint, unrecorded bigint)
      ORDER BY 1, 2
      ON CONFLICT (tenant_id, hour) DO UPDATE SET
        requests = known.requests + excluded.requests,
        refusals = known.refusals + excluded.refusals,
        failures = known.failures + excluded.failures,
        unrecorded = known.unrecorded + excluded.unrecorded`,
    values: [JSON.stringify(entries.map(toRow)), JSON.stringify(hours)],
  });
}

function toRow(entry: Entry) {
  const { problem, ignoredFields } = entry;
  return {
    tenant_id: entry.tenantId,
    id: entry.id,
    method: entry.method,
    route: entry.route,
    path: storable(entry.url.split('?', 1)[0]!),
    status: entry.status,
    duration_ms: Math.round(entry.durationMs * 10) / 10,
    address: entry.address,
    user_agent: storable(entry.userAgent ?? ''),
    code: problem?.code,
    faults: problem?.faults.length ? problem.faults.map(toStoredFault) : undefined,
    ignored_fields: ignoredFields?.length
      ? ignoredFields.slice(0, maxIgnoredFields).map(storable)
      : undefined,
    body: entry.body,
  };
}

/** Sentences are made from codes when they are shown, in the language of whoever looks. */
function toStoredFault({ path, code, params }: Fault) {
  return { field: storable(path.join('.')), code, params };
}

/** One entry that PostgreSQL refuses would lose all that are written with it. */
function storable(text: string): string {
  return text.slice(0, maxTextLength).toWellFormed().replaceAll('\0', '\ufffd');
}

/**
 * In the transaction that erases a person: nobody can tell which refused bodies name it, so none is kept, and neither
 * are the paths that say an external id of a person.
 */
export async function eraseRecordedBodies(
  client: pg.ClientBase,
  tenantId: string,
  collection: string,
): Promise<void> {
  await client.query(`SELECT pg_advisory_xact_lock(${erasureLock})`);
  await client.query(
    `INSERT INTO request_erasure (tenant_id, erased_at) VALUES ($1, clock_timestamp())
     ON CONFLICT (tenant_id) DO UPDATE SET erased_at = excluded.erased_at`,
    [tenantId],
  );
  await client.query('UPDATE recorded_request SET body = NULL WHERE tenant_id = $1 AND body IS NOT NULL', [
    tenantId,
  ]);
  await client.query(
    `UPDATE recorded_request SET path = route
     WHERE tenant_id = $1 AND strpos(route, '/' || $2 || '/by-external-id/') > 0 AND path <> route`,
    [tenantId, collection],
  );
}

/** Keeps the record within its bounds, for these tenants, or for all of them over a connection that has the time. */
export async function trimRecordedRequests(database: Database, tenantIds?: readonly string[]): Promise<void> {
  const oldest = lowestUuidAt(Date.now() - bounds.days * 24 * hourMs);
  const { rowsEach, rowsInAll, bodiesEach } = bounds;
  const trim = {
    text: 'SELECT trim_recorded_requests($1, $2, $3, $4, $5)',
    values: [tenantIds ?? null, oldest, rowsEach, rowsInAll, bodiesEach],
  };
  if (tenantIds) {
    await database.pool.query(trim);
    return;
  }
  const client = await database.connect();
  try {
    await client.query(trim);
  } finally {
    await client.end();
  }
}
