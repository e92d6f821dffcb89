// Reading one object and lists of them, from a definition.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type pg from 'pg';
import type { Database } from '../../database/database.ts';
import { buildTenantBatches } from '../../database/tenant-batches.ts';
import { ApiError } from '../../errors.ts';
import {
  etagOf,
  linkNextPage,
  matchesEtag,
  refuseUnknownParameters,
  sendJson,
} from '../../http/conventions.ts';
import { isLargePage } from '../../http/heavy-reads.ts';
import { isStorableText } from '../../http/json-body.ts';
import { sendRows } from '../../http/json-rows.ts';
import { UnchangedReadings } from '../../http/unchanged-readings.ts';
import type { Definition } from '../definition/definition.ts';
import { isUuid } from '../definition/formats.ts';
import { readDocs } from '../openapi/read-docs.ts';
import { findCurrentId } from '../read/former-names.ts';
import {
  buildCountQuery,
  buildListQuery,
  encodeCursor,
  type ListRequest,
  parseListRequest,
  readListed,
} from '../read/list-query.ts';
import { holdsOthers, isPlain, type ObjectForm, parseForm } from '../read/object-form.ts';
import { cutPage } from '../read/page-size.ts';
import { representation, selectObjects } from '../read/representation.ts';
import type { Statement } from '../write/statement-parts.ts';

export function addReadRoutes(
  api: FastifyInstance,
  definition: Definition,
  all: readonly Definition[],
  database: Database,
): void {
  const docs = readDocs(definition);
  const wholeReads = {
    id: buildReadOne(definition, database, 'id'),
    external_id: buildReadOne(definition, database, 'external_id'),
  };

  function read({ tenantId, deadline }: FastifyRequest, form: ObjectForm, column: KeyColumn, name: string) {
    if (isPlain(form)) return wholeReads[column](tenantId, name, deadline);
    const { json, joins } = selectObjects(definition, 'subject', form);
    const text = `SELECT subject.version, ${json} AS json FROM (
        SELECT * FROM ${definition.table} AS subject
        WHERE subject.tenant_id = $1 AND subject.${column} = $2 LIMIT 1) AS subject ${joins}`;
    return database
      .queryInTenants<Found>([tenantId], { text, values: [tenantId, name] }, { deadline })
      .then(({ rows }) => rows[0]);
  }

  /** Also finds an object that was merged into another one, and returns that one. */
  async function readOne(request: FastifyRequest, form: ObjectForm, column: KeyColumn, name: string) {
    const found = await read(request, form, column, name);
    if (found) return found;
    const { tenantId, deadline } = request;
    const sought = column === 'id' ? name.toLowerCase() : name;
    const find = (client: pg.ClientBase) => findCurrentId(client, tenantId, definition.name, column, sought);
    const id = await database.inTenants([tenantId], find, { deadline });
    return id === undefined ? undefined : read(request, form, 'id', id);
  }

  async function answerOne(request: FastifyRequest, reply: FastifyReply, column: KeyColumn, name: string) {
    refuseUnknownParameters(request, ['fields', 'include']);
    const form = parseForm(definition, all, request.query as object);
    const isName = column === 'id' ? isUuid(name) : isStorableText(name);
    const stored = isName ? await readOne(request, form, column, name) : undefined;
    if (!stored) throw new ApiError('not_found');
    // Other objects can change while this version stays. A digest of a hidden price would let people find it by trying.
    const { hideInRow = (json) => json } = request;
    const etag = etagOf(stored.version, holdsOthers(definition, form) ? hideInRow(stored.json) : undefined);
    reply.header('ETag', etag);
    const known = (request.headers['if-none-match'] ?? '').replaceAll('W/', '');
    return matchesEtag(known, etag) ? reply.code(304).send() : sendJson(reply, stored.json);
  }

  api.get<{ Params: { id: string } }>(
    `/${definition.collection}/:id`,
    { schema: docs.read },
    (request, reply) => answerOne(request, reply, 'id', request.params.id),
  );

  api.get<{ Params: { externalId: string } }>(
    `/${definition.collection}/by-external-id/:externalId`,
    { schema: docs.readByExternalId },
    (request, reply) => answerOne(request, reply, 'external_id', request.params.externalId),
  );

  addListRoute(api, definition, all, database, docs.list);
}

