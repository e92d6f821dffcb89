// Citus: a tenant's rows are in the shards of one worker. A statement about them goes to that worker as a whole, with
// the names of its shards. It runs there as on a single PostgreSQL (decision 53).
//
// Citus never plans such a statement: it rejects most of ours. An outer join of a local and a distributed table below
// row-level security even crashes the coordinator of Citus 13.0. A statement therefore names tables of the coordinator or
// of the workers, never both. test/helpers/sent-statements.ts checks every statement of the API tests.
import pg from 'pg';

/** A rewritten statement: the text that the coordinator gets, and how its result is read. */
interface Routed {
  query: pg.QueryConfig;
  read<Row extends pg.QueryResultRow>(result: pg.QueryResult<Row>): pg.QueryResult<Row>;
}

interface Column {
  name: string;
  type: string;
}

/** Names of the shards that hold a tenant's rows, by the names of the tables. */
interface Group {
  id: string;
  shards: ReadonlyMap<string, string>;
}

/** Raised by hold_shards() too: rows of the tenant are in other shards since they were looked up. */
const serializationFailure = '40001';
const maxRemembered = 50_000;

/** Matches tables behind the words that a table's name follows. Our statements write aliases with AS. */
export function buildTablePattern(tables: readonly string[]): RegExp {
  const names = tables.toSorted((one, other) => other.length - one.length).join('|');
  return new RegExp(
    `\\b(FROM|JOIN|INTO|UPDATE|USING)(\\s+)(public\\.)?(${names})\\b(?!\\s*\\.)(\\s+AS\\s+\\w+)?`,
    'g',
  );
}

export class Shards {
  readonly #pattern: RegExp;
  readonly #groups = new Map<string, Promise<Group>>();
  readonly #groupOfTenant = new Map<string, string>();
  readonly #columns = new Map<string, Promise<Column[]>>();

  constructor(tables: readonly string[]) {
    this.#pattern = buildTablePattern(tables);
  }

  /** Whether a statement is about rows that are on the workers. */
  concerns(text: string): boolean {
    return text.search(this.#pattern) >= 0;
  }

  /** `kept` are tables that the transaction has temporary twins of; with a schema before it, a name means the table. */
  async route(
    client: pg.ClientBase,
    tenantId: string,
    query: pg.QueryConfig,
    kept: readonly string[] = [],
  ): Promise<Routed> {
    const group = await this.#findGroup(client, tenantId);
    const columns = await this.#describe(client, query.text);
    const named = query.text.replace(this.#pattern, (match, word, space, schema = '', table, alias) => {
      if (!schema && kept.includes(table)) return match;
      return `${word}${space}${schema}${group.shards.get(table)}${alias ?? ` AS ${table}`}`;
    });
    const text = withValues(named, query.values ?? []);
    const { name: _, ...rest } = query;
    if (columns.length === 0) {
      const counted = { ...rest, text: 'SELECT count_on_shard($1, $2) AS count', values: [tenantId, text] };
      return { query: counted, read: readCount };
    }
    const selected = columns.map(({ name }, index) => `c${index} AS ${pg.escapeIdentifier(name)}`).join(', ');
    const returned = columns.map(({ type }, index) => `c${index} ${type}`).join(', ');
    return {
      query: {
        ...rest,
        text: `SELECT ${selected} FROM run_on_shard($1, $2) AS result (${returned})`,
        values: [tenantId, text],
      },
      read: (result) => result,
    };
  }

  /** Keeps the tenant's shards where they are until the transaction ends: Citus may want to move or split them. */
  async hold(client: pg.ClientBase, tenantId: string): Promise<string> {
    const { id } = await this.#findGroup(client, tenantId);
    return `SELECT hold_shards(${pg.escapeLiteral(tenantId)}, ${id})`;
  }

  /** The client for work in a transaction of these tenants. Statements about rows on the workers go there. */
  reach<Client extends pg.ClientBase>(
    client: Client,
    tenantIds: readonly string[],
    kept: readonly string[] = [],
  ): Client {
    let held: Promise<unknown> | undefined;
    const query = async (config: string | pg.QueryConfig, values?: unknown[]): Promise<pg.QueryResult> => {
      const statement = typeof config === 'string' ? { text: config, ...(values && { values }) } : config;
      if (!this.concerns(statement.text)) return client.query(statement);
      const tenantId = onlyTenant(tenantIds);
      const routed = await this.route(client, tenantId, statement, kept);
      held ??= this.hold(client, tenantId).then((hold) => client.query(hold));
      await held;
      return routed.read(await client.query(routed.query));
    };
    return Object.assign(Object.create(client), { query });
  }

  /** Runs statements without results on the tenant's worker. */
  async run(client: pg.ClientBase, tenantId: string, sql: string): Promise<void> {
    await client.query(await this.hold(client, tenantId));
    await client.query('SELECT count_on_shard($1, $2)', [tenantId, sql]);
  }

  /** After an error: the next attempt looks the shards up anew if they have changed. */
  forget(tenantIds: readonly string[], error: unknown): void {
    if (!isStale(error)) return;
    for (const tenantId of tenantIds) {
      this.#groups.delete(this.#groupOfTenant.get(tenantId) ?? '');
      this.#groupOfTenant.delete(tenantId);
    }
  }

