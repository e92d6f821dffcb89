// Finds objects that rows of a file probably repeat, before the import writes anything.
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { ComparedRow } from '../../../core/table/compared-rows.ts';
import { type Input, oneOf, type Reading, readForm } from '../../access/form.ts';
import type { Database } from '../../database/database.ts';
import {
  columnName,
  columnsOf,
  type Definition,
  uniqueColumnsOf,
} from '../../engine/definition/definition.ts';
import { isUuid } from '../../engine/definition/formats.ts';
import { isObject } from '../../engine/definition/validation.ts';
import { maxPageBytes, selectWithinPage } from '../../engine/read/page-size.ts';
import { representation, sizesOf } from '../../engine/read/representation.ts';
import { detailsName } from '../../engine/write/search-words.ts';
import { sendRows } from '../../http/json-rows.ts';

const maxRows = 100;
const maxLength = 300;
/** Objects of one name that a row is compared with. */
const maxNamesakes = 5000;

/** Reasons by which rows are compared, the strongest first. */
const reasons = ['number', 'name', 'email', 'phone'] as const;
type Reason = (typeof reasons)[number];

const rowsInput: Input<ComparedRow[]> = {
  isRequired: true,
  read(value): Reading<ComparedRow[]> {
    if (!Array.isArray(value)) return { code: 'type', params: { type: 'array' } };
    if (value.length > maxRows) return { code: 'too_many_items', params: { max: maxRows } };
    if (!value.every(isComparable)) return { code: 'type', params: { type: 'object' } };
    return { value: value.map(withoutForeignOwner) };
  },
};

function isComparable(row: unknown): row is ComparedRow {
  if (!isObject(row) || !Number.isSafeInteger(row.row)) return false;
  return Object.entries(row).every(
    ([name, value]) => name === 'row' || (typeof value === 'string' && value.length <= maxLength),
  );
}

/** An owner that was not found is no id. */
function withoutForeignOwner({ ownerId, ...row }: ComparedRow): ComparedRow {
  return ownerId !== undefined && isUuid(ownerId) ? { ...row, ownerId } : row;
}

const sent = `json_to_recordset($2) AS sent (row bigint, "externalId" text, number text, name text, "firstName" text,
  "zipCode" text, "ownerId" uuid, email text, phone text)`;

export async function duplicateMatchRoutes(
  office: FastifyInstance,
  { database, resources }: { database: Database; resources: readonly Definition[] },
): Promise<void> {
  const form = { resource: oneOf(resources.map(({ name }) => name)), rows: rowsInput };
  const statements = new Map(resources.map((definition) => [definition.name, statementsOf(definition)]));

  /** At most one object for each row, with the reason why it is probably the same. */
  office.post('/duplicate-matches', { config: { isHeavyRead: true } }, async (request, reply) => {
    const { resource, rows } = readForm(request, form);
    const definition = resources.find(({ name }) => name === resource)!;
    const known = await findKnown(request, definition, rows);
    // A row with a known external id replaces its object, and is no duplicate.
    const open = rows.filter(({ externalId }) => externalId === undefined || !known.has(externalId));
    const found = new Map<number, { id: string; reason: Reason }>();
    for (const reason of reasons) {
      const text = statements.get(resource)![reason];
      const rest = open.filter((row) => !found.has(row.row));
      if (!text || rest.length === 0) continue;
      const matches = await query<{ row: string; id: string }>(request, text, [JSON.stringify(rest)]);
      for (const { row, id } of matches) found.set(Number(row), { id, reason });
    }
    const entities = await readEntities(request, definition, [
      ...new Set([...found.values()].map(({ id }) => id)),
    ]);
    let length = 0;
    const data = [...found].flatMap(([row, { id, reason }]) => {
      const entity = entities.get(id);
      if (entity === undefined) return [];
      length += entity.length;
      // Many rows can repeat one large object.
      const shown = length > maxPageBytes ? JSON.stringify({ id }) : entity;
      return [{ json: `{"row":${row},"reason":"${reason}","entity":${shown}}` }];
    });
    return sendRows(request, reply, { data }, {});
  });

  async function query<Row extends object>(
    { tenantId, deadline }: FastifyRequest,
    text: string,
    values: readonly unknown[],
  ): Promise<Row[]> {
    const statement = { text, values: [tenantId, ...values] };
    return (await database.queryInTenants<Row & Record<string, unknown>>([tenantId], statement, { deadline }))
      .rows;
  }

  async function findKnown(request: FastifyRequest, { table }: Definition, rows: readonly ComparedRow[]) {
    const ids = rows.flatMap(({ externalId }) => externalId ?? []);
    if (ids.length === 0) return new Set<string>();
    const text = `SELECT external_id AS id FROM ${table} WHERE tenant_id = $1 AND external_id = ANY ($2)`;
    return new Set((await query<{ id: string }>(request, text, [ids])).map(({ id }) => id));
  }

  /** Beyond the size of a page, an object is only its id. */
  async function readEntities(request: FastifyRequest, definition: Definition, ids: readonly string[]) {
    if (ids.length === 0) return new Map<string, string>();
    const json = selectWithinPage(representation(definition, 'subject'), {
      sizes: sizesOf(definition, 'subject'),
      order: 'subject.id',
    });
    const text = `SELECT subject.id, ${json} AS json FROM ${definition.table} AS subject
      WHERE subject.tenant_id = $1 AND subject.id = ANY ($2)`;
    const rows = await query<{ id: string; json: string | null }>(request, text, [ids]);
    return new Map(rows.map(({ id, json }) => [id, json ?? JSON.stringify({ id })]));
  }
}

