// The words by which an object is found: parts of the statements that write the object.
import type pg from 'pg';
import type { Database } from '../../database/database.ts';
import { columnName, type Definition } from '../definition/definition.ts';
import { isAtPlace, placeOf } from './statement-parts.ts';

/** Only this many characters of a longer text become words. */
const longestText = 200;

/** An SQL expression: everything beyond the name that the object is found by, as detail_words() takes it. */
function detailsOf({ searchedBy }: Definition, alias: string): string {
  const { words, codes, phones } = searchedBy;
  const items = [
    words.length > 0 ? `concat_ws(' ', ${textsOf(words, alias).join(', ')})` : `''`,
    ...textsOf(codes, alias).map((code) => `'=' || ${code}`),
    ...textsOf(phones, alias).map((phone) => `'+' || ${phone}`),
  ];
  return `concat_ws(E'\\x01', ${items.join(', ')})`;
}

/** Returns the same as texts with a space before each word, which is cheaper for few words. */
export function describedItems({ searchedBy }: Definition, alias: string): string[] {
  const { words, codes, phones } = searchedBy;
  return [
    ...(words.length > 0 ? [`space_words(fold(concat_ws(' ', ${textsOf(words, alias).join(', ')})))`] : []),
    ...textsOf(codes, alias).map((code) => `code_word(${code})`),
    ...textsOf(phones, alias).flatMap((phone) => [
      `phone_word(${phone})`,
      `substring(${phone} FROM '([0-9]{4,})[^0-9]*$')`,
    ]),
  ];
}

function textsOf(paths: readonly string[], alias: string): string[] {
  return paths.map((path) => `left(${alias}.${columnName(path.split('.'))}, ${longestText})`);
}

/** The columns that `written` returns beside tenant and id. */
export function wordColumns(definition: Definition, alias: string): string {
  return `${alias}.search_text, ${detailsOf(definition, alias)} AS details`;
}

export function formerWordColumns(definition: Definition, alias: string): string {
  return `${alias}.search_text AS former_text, ${detailsOf(definition, alias)} AS former_details`;
}

/** The words of the rows in `source`, which has the columns search_text and details. */
export function selectWords({ table }: Definition, source: string): string {
  return `SELECT DISTINCT source.tenant_id, '${table}' AS resource, word, source.id
    FROM ${source} AS source, words_of(source.search_text) AS word
    UNION ALL SELECT DISTINCT source.tenant_id, '${detailsName(table)}', word, source.id
    FROM ${source} AS source, detail_words(source.details) AS word WHERE word IS NOT NULL`;
}

/** The name under which a table's other words are kept. */
export function detailsName(table: string): string {
  return `${table}:detail`;
}

/** Selects stored rows for `selectWords`. */
export function storedRows(definition: Definition, condition: string): string {
  return `(SELECT subject.tenant_id, subject.id, ${wordColumns(definition, 'subject')}
    FROM ${definition.table} AS subject WHERE ${condition})`;
}

const insertWords = 'INSERT INTO search_word (tenant_id, resource, word, id)';

/** The words of new rows, which are in `written`. */
export function addedWords(definition: Definition): string {
  return `added_words AS (${insertWords} ${selectWords(definition, 'written')})`;
}

/** The words of deleted rows, which are in `written`. */
export function removedWords(definition: Definition): string {
  return `gone AS (${selectWords(definition, 'written')}), ${deletedWords}`;
}

/** Changes the words of rows in `written`, which have `formerWordColumns` too, unless they stay the same. */
export function changedWords(definition: Definition): string {
  return `respelled AS MATERIALIZED (
      SELECT * FROM written WHERE search_text <> former_text OR details <> former_details
    ), former AS (SELECT tenant_id, id, former_text AS search_text, former_details AS details FROM respelled),
    words AS (${selectWords(definition, 'respelled')}), former_words AS (${selectWords(definition, 'former')}),
    gone AS (SELECT * FROM former_words EXCEPT SELECT * FROM words), ${deletedWords},
    added_words AS (
      ${insertWords} SELECT * FROM words EXCEPT SELECT * FROM former_words ON CONFLICT DO NOTHING
    )`;
}

/** Removes the words in `gone`. */
const deletedWords = `found_words AS MATERIALIZED (
      SELECT place FROM gone, LATERAL (SELECT ${placeOf('known')} FROM search_word AS known
        WHERE known.tenant_id = gone.tenant_id AND known.resource = gone.resource AND known.word = gone.word AND known.id = gone.id
        LIMIT 1) AS found
    ), removed_words AS (
      DELETE FROM search_word AS known USING found_words WHERE ${isAtPlace('known', 'found_words')}
    )`;

/** Writes the words of stored rows that came without them, as from a backup: for all or some tenants. */
export async function writeMissingWords(
  client: pg.ClientBase,
  definitions: readonly Definition[],
  tenantIds?: readonly string[],
): Promise<void> {
  for (const definition of definitions) {
    const rows = storedRows(definition, tenantIds ? 'subject.tenant_id = ANY ($1)' : 'true');
    await client.query(
      // Insert in the order of the index, which is many times faster for many rows.
      `${insertWords} ${selectWords(definition, rows)} ORDER BY 1, 2, 3, 4 ON CONFLICT DO NOTHING`,
      tenantIds ? [tenantIds] : [],
    );
  }
}

const rowsAtATime = 500;

/** Writes the words that a restore promised before it was killed, a few rows per transaction. */
export async function fillMissingWords(database: Database, all: readonly Definition[]): Promise<void> {
  const { rows } = await database.pool.query<{ id: string }>('SELECT tenants_with_missing_words() AS id');
  for (const { id: tenantId } of rows)
    while (await database.inTenants([tenantId], (client) => fillSomeWords(client, all, tenantId)));
}

/** Whether there may be more. Other processes skip the locked place, and writers of the locked rows wait. */
async function fillSomeWords(
  client: pg.ClientBase,
  all: readonly Definition[],
  tenantId: string,
): Promise<boolean> {
  const { rows: places } = await client.query<{ resource: string; after_id: string }>(
    'SELECT resource, after_id FROM missing_words WHERE tenant_id = $1 LIMIT 1 FOR UPDATE SKIP LOCKED',
    [tenantId],
  );
  const [place] = places;
  if (!place) return false;
  const definition = all.find(({ table }) => table === place.resource)!;
  const { rows } = await client.query<{ id: string }>(
    `SELECT id FROM ${definition.table} WHERE tenant_id = $1 AND id > $2 ORDER BY id LIMIT ${rowsAtATime} FOR NO KEY UPDATE`,
    [tenantId, place.after_id],
  );
  const ids = rows.map(({ id }) => id);
  const stored = storedRows(definition, 'subject.tenant_id = $1 AND subject.id = ANY ($2)');
  await client.query(`${insertWords} ${selectWords(definition, stored)} ON CONFLICT DO NOTHING`, [
    tenantId,
    ids,
  ]);
  const isPlace = 'WHERE tenant_id = $1 AND resource = $2';
  await (ids.length < rowsAtATime
    ? client.query(`DELETE FROM missing_words ${isPlace}`, [tenantId, place.resource])
    : client.query(`UPDATE missing_words SET after_id = $3 ${isPlace}`, [
        tenantId,
        place.resource,
        ids.at(-1),
      ]));
  return true;
}
