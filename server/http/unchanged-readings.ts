// What was read of a business holds until its journal moves on. (Decision 126.)
import type { Database } from '../database/database.ts';
import { InterruptedPages } from './interrupted-pages.ts';

const keptMs = 3_600_000;

interface Reader {
  database: Database;
  tenantId: string;
  deadline: number;
}

/** `also`: SQL of the tenant $1 for what the reading depends on beside its objects. */
export class UnchangedReadings<Reading> {
  readonly #kept = new InterruptedPages<Reading>(keptMs);
  readonly #stamp: string;

  constructor(also: readonly string[] = []) {
    const parts = ['(SELECT last_position FROM journal_head WHERE tenant_id = $1)', ...also];
    this.#stamp = `SELECT concat_ws(' ', ${parts.join(', ')}) AS stamp`;
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
    const kept = this.#kept.find(tenantId, stamped);
    if (kept !== undefined) return kept;
    const reading = await read();
    this.#kept.keep(tenantId, stamped, reading);
    return reading;
  }
}
