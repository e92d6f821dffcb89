// Which tables a backup holds, read from the catalogue, in an order in which their foreign keys can be met.
import type pg from 'pg';

/** Tables that a backup leaves out, and why. A test fails for a table that is neither here nor in a backup. */
export const leftOut: Readonly<Record<string, string>> = {
  schema_migration: 'the header of a backup names the migrations',
  service_login: 'each installation makes its own login',
  background_work: 'says what this installation did last',
  backup_folder: 'says where this installation keeps its backups',
  setup_link: 'works only while the service that printed it runs',
  session: 'people sign in again',
  pending_sign_in: 'people sign in again',
  password_reset: 'links by mail are asked for again',
  passkey_challenge: 'lives for minutes',
  request_window: 'counts one minute',
  sign_in_attempt: 'counts minutes',
  attention_verdict: 'the attention list judges again',
  missing_words: 'the restore makes all words',
  search_word: 'the restore makes the words from the rows',
};

/** Who may sign in or call the API. A business can be restored without them. */
export const accessTables: ReadonlySet<string> = new Set([
  'api_key',
  'ended_key_use',
  'person',
  'sign_in_name',
  'invitation',
  'known_device',
  'passkey',
  'recovery_code',
]);

/** Without people, these tables keep only the rows that belong to nobody. */
export const rowsOfNobody: Readonly<Record<string, string>> = { saved_view: 'person_id IS NULL' };

export interface Table {
  name: string;
  columns: string[];
  /** Whether row-level security hides its rows even from its owner. */
  isForced: boolean;
}

export async function readTables(client: pg.ClientBase): Promise<Table[]> {
  const { rows } = await client.query<Table & { parents: string[] }>(
    `SELECT class.relname AS name, class.relforcerowsecurity AS "isForced",
       ARRAY(SELECT attname::text FROM pg_attribute
         WHERE attrelid = class.oid AND attnum > 0 AND NOT attisdropped AND attgenerated = '' ORDER BY attnum) AS columns,
       ARRAY(SELECT DISTINCT parent.relname::text FROM pg_constraint JOIN pg_class AS parent ON parent.oid = confrelid
         WHERE conrelid = class.oid AND contype = 'f' AND confrelid <> conrelid) AS parents
     FROM pg_class AS class
     WHERE class.relnamespace = 'public'::regnamespace AND class.relkind = 'r' AND NOT class.relname = ANY ($1)
     ORDER BY class.relname`,
    [Object.keys(leftOut)],
  );
  return parentsFirst(rows).map(({ name, columns, isForced }) => ({ name, columns, isForced }));
}

function parentsFirst<Node extends { name: string; parents: string[] }>(nodes: readonly Node[]): Node[] {
  const byName = new Map(nodes.map((node) => [node.name, node]));
  const ordered = new Set<Node>();
  const visit = (node: Node) => {
    byName.delete(node.name);
    for (const name of node.parents) {
      const parent = byName.get(name);
      if (parent) visit(parent);
    }
    ordered.add(node);
  };
  for (const node of nodes) if (byName.has(node.name)) visit(node);
  return [...ordered];
}