function addListRoute(
  api: FastifyInstance,
  definition: Definition,
  all: readonly Definition[],
  database: Database,
  schema: object,
): void {
  const whole = selectObjects(definition, 'subject');
  const totals = new UnchangedReadings<number>();

  async function query<Row extends object>(
    { tenantId, deadline }: FastifyRequest,
    statement: pg.QueryConfig,
    isPlannedOnce = false,
  ) {
    const { rows } = await database.queryInTenants<Row>([tenantId], statement, { deadline, isPlannedOnce });
    return rows;
  }

  async function readPage(request: FastifyRequest, list: ListRequest, form: ObjectForm) {
    const selection = isPlain(form) ? whole : selectObjects(definition, 'subject', form);
    const statement = buildListQuery(definition, request.tenantId, list, selection);
    // With filters, the best index depends on their values. Without filters, it is the index of the sort order.
    if (list.conditions.length > 0 || !isPlain(form)) return readListed(await query(request, statement));
    const name = listName(definition, list.sort.name, list.cursor !== undefined);
    return readListed(await query(request, { ...statement, name }, true));
  }

  async function count(request: FastifyRequest, list: ListRequest): Promise<number> {
    const { tenantId, deadline } = request;
    const statement = buildCountQuery(definition, tenantId, list);
    return totals.read({ database, tenantId, deadline }, JSON.stringify(statement), async () => {
      return (await query<{ total: number }>(request, statement))[0]!.total;
    });
  }

  api.get<{ Querystring: Record<string, unknown> }>(
    `/${definition.collection}`,
    { schema, config: { isHeavyRead: isLargePage } },
    async (request, reply) => {
      const { list, form } = parseListRequest(definition, all, request.query);
      const [{ rows, isWhole, total }, counted] = await Promise.all([
        readPage(request, list, form),
        list.wantsTotal && !list.search ? count(request, list) : undefined,
      ]);
      const page = cutPage(rows, list.limit);
      const nextCursor = rows.length > page.length ? encodeCursor(list.sort, page.at(-1)!) : undefined;
      if (nextCursor) linkNextPage(request, reply, nextCursor);
      const more = {
        nextCursor: nextCursor ?? null,
        ...(list.wantsTotal && { total: counted ?? total }),
        ...(!isWhole && { truncated: true }),
      };
      return sendRows(request, reply, { data: page }, more);
    },
  );
}

/** The name of the statement that reads a page of a list without filters. */
export function listName({ name }: Definition, sort: string, isFurther: boolean): string {
  return `list ${name} by ${sort}${isFurther ? ', further' : ''}`;
}

type KeyColumn = 'id' | 'external_id';

interface Found {
  version: number;
  json: string;
}

export function readStatement(definition: Definition, column: KeyColumn): Statement {
  const type = column === 'id' ? 'uuid' : 'text';
  return {
    name: `read ${definition.name} by ${column}`,
    text: `SELECT asked.place, subject.version, ${representation(definition, 'subject')} AS json
      FROM unnest($1::uuid[], $2::${type}[]) WITH ORDINALITY AS asked (tenant_id, name, place), LATERAL (
        SELECT * FROM ${definition.table} AS subject
        WHERE subject.tenant_id = asked.tenant_id AND subject.${column} = asked.name LIMIT 1) AS subject`,
  };
}

/** Objects that are requested at the same time are read with one statement, for any tenants. */
function buildReadOne(definition: Definition, database: Database, column: KeyColumn) {
  const statement = readStatement(definition, column);
  const reads = buildTenantBatches<{ tenantId: string; name: string }, Found | undefined>(database, {
    kind: 'read',
    async run(asked) {
      const tenantIds = asked.map(({ tenantId }) => tenantId);
      const values = [tenantIds, asked.map(({ name }) => name)];
      // PostgreSQL would plan a list of one id each time, which takes longer than reading the row.
      const { rows } = await database.queryInTenants<Found & { place: string }>(
        [...new Set(tenantIds)],
        { ...statement, values },
        { isPlannedOnce: true, isBatch: true },
      );
      const found: (Found | undefined)[] = asked.map(() => undefined);
      for (const row of rows) found[Number(row.place) - 1] = row;
      return found;
    },
    tenantOf: ({ tenantId }) => tenantId,
    maxItems: 100,
    paceMs: 0,
  });
  return (tenantId: string, name: string, deadline: number) => reads.add({ tenantId, name }, deadline);
}
