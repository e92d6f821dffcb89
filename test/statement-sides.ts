// On a cluster some tables are on the coordinator and some on the workers. Every statement that a test has the service
// send is checked here, on any PostgreSQL. One that names tables of both sides would fail there, or crash the
// coordinator.
import pg from 'pg';
import { findWorkerTables } from '../server/database/distribution.ts';
import { buildTablePattern } from '../server/database/shards.ts';

export const mixedStatements = new Set<string>();

const known = new Set<string>();

export async function watchSides(owner: pg.ClientBase, pool: pg.Pool): Promise<void> {
  const workerTables = await findWorkerTables(owner);
  const { rows } = await owner.query<{ name: string }>(
    `SELECT relname AS name FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'
       AND relname <> ALL ($1)`,
    [workerTables],
  );
  const [onWorkers, onCoordinator] = [workerTables, rows.map(({ name }) => name)].map(buildTablePattern);
  const look = (text: string) => {
    if (known.has(text)) return;
    known.add(text);
    if (text.search(onWorkers!) >= 0 && text.search(onCoordinator!) >= 0) mixedStatements.add(text);
  };
  pool.on('connect', (client) => {
    const own = Object.hasOwn(client, 'query') ? client.query : undefined;
    client.query = ((...parameters: unknown[]) => {
      const [first] = parameters as [string | { text?: string }];
      look(typeof first === 'string' ? first : (first.text ?? ''));
      // Tests that count statements replace the prototype's.
      return Reflect.apply(own ?? pg.Client.prototype.query, client, parameters);
    }) as typeof client.query;
  });
}
