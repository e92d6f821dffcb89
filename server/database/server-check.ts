// Whether a PostgreSQL can be used, in plain words.
import pg from 'pg';
import { expected } from '../telemetry/expected.ts';
import { patienceMs } from './timeouts.ts';

const oldestVersion = 15;

export interface ServerState {
  version: string;
  /** Why it takes no writes; undefined where it does. Completes the sentence "it is …". */
  refusesWrites: 'a standby' | 'read-only' | undefined;
}

/** Connects once, to learn early and in plain words whether the database can be used. */
export async function checkConnection(connection: pg.ClientConfig): Promise<ServerState> {
  const client = new pg.Client({
    ...connection,
    connectionTimeoutMillis: patienceMs,
    query_timeout: patienceMs,
  });
  client.on('error', () => {});
  try {
    await client.connect();
    const { rows } = await client.query<{
      version: string;
      encoding: string;
      is_standby: boolean;
      is_read_only: boolean;
    }>(
      `SELECT current_setting('server_version') AS version, current_setting('server_encoding') AS encoding,
         pg_is_in_recovery() AS is_standby, current_setting('transaction_read_only')::boolean AS is_read_only`,
    );
    const { version, encoding, is_standby: isStandby, is_read_only: isReadOnly } = rows[0]!;
    if (Number.parseInt(version, 10) < oldestVersion) {
      throw new Error(`it is PostgreSQL ${version}, and Stamm needs ${oldestVersion} or newer`);
    }
    if (encoding !== 'UTF8') {
      throw new Error(
        `its encoding is ${encoding}, and Stamm needs one made with ENCODING 'UTF8' TEMPLATE template0`,
      );
    }
    return { version, refusesWrites: isStandby ? 'a standby' : isReadOnly ? 'read-only' : undefined };
  } finally {
    await client.end().catch(expected);
  }
}
