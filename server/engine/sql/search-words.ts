// The words by which an object is found: parts of the statements that write the object.
import type pg from 'pg';
import type { Definition } from '../definition/definition.ts';

/** The rows of `source` with one row per word. */
export function selectWords({ table }: Definition, source: string): string {
  return `SELECT DISTINCT source.tenant_id, '${table}' AS resource, word, source.id
    FROM ${source} AS source, words_of(source.search_text) AS word`;
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

/** Of rows in `written`, which have `former_text` too. A row whose words stay the same touches none. */
export function changedWords(definition: Definition): string {
  return `respelled AS MATERIALIZED (SELECT * FROM written WHERE search_text <> former_text),
    former AS (SELECT tenant_id, id, former_text AS search_text FROM respelled),
    words AS (${selectWords(definition, 'respelled')}), former_words AS (${selectWords(definition, 'former')}),
    gone AS (SELECT * FROM former_words EXCEPT SELECT * FROM words), ${deletedWords},
    added_words AS (
      ${insertWords} SELECT * FROM words EXCEPT SELECT * FROM former_words ON CONFLICT DO NOTHING
    )`;
}

const deletedWords = `removed_words AS (
      DELETE FROM search_word AS known USING gone
      WHERE known.tenant_id = gone.tenant_id AND known.resource = gone.resource AND known.word = gone.word AND known.id = gone.id
    )`;

/** Of all rows that are stored, or of one tenant's: for rows that came without their words, as from a backup. */
export async function writeMissingWords(
  client: pg.ClientBase,
  definitions: readonly Definition[],
  tenantId?: string,
): Promise<void> {
  for (const definition of definitions) {
    const rows = `(SELECT * FROM ${definition.table}${tenantId === undefined ? '' : ' WHERE tenant_id = $1'})`;
    await client.query(
      `${insertWords} ${selectWords(definition, rows)} ON CONFLICT DO NOTHING`,
      tenantId === undefined ? [] : [tenantId],
    );
  }
}
