// Everything about a person as one JSON object. History and references have no bound, so they are read page by page.
import type pg from 'pg';
import type { Database } from '../../database/database.ts';
import { columnsOf, type Definition } from '../../engine/definition/definition.ts';
import { cutPage, jsonBytes, selectWithinPage } from '../../engine/read/page-size.ts';
import { entryRepresentation } from '../../engine/write/journal.ts';
import { streamedPageBytes } from '../../http/streamed-answer.ts';
import { findAllIds, findInBin, findPerson, type Kind } from './person-look-up.ts';

const idsPerPage = 5000;
const entriesPerPage = 500;
const nothing = '00000000-0000-0000-0000-000000000000';

export interface ExportedPerson {
  definition: Definition;
  id: string;
  /** With those of records that were merged into this one. */
  ids: readonly string[];
  /** As JSON, if it still exists or is in the bin. */
  record: string | undefined;
  deletedAt: string | undefined;
}

export async function findExported(
  client: pg.ClientBase,
  kinds: readonly Kind[],
  tenantId: string,
  named: string,
): Promise<ExportedPerson> {
  const { definition, person } = await findPerson(client, kinds, tenantId, named, '');
  const id = person?.id ?? named;
  const inBin = person ? undefined : await findInBin(client, tenantId, definition, id);
  return {
    definition,
    id,
    ids: await findAllIds(client, tenantId, id),
    record: person?.json ?? inBin?.json,
    deletedAt: inBin?.deleted_at,
  };
}

interface Source {
  database: Database;
  tenantId: string;
  resources: readonly Definition[];
}

export async function* writeExported(source: Source, person: ExportedPerson): AsyncGenerator<string> {
  const { definition, record = 'null', deletedAt } = person;
  yield `{"resource":${JSON.stringify(definition.name)},"person":${record}`;
  if (deletedAt !== undefined) yield `,"deletedAt":${deletedAt}`;
  const naming = source.resources.filter((other) => namingColumns(other, definition).length > 0);
  const sites = naming.filter(({ name }) => name === 'site');
  // Published before there were others.
  yield ',"sites":[';
  for (const site of sites) yield* joined(readNaming(source, site, person));
  yield '],"references":[';
  let separator = '';
  for (const other of naming) {
    const head = `${separator}{"resource":${JSON.stringify(other.name)},"ids":[`;
    if (yield* joined(readNaming(source, other, person), head)) {
      yield ']}';
      separator = ',';
    }
  }
  yield '],"history":[';
  yield* joined(readHistory(source, person));
  yield ']}';
}

/** JSON texts of all pages, behind `head`. Returns whether there were any. */
async function* joined(pages: AsyncIterable<readonly string[]>, head = ''): AsyncGenerator<string, boolean> {
  let isFirst = true;
  for await (const page of pages) {
    yield (isFirst ? head : ',') + page.join(',');
    isFirst = false;
  }
  return !isFirst;
}

function namingColumns({ fields }: Definition, { name }: Definition): string[] {
  return columnsOf(fields)
    .filter(({ field }) => field.reference?.resources.includes(name))
    .map((column) => column.name);
}

/** The ids of everything that names the person in one of its fields. Each column has an index in the order of ids. */
async function* readNaming({ database, tenantId }: Source, other: Definition, person: ExportedPerson) {
  const found = namingColumns(other, person.definition).map(
    (
      column,
    ) => `(SELECT naming.id FROM ${other.table} AS naming WHERE naming.tenant_id = $1 AND naming.${column} = $2
      AND naming.id > $3 ORDER BY naming.id LIMIT ${idsPerPage})`,
  );
  const text = `SELECT id FROM (${found.join(' UNION ')}) AS found ORDER BY id LIMIT ${idsPerPage}`;
  for (let last = nothing; ; ) {
    const query = { text, values: [tenantId, person.id, last] };
    const { rows } = await database.queryInTenants<{ id: string }>([tenantId], query);
    if (rows.length > 0) yield rows.map(({ id }) => `"${id}"`);
    if (rows.length < idsPerPage) return;
    last = rows.at(-1)!.id;
  }
}

interface Entry {
  position: string;
  json: string | null;
}

async function* readHistory({ database, tenantId }: Source, { definition, ids }: ExportedPerson) {
  const order = 'entry.position';
  const sizes = [jsonBytes('entry.changes')];
  const json = selectWithinPage(entryRepresentation, { sizes, order, maxBytes: streamedPageBytes });
  const text = `SELECT entry.position, ${json} AS json FROM (
      SELECT own.* FROM unnest($3::uuid[]) AS named (id) CROSS JOIN LATERAL (
        SELECT * FROM journal AS entry WHERE entry.tenant_id = $1 AND entry.resource_id = named.id AND entry.position > $2
          AND entry.resource = $4 ORDER BY ${order} LIMIT ${entriesPerPage + 1}) AS own
      ORDER BY own.position LIMIT ${entriesPerPage + 1}) AS entry ORDER BY ${order}`;
  for (let last = '0'; ; ) {
    const query = { text, values: [tenantId, last, ids, definition.name] };
    const { rows } = await database.queryInTenants<Entry>([tenantId], query);
    const page = cutPage(rows, entriesPerPage, streamedPageBytes);
    if (page.length > 0) yield page.map((entry) => entry.json);
    if (page.length === rows.length) return;
    last = page.at(-1)!.position;
  }
}
