// Whether the database takes writes, asked on a connection beside the pool: a full pool is load, not an outage.
import type pg from 'pg';
import type { Database } from '../../database/database.ts';
import { DeadlineError } from '../../database/errors.ts';
import { cut } from '../../database/timeouts.ts';

/** Some settings of a database reach new sessions only. */
const renewAfterMs = 60_000;

/** In the folder of the database itself, whose disk is the one to look at. */
const prepare = `SET temp_tablespaces = '';
  CREATE TEMPORARY TABLE write_probe (at timestamptz) ON COMMIT DELETE ROWS`;

/** The commit empties the table's file: each row takes a new page from the disk. It writes no log. */
const writeRow = 'WITH written AS (INSERT INTO pg_temp.write_probe VALUES (now()))';

const readState = `SELECT pg_is_in_recovery() AS is_standby,
  current_setting('transaction_read_only')::boolean AS is_read_only`;

const insufficientPrivilege = '42501';

interface Session {
  client: pg.Client;
  probe: string;
}

interface Opened {
  at: number;
  connecting: Promise<Session>;
  client?: pg.Client;
}

export interface WriteProbe {
  /** Rejects with the reason why a request could not write now. */
  check(): Promise<void>;
  close(): void;
}

export function buildWriteProbe(database: Database): WriteProbe {
  let opened: Opened | undefined;

  function open(): Opened {
    const fresh: Opened = { at: performance.now(), connecting: connect(database) };
    const forget = () => {
      if (opened === fresh) opened = undefined;
    };
    fresh.connecting.then(({ client }) => {
      fresh.client = client;
      client.once('end', forget);
      // Nobody waits for it any more.
      if (opened !== fresh) cut(client);
    }, forget);
    opened = fresh;
    return fresh;
  }

  function close(): void {
    if (opened?.client) cut(opened.client);
    opened = undefined;
  }

  async function write(): Promise<void> {
    if (opened && performance.now() - opened.at > renewAfterMs) close();
    const { client, probe } = await (opened ?? open()).connecting;
    const { rows } = await client.query<{ is_standby: boolean; is_read_only: boolean }>(probe);
    if (rows[0]!.is_standby) throw new Error('The database is a standby.');
    if (rows[0]!.is_read_only) throw new Error('The database is read-only.');
  }

  return {
    async check() {
      let timer: NodeJS.Timeout | undefined;
      const expired = new Promise<never>((_resolve, reject) => {
        const expire = () =>
          reject(new DeadlineError('The database did not answer in time.', { isBusy: false }));
        timer = setTimeout(expire, database.requestDeadlineMs);
      });
      try {
        await Promise.race([write(), expired]);
      } catch (error) {
        // The next check waits for one that is still connecting: a database that hangs gets one at a time.
        if (opened?.client) close();
        throw error;
      } finally {
        clearTimeout(timer);
      }
    },
    close,
  };
}

async function connect(database: Database): Promise<Session> {
  const client = await database.connect();
  try {
    await client.query(prepare);
    return { client, probe: `${writeRow} ${readState}` };
  } catch (error) {
    // Without the right to make temporary tables only imports fail; `doctor` says so.
    if ((error as pg.DatabaseError).code === insufficientPrivilege) return { client, probe: readState };
    cut(client);
    throw error;
  }
}
