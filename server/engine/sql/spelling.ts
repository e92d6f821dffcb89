// Texts that were folded before fold() knew more letters, folded anew. (Decision 79.)
import type pg from 'pg';
import type { Database } from '../../database/database.ts';
import { columnName, type Definition } from '../definition/definition.ts';
import { deletedWords, detailsOf, insertWords, selectWords, wordColumns } from './search-words.ts';
import { workThrough } from './work-through.ts';

const rowsAtATime = 1000;

/** Folds the texts of a whole table of one tenant anew. */
type Respell = (client: pg.ClientBase, tenantId: string) => Promise<void>;

/** Any number of processes may do so at a time. `others` are tables without a definition. */
export async function respellFormer(
  database: Database,
  all: readonly Definition[],
  others: Readonly<Record<string, Respell>>,
): Promise<void> {
  await workThrough(database, 'former_spelling', async (client, tenantId, { resource, after_id }) => {
    await others[resource]?.(client, tenantId);
    const definition = all.find(({ table }) => table === resource.replace(/^deleted:/, ''));
    const respell = resource.startsWith('deleted:') ? respellDeleted : respellRows;
    return definition && respell(client, definition, tenantId, after_id);
  });
}

/** The last id, or undefined at the end of the table. */
async function respellRows(
  client: pg.ClientBase,
  definition: Definition,
  tenantId: string,
  afterId: string,
): Promise<string | undefined> {
  const { table, nameField, searchedBy } = definition;
  const folded = [...new Set([nameField, ...searchedBy.names])].map((path) => columnName(path.split('.')));
  const { rows } = await client.query<{ id: string; is_former: boolean }>(
    `SELECT id, fold(texts) <> former_fold(texts) AS is_former FROM (
       SELECT id, concat_ws(' ', ${folded.join(', ')}, ${detailsOf(definition, 'subject')}) AS texts FROM ${table} AS subject
       WHERE tenant_id = $1 AND id > $2 ORDER BY id LIMIT ${rowsAtATime}) AS known`,
    [tenantId, afterId],
  );
  const ids = rows.filter(({ is_former: isFormer }) => isFormer).map(({ id }) => id);
  if (ids.length > 0) await client.query(respelling(definition, folded), [tenantId, ids]);
  return rows.at(-1)?.id;
}

/** A stored column is computed anew when a column that it depends on is set. The object keeps its version. */
function respelling(definition: Definition, folded: readonly string[]): string {
  const { table } = definition;
  return `WITH former AS MATERIALIZED (
      SELECT subject.tenant_id, subject.id, ${wordColumns(definition, 'subject')} FROM ${table} AS subject
      WHERE subject.tenant_id = $1 AND subject.id = ANY ($2) ORDER BY subject.id FOR NO KEY UPDATE
    ), written AS (
      UPDATE ${table} AS subject SET ${folded.map((name) => `${name} = subject.${name}`).join(', ')} FROM former
      WHERE subject.tenant_id = former.tenant_id AND subject.id = former.id
      RETURNING subject.tenant_id, subject.id, ${wordColumns(definition, 'subject')}
    ), words AS (${selectWords(definition, 'written')}),
    former_words AS (${selectWords(definition, 'former', 'former_detail_words')}),
    gone AS (SELECT * FROM former_words EXCEPT SELECT * FROM words), ${deletedWords}
    ${insertWords} SELECT * FROM words EXCEPT SELECT * FROM former_words ON CONFLICT DO NOTHING`;
}

async function respellDeleted(
  client: pg.ClientBase,
  { name }: Definition,
  tenantId: string,
  afterId: string,
): Promise<string | undefined> {
  const { rows } = await client.query<{ id: string }>(
    `WITH part AS (
       SELECT id, lower(plain_letters(search_text)) AS respelled FROM deleted_object
       WHERE tenant_id = $1 AND resource = $2 AND id > $3 ORDER BY id LIMIT ${rowsAtATime}
     ), written AS (
       UPDATE deleted_object AS bin SET search_text = part.respelled FROM part
       WHERE bin.tenant_id = $1 AND bin.resource = $2 AND bin.id = part.id AND bin.search_text <> part.respelled
     )
     SELECT id FROM part ORDER BY id`,
    [tenantId, name, afterId],
  );
  return rows.at(-1)?.id;
}
