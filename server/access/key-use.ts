// When a key was last used, and who still sends one that has ended. Collected in the process and written a few times per
// minute. No answer relies on it.
import type pg from 'pg';
import { report } from '../database/background.ts';
import type { Database } from '../database/database.ts';
import { maskKeys } from '../http/log.ts';

const flushIntervalMs = 10_000;
const maxEntries = 10_000;
/** As in the database: all further senders of a key are counted together. */
const maxSendersOfKey = 99;
const others = { address: '', user_agent: 'others' };
const maxUserAgentLength = 200;

interface LiveUse {
  tenant_id: string;
  key_hash: string;
  last_used_at: Date;
}

interface EndedUse extends LiveUse {
  address: string;
  user_agent: string;
  requests: number;
}

export class KeyUse {
  readonly #database: Database;
  readonly #timer: NodeJS.Timeout;
  #live = new Map<string, LiveUse>();
  /** By the hash of the key, then by sender. */
  #ended = new Map<string, Map<string, EndedUse>>();
  #endedEntries = 0;

  constructor(database: Database) {
    this.#database = database;
    this.#timer = setInterval(() => void this.flush(), flushIntervalMs).unref();
  }

  note(
    key: { tenant_id: string; key_hash: string; ended_by: string | null },
    address: string,
    userAgent: string,
  ) {
    if (key.ended_by === null) {
      const known = this.#live.get(key.key_hash);
      if (known) known.last_used_at = new Date();
      else this.#live.set(key.key_hash, { ...identify(key), last_used_at: new Date() });
      return;
    }
    const senders = this.#ended.get(key.key_hash) ?? new Map<string, EndedUse>();
    let sender = { address, user_agent: maskKeys(userAgent).slice(0, maxUserAgentLength) };
    if (!senders.has(nameOf(sender)) && senders.size >= maxSendersOfKey) sender = others;
    const known = senders.get(nameOf(sender));
    if (known) {
      known.requests++;
      known.last_used_at = new Date();
    } else if (this.#endedEntries < maxEntries) {
      this.#endedEntries++;
      senders.set(nameOf(sender), { ...identify(key), ...sender, requests: 1, last_used_at: new Date() });
      this.#ended.set(key.key_hash, senders);
    }
  }

  async flush(): Promise<void> {
    if (this.#live.size === 0 && this.#ended.size === 0) return;
    const ended = [...this.#ended.values()].flatMap((senders) => [...senders.values()]);
    const uses = { live: [...this.#live.values()], ended };
    this.#live = new Map();
    this.#ended = new Map();
    this.#endedEntries = 0;
    // While the database is away these few minutes are lost, which is better than an ever longer list.
    await report('key_use', () =>
      this.#database.pool.query('SELECT record_key_use($1)', [JSON.stringify(uses)]),
    );
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.flush();
  }
}

function identify({ tenant_id, key_hash }: { tenant_id: string; key_hash: string }) {
  return { tenant_id, key_hash };
}

function nameOf({ address, user_agent }: { address: string; user_agent: string }): string {
  return `${address} ${user_agent}`;
}

/** Removes senders that have not come back for that long; called every hour. */
export async function forgetEndedKeyUse(database: Database, retentionDays: number): Promise<void> {
  // If the database is away, the next call removes them.
  await database.pool.query('SELECT forget_ended_key_use($1)', [`${retentionDays} days`]);
}

/** Runs in the transaction that erases a person, whom a user agent may name. */
export async function eraseEndedKeyUse(
  client: pg.ClientBase,
  tenantId: string,
  patterns: readonly string[],
): Promise<void> {
  await client.query(
    'DELETE FROM ended_key_use WHERE tenant_id = $1 AND lower(user_agent) LIKE ANY ($2::text[])',
    [tenantId, patterns],
  );
}
