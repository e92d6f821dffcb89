// When a key was last used, and who still sends one that has ended. Gathered in the process and written a few
// times a minute: it is information for the office, no answer relies on it, and no request pays for it.
import type { Database } from '../database/database.ts';
import { maskKeys } from '../http/key-mask.ts';

const flushIntervalMs = 10_000;
const maxEntries = 10_000;
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
  #ended = new Map<string, EndedUse>();

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
    const user_agent = maskKeys(userAgent).slice(0, maxUserAgentLength);
    const name = `${key.tenant_id} ${address} ${user_agent} ${key.key_hash}`;
    const known = this.#ended.get(name);
    if (known) {
      known.requests++;
      known.last_used_at = new Date();
    } else if (this.#ended.size < maxEntries) {
      this.#ended.set(name, { ...identify(key), address, user_agent, requests: 1, last_used_at: new Date() });
    }
  }

  async flush(): Promise<void> {
    if (this.#live.size === 0 && this.#ended.size === 0) return;
    const uses = { live: [...this.#live.values()], ended: [...this.#ended.values()] };
    this.#live = new Map();
    this.#ended = new Map();
    // While the database is away these few minutes are lost, which is better than an ever longer list.
    await this.#database.pool.query('SELECT record_key_use($1)', [JSON.stringify(uses)]).catch(() => {});
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.flush();
  }
}

function identify({ tenant_id, key_hash }: { tenant_id: string; key_hash: string }) {
  return { tenant_id, key_hash };
}