/** Each statement finds its objects by an index, at most one for each row. */
function statementsOf(definition: Definition): Partial<Record<Reason, string>> {
  const { table, searchedBy } = definition;
  const has = (path: string) => columnsOf(definition.fields).some((column) => column.path.join('.') === path);
  const number = uniqueColumnsOf(definition).find(({ name }) => name !== 'external_id');
  const sameName = nameCondition(definition, has);
  const select = (lateral: string) =>
    `SELECT sent.row, found.id FROM ${sent}, LATERAL (${lateral} LIMIT 1) AS found`;
  const rows = `FROM ${table} AS subject WHERE subject.tenant_id = $1`;
  const words = `known.tenant_id = $1 AND known.resource = '${detailsName(table)}'`;
  return {
    ...(number && { number: select(`SELECT subject.id ${rows} AND subject.${number.name} = sent.number`) }),
    ...(sameName && {
      name: select(`SELECT subject.id FROM (
          SELECT subject.* ${rows} AND subject.sort_name = fold(sent.name) ORDER BY subject.id LIMIT ${maxNamesakes}) AS subject
        WHERE ${sameName}`),
    }),
    ...(has('email') && {
      // The longest word of an address is the rarest.
      email: select(`SELECT subject.id FROM (
          SELECT known.id FROM search_word AS known WHERE ${words} AND known.word = (
            SELECT word FROM words_of(fold(sent.email)) AS word ORDER BY length(word) DESC, word LIMIT 1) LIMIT 200) AS known
        JOIN ${table} AS subject ON subject.tenant_id = $1 AND subject.id = known.id
        WHERE lower(subject.email) = lower(sent.email)`),
    }),
    ...(searchedBy.phones.length > 0 && {
      phone: select(`SELECT known.id FROM search_word AS known WHERE ${words}
        AND known.word = phone_word(sent.phone) AND length(phone_word(sent.phone)) > 6`),
    }),
  };
}

/** Fields that must be equal beside the name; undefined where equal names are usual. */
function nameCondition(definition: Definition, has: (path: string) => boolean): string | undefined {
  const column = (path: string) => `subject.${columnName(path.split('.'))}`;
  const isPerson = definition.nameField === 'lastName';
  const conditions = [
    ...(has('customerId') ? [`${column('customerId')} = sent."ownerId"`] : []),
    ...(isPerson ? [`fold(${column('firstName')}) IS NOT DISTINCT FROM fold(sent."firstName")`] : []),
    ...(has('address.zipCode') && !has('customerId')
      ? [`${column('address.zipCode')} = sent."zipCode"`]
      : []),
  ];
  const isNumber = definition.uniqueFields.includes(definition.nameField);
  return conditions.length > 0 && !isNumber ? conditions.join(' AND ') : undefined;
}
