// Keeps what was read of a business until its journal moves on. (Decision 126.)
import type { Database } from '../database/database.ts';

const keptMs = 3_600_000;
const maxPerTenant = 20;
/** Limits in characters of JSON. */
const maxReading = 64 * 1024;
const maxTogether = 16 * 1024 * 1024;

interface Reader {
  database: Database;
  tenantId: string;
  deadline: number;
}

interface Kept<Reading> {
  reading: Reading;
  length: number;
  until: number;
}

/** `also`: SQL of the tenant $1 for what the reading depends on beside its objects. */
export class UnchangedReadings<Reading> {
  readonly #tenants = new Map<string, Map<string, Kept<Reading>>>();
  #length = 0;
  readonly #stamp: string;

  constructor(also: readonly string[] = []) {
    const parts = ['(SELECT last_position FROM journal_head WHERE tenant_id = $1)', ...also];
    this.#stamp = `SELECT json_build_array(${parts.join(', ')})::text AS stamp`;
  }

  /** The stamp is read first: a write in between makes the next reading new. */
  async read(
    { database, tenantId, deadline }: Reader,
    key: string,
    read: () => Promise<Reading>,
  ): Promise<Reading> {
    const query = { text: this.#stamp, values: [tenantId] };
    const { rows } = await database.queryInTenants<{ stamp: string }>([tenantId], query, { deadline });
    const stamped = `${rows[0]!.stamp} ${key}`;
    const kept = this.#tenants.get(tenantId)?.get(stamped);
    if (kept && kept.until > performance.now()) return kept.reading;
    const reading = await read();
    this.#keep(tenantId, stamped, reading);
    return reading;
  }

  /** The readings of the tenant that wrote longest ago go first. A tenant displaces its own before those of others. */
  #keep(tenantId: string, key: string, reading: Reading): void {
    const { length } = JSON.stringify(reading);
    if (length > maxReading) return;
    const own = this.#tenants.get(tenantId) ?? new Map<string, Kept<Reading>>();
    this.#drop(own, key);
    own.set(key, { reading, length, until: performance.now() + keptMs });
    this.#length += length;
    if (own.size > maxPerTenant) this.#drop(own, own.keys().next().value!);
    this.#tenants.delete(tenantId);
    this.#tenants.set(tenantId, own);
    while (this.#length > maxTogether) {
      const [oldest, readings] = this.#tenants.entries().next().value!;
      for (const one of [...readings.keys()]) this.#drop(readings, one);
      this.#tenants.delete(oldest);
    }
  }

  #drop(own: Map<string, Kept<Reading>>, key: string): void {
    this.#length -= own.get(key)?.length ?? 0;
    own.delete(key);
  }
}