  async #findGroup(client: pg.ClientBase, tenantId: string): Promise<Group> {
    let id = this.#groupOfTenant.get(tenantId);
    if (id === undefined) {
      const { rows } = await client.query<{ id: string }>(
        `SELECT get_shard_id_for_distribution_column('public.journal_head', $1::uuid) AS id`,
        [tenantId],
      );
      id = rows[0]!.id;
      if (this.#groupOfTenant.size >= maxRemembered) this.#groupOfTenant.clear();
      this.#groupOfTenant.set(tenantId, id);
    }
    return remember(this.#groups, id, () => readGroup(client, id));
  }

  #describe(client: pg.ClientBase, text: string): Promise<Column[]> {
    if (this.#columns.size >= maxRemembered) this.#columns.clear();
    return remember(this.#columns, text, () => describe(client, text));
  }
}

/** Whether a transaction found a tenant's shards changed, or lost a race; it wrote nothing then. */
export function isStale(error: unknown): boolean {
  return (error as { code?: string }).code === serializationFailure;
}

export function onlyTenant(tenantIds: readonly string[]): string {
  if (tenantIds.length !== 1)
    throw new Error('A statement for the workers needs a transaction of one tenant.');
  return tenantIds[0]!;
}

/** Asks once, unless the answer is an error. */
function remember<Value>(
  known: Map<string, Promise<Value>>,
  key: string,
  ask: () => Promise<Value>,
): Promise<Value> {
  const answer = known.get(key) ?? ask();
  if (!known.has(key)) {
    known.set(key, answer);
    answer.catch(() => known.delete(key));
  }
  return answer;
}

/** The distributed tables; null on a single PostgreSQL. */
export async function findShards(client: pg.ClientBase): Promise<Shards | null> {
  const { rows } = await client.query<{ is_distributed: boolean }>(
    `SELECT to_regproc('public.run_on_shard') IS NOT NULL AS is_distributed`,
  );
  if (!rows[0]!.is_distributed) return null;
  const { rows: tables } = await client.query<{ name: string }>(
    `SELECT relname AS name FROM pg_dist_partition JOIN pg_class ON pg_class.oid = logicalrelid WHERE partmethod = 'h'`,
  );
  return new Shards(tables.map(({ name }) => name));
}

async function readGroup(client: pg.ClientBase, id: string): Promise<Group> {
  const { rows } = await client.query<{ name: string; shard: string }>(
    `SELECT relname AS name, shard_name(shard.logicalrelid, shard.shardid) AS shard
     FROM pg_dist_shard AS shard JOIN pg_dist_partition AS part USING (logicalrelid)
     JOIN pg_class ON pg_class.oid = logicalrelid
     WHERE (part.colocationid, shard.shardminvalue) = (
       SELECT part.colocationid, head.shardminvalue FROM pg_dist_shard AS head JOIN pg_dist_partition AS part USING (logicalrelid)
       WHERE head.shardid = $1)`,
    [id],
  );
  return { id, shards: new Map(rows.map(({ name, shard }) => [name, shard])) };
}

/** Parses and describes a statement without running it. */
class Description extends pg.Query {
  readonly #text: string;

  constructor(text: string, callback: (error: Error | undefined, result: pg.QueryResult) => void) {
    super({ text }, undefined, callback as never);
    this.#text = text;
  }

  override submit = (connection: pg.Connection): void => {
    connection.parse({ text: this.#text, name: '', types: [] }, true);
    connection.describe({ type: 'S', name: '' }, true);
    connection.sync();
  };
}

async function describe(client: pg.ClientBase, text: string): Promise<Column[]> {
  const { promise, resolve, reject } = Promise.withResolvers<pg.QueryResult>();
  client.query(new Description(text, (error, result) => (error ? reject(error) : resolve(result))));
  const { fields } = await promise;
  if (fields.length === 0) return [];
  const { rows } = await client.query<{ type: string }>(
    'SELECT format_type(oid, NULL) AS type FROM unnest($1::oid[]) WITH ORDINALITY AS sought (oid, place) ORDER BY place',
    [fields.map(({ dataTypeID }) => dataTypeID)],
  );
  return fields.map(({ name }, index) => ({ name, type: rows[index]!.type }));
}

/** Quoted text and comments, where `$1` is no parameter, or a parameter. A doubled quote counts as two quoted texts. */
const quotedOrParameter =
  /\b[eE]'(?:[^'\\]|\\.)*'|'[^']*'|"[^"]*"|--[^\n]*|\/\*.*?\*\/|\$(?<tag>[a-zA-Z_]\w*)?\$.*?\$\k<tag>\$|\$(?<place>\d+)/gs;

/** Literals without a type, which PostgreSQL reads as it reads parameters. */
export function withValues(text: string, values: readonly unknown[]): string {
  return text.replaceAll(quotedOrParameter, (match, ...rest) => {
    const { place } = rest.at(-1) as { place?: string };
    return place === undefined ? match : toLiteral(values[Number(place) - 1]);
  });
}

function toLiteral(value: unknown): string {
  return value === null || value === undefined ? 'NULL' : pg.escapeLiteral(toText(value));
}

function toText(value: unknown): string {
  if (Array.isArray(value)) return `{${value.map(toElement).join(',')}}`;
  if (Buffer.isBuffer(value)) return `\\x${value.toString('hex')}`;
  if (value instanceof Date) return value.toISOString();
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

function toElement(value: unknown): string {
  if (value === null || value === undefined) return 'NULL';
  return Array.isArray(value) ? toText(value) : `"${toText(value).replaceAll(/[\\"]/g, '\\$&')}"`;
}

function readCount<Row extends pg.QueryResultRow>(result: pg.QueryResult<Row>): pg.QueryResult<Row> {
  return { ...result, rowCount: Number(result.rows[0]!.count), rows: [] };
}
