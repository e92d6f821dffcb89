// Looks at every statement that a test has the service send.
import pg from 'pg';
import { findWorkerTables } from '../../server/database/citus/distribution.ts';
import { buildTablePattern } from '../../server/database/citus/shards.ts';
import { resources } from '../../server/resources/index.ts';
import { listStatements } from '../../tools/statements-document.ts';

/**
 * Statements that name tables of the coordinator and of the workers. On a cluster such a statement fails, or crashes the
 * coordinator; here it is found on any PostgreSQL.
 */
export const mixedStatements = new Set<string>();

/** Statements that name or write a resource, and that generated/statements.sql lacks: objects are written in one way. */
export const undocumentedStatements = new Set<string>();

const known = new Set<string>();
const documented = new Set(
  listStatements(resources).flatMap(({ name, inOtherOrders = [] }) => [name, ...inOtherOrders]),
);
const namesResource = new RegExp(`\\b(${resources.map(({ name }) => name).join('|')})\\b`);
const tables = resources.map(({ table }) => table).join('|');
const writesResource = new RegExp(`\\b(INSERT INTO|UPDATE|DELETE FROM) (${tables})\\b`);
/** A test business is emptied table by table. A test that attacks from within says so. */
const isException = /^\s*DELETE FROM \w+ WHERE tenant_id = \$1\s+AND ctid = ANY|^\/\* test \*\//;

export async function watchStatements(owner: pg.ClientBase, pool: pg.Pool): Promise<void> {
  const workerTables = await findWorkerTables(owner);
  const { rows } = await owner.query<{ name: string }>(
    `SELECT relname AS name FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'
       AND relname <> ALL ($1)`,
    [workerTables],
  );
  const [onWorkers, onCoordinator] = [workerTables, rows.map(({ name }) => name)].map(buildTablePattern);
  const look = ({ name = '', text = '' }: { name?: string; text?: string }) => {
    if (known.has(text)) return;
    known.add(text);
    if (text.search(onWorkers!) >= 0 && text.search(onCoordinator!) >= 0) mixedStatements.add(text);
    // On a cluster, what is sent has another text, and no name.
    if (process.env.CITUS_URL || documented.has(name)) return;
    if (namesResource.test(name) || (writesResource.test(text) && !isException.test(text)))
      undocumentedStatements.add(name || text);
  };
  pool.on('connect', (client) => {
    const own = Object.hasOwn(client, 'query') ? client.query : undefined;
    client.query = ((...parameters: unknown[]) => {
      const [first] = parameters as [string | { name?: string; text?: string }];
      look(typeof first === 'string' ? { text: first } : first);
      // Tests that count statements replace the prototype's.
      return Reflect.apply(own ?? pg.Client.prototype.query, client, parameters);
    }) as typeof client.query;
  });
}
