// What a body must have become in the database, compared there: numbers exactly, lists as jsonb.
import assert from 'node:assert/strict';
import type pg from 'pg';

type Stored = Record<string, unknown>;

const kept = ['tenant_id', 'id', 'version', 'created_at', 'updated_at'];

/** What the service keeps for itself, and what PostgreSQL derives from other columns. */
const derivedColumns = `SELECT attname FROM pg_attribute
  WHERE attrelid = $2::regclass AND (attgenerated <> '' OR attname LIKE '%\\_is\\_known')`;

/** `row` is by column names; what it leaves out must be NULL. A number that is no double is a JSON.rawJSON. */
export async function assertStored(
  owner: pg.Client,
  table: 'customer' | 'site',
  id: string,
  row: Stored,
): Promise<void> {
  const { rows } = await owner.query(
    `SELECT (to_jsonb(stored) - $3::text[] - ARRAY(${derivedColumns})::text[])::text AS found
     FROM ${table} AS stored WHERE id = $1`,
    [id, table, kept],
  );
  assert.equal(rows.length, 1, `${table} ${id} is stored once`);
  const { found } = rows[0] as { found: string };
  const nothing = Object.fromEntries(Object.keys(JSON.parse(found)).map((name) => [name, null]));
  const expected = JSON.stringify({ ...nothing, ...row });
  const comparison = await owner.query('SELECT $1::jsonb = $2::jsonb AS same', [found, expected]);
  if (comparison.rows[0].same) return;
  assert.deepEqual(JSON.parse(found), JSON.parse(expected));
  assert.fail(`stored ${found}, expected ${expected}`);
}

/** The columns of a body: {address: {zipCode}} is {address_zip_code}. Ids are kept in lower case. */
export function columnsOfBody(body: object, parents: readonly string[] = []): Stored {
  return Object.assign(
    {},
    ...Object.entries(body).map(([name, value]) => {
      const path = [...parents, name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)];
      if (isGroup(value)) return columnsOfBody(value, path);
      return { [path.join('_')]: isId(name, value) ? value.toLowerCase() : value };
    }),
  );
}

function isId(name: string, value: unknown): value is string {
  return name.endsWith('Id') && typeof value === 'string' && /^[0-9a-f-]{36}$/i.test(value);
}

function isGroup(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !JSON.isRawJSON(value);
}

export async function countRows(owner: pg.Client): Promise<number> {
  const { rows } = await owner.query(
    'SELECT (SELECT count(*) FROM customer)::integer + (SELECT count(*) FROM site)::integer AS count',
  );
  return rows[0].count;
}
