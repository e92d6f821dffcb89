// Everything about one person, and its erasure, which leaves nothing behind that names the person.
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type pg from 'pg';
import { recordAudit } from '../../auth/audit-log.ts';
import type { Database } from '../../database/database.ts';
import { longStatementMs } from '../../database/timeouts.ts';
import { columnsOf, type Definition } from '../../engine/definition/definition.ts';
import type { JsonSchema } from '../../engine/definition/fields.ts';
import { isUuid } from '../../engine/definition/formats.ts';
import { answer, commonHeaders, errorResponses } from '../../engine/openapi/answers.ts';
import { dryRun, idParameter, originHeader } from '../../engine/openapi/parameters.ts';
import { schemaName } from '../../engine/openapi/resource-schemas.ts';
import { binRepresentation } from '../../engine/sql/bin.ts';
import { entryRepresentation } from '../../engine/sql/journal.ts';
import { retryRaces } from '../../engine/sql/races.ts';
import { timestamp } from '../../engine/sql/representation.ts';
import { type Removed, removeFromBin } from '../../engine/sql/restoration.ts';
import { buildWrites, type Writes } from '../../engine/sql/row-store.ts';
import type { Stored } from '../../engine/sql/rows.ts';
import { ApiError } from '../../errors.ts';
import { authorOf, isDryRun, refuseUnknownParameters, sendJson } from '../../http/conventions.ts';
import { type HarmlessWords, harmlessWordsOf } from './harmless-words.ts';
import { type NamedTexts, readNamedTexts, textBounds } from './named-texts.ts';
import { buildRedaction, findEntries, redactEntries } from './redaction.ts';

/** A resource whose objects can be people. */
interface Kind {
  definition: Definition;
  writes: Writes;
}

interface Found extends Kind {
  /** Undefined if deleted already, and only in the journal. */
  person: Stored | undefined;
}

interface IdRoute {
  Params: { id: string };
}

export async function personalDataRoutes(
  api: FastifyInstance,
  {
    database,
    eraseRecordedCalls,
    resources,
  }: {
    database: Database;
    /** Belongs to the transaction that erases. */
    eraseRecordedCalls: (client: pg.ClientBase, tenantId: string, words: HarmlessWords) => Promise<void>;
    resources: readonly Definition[];
  },
): Promise<void> {
  const kinds = personalOnes(resources).map((definition) => ({
    definition,
    writes: buildWrites(definition, resources),
  }));
  const redaction = buildRedaction(resources);
  const harmlessWords = harmlessWordsOf(resources);
  const docs = personalDataDocs(personalOnes(resources));
  const path = '/personal-data/:id';

  api.get<IdRoute>(path, { schema: docs.read }, async (request, reply) => {
    refuseUnknownParameters(request, []);
    const { tenantId, deadline } = request;
    const named = idOf(request);
    const work = async (client: pg.ClientBase) => {
      const { definition, person } = await findPerson(client, tenantId, named, '');
      const id = person?.id ?? named;
      const inBin = person ? undefined : await findInBin(client, tenantId, definition, id);
      const { rows: history } = await client.query<{ json: string }>(
        `SELECT ${entryRepresentation} AS json FROM journal AS entry
         WHERE entry.tenant_id = $1 AND entry.resource_id = ANY ($2) AND entry.resource = $3 ORDER BY entry.position`,
        [tenantId, await findAllIds(client, tenantId, id), definition.name],
      );
      const references = await findReferences(client, tenantId, definition, id);
      // Published before there were others.
      const sites = references.find(({ resource }) => resource === 'site')?.ids ?? [];
      const subject = { id };
      const details = { resource: definition.name };
      await recordAudit(client, tenantId, request, { event: 'DATA_EXPORTED', subject, details });
      const members = [
        `"resource":${JSON.stringify(definition.name)}`,
        `"person":${person?.json ?? inBin?.json ?? 'null'}`,
        ...(inBin ? [`"deletedAt":${inBin.deleted_at}`] : []),
        `"sites":${JSON.stringify(sites)}`,
        `"references":${JSON.stringify(references)}`,
        `"history":[${history.map((entry) => entry.json).join(',')}]`,
      ];
      return `{${members.join(',')}}`;
    };
    return sendJson(reply, await database.inTenants([tenantId], work, { deadline }));
  });

  api.delete<IdRoute>(path, { schema: docs.erase }, async (request, reply) => {
    refuseUnknownParameters(request, ['dryRun', 'text']);
    const id = idOf(request);
    const texts = readNamedTexts((request.query as { text?: unknown }).text);
    // Without the deadline of other requests: there may be much to search through.
    const options = { isDryRun: isDryRun(request) };
    const work = (client: pg.ClientBase) => erase(client, request, id, texts);
    await retryRaces(() => database.inTenants([request.tenantId], work, options));
    reply.code(204);
  });

  /** Rows are locked before the journal's head, as everywhere, and the record of calls last: others wait for both. */
  async function erase(
    client: pg.ClientBase,
    request: FastifyRequest,
    named: string,
    texts: NamedTexts | undefined,
  ): Promise<void> {
    const { tenantId } = request;
    const author = authorOf(request);
    const { definition, writes, person } = await findPerson(client, tenantId, named, 'FOR UPDATE');
    const id = person?.id ?? named;
    const ids = await findAllIds(client, tenantId, id);
    await client.query(`SET LOCAL statement_timeout = ${longStatementMs}`);
    if (texts) await demandTurn(client, tenantId);
    const records = texts ? await redaction.lockRecords(client, tenantId, id, texts) : [];
    const entries = texts && (await findEntries(client, tenantId, texts));
    if (person) await writes.deleteRow(client, tenantId, id, author);
    const redacted = texts
      ? await redaction.redactRecords(client, tenantId, records, texts, author)
      : undefined;
    if (texts) await redactEntries(client, tenantId, entries!, texts);
    const removed = await removeFromBin(client, tenantId, definition, ids, resources);
    if (texts) await redaction.redactBin(client, tenantId, texts);
    for (const each of removed) await clearTraces(client, tenantId, each);
    const details = { resource: definition.name, redactedRecords: redacted };
    if (!isDryRun(request))
      await recordAudit(client, tenantId, request, { event: 'DATA_ERASED', subject: { id }, details });
    await eraseRecordedCalls(client, tenantId, harmlessWords);
  }

  async function findPerson(
    client: pg.ClientBase,
    tenantId: string,
    id: string,
    lock: '' | 'FOR UPDATE',
  ): Promise<Found> {
    for (const kind of kinds) {
      const person = await kind.writes.find(client, tenantId, { id }, lock);
      if (person) return { ...kind, person };
    }
    const { rows } = await client.query<{ resource: string }>(
      'SELECT resource FROM journal WHERE tenant_id = $1 AND resource_id = $2 LIMIT 1',
      [tenantId, id],
    );
    const kind = kinds.find(({ definition }) => definition.name === rows[0]?.resource);
    if (!kind) throw new ApiError('not_found');
    return { ...kind, person: undefined };
  }

  /** Everything that names the person in one of its fields. */
  async function findReferences(
    client: pg.ClientBase,
    tenantId: string,
    { name }: Definition,
    id: string,
  ): Promise<{ resource: string; ids: string[] }[]> {
    const references: { resource: string; ids: string[] }[] = [];
    for (const other of resources) {
      const columns = columnsOf(other.fields).filter(({ field }) =>
        field.reference?.resources.includes(name),
      );
      if (columns.length === 0) continue;
      const { rows } = await client.query<{ id: string }>(
        `SELECT id FROM ${other.table} WHERE tenant_id = $1
           AND (${columns.map((column) => `${column.name} = $2`).join(' OR ')}) ORDER BY id`,
        [tenantId, id],
      );
      if (rows.length > 0) references.push({ resource: other.name, ids: rows.map((row) => row.id) });
    }
    return references;
  }
}

/** What the person owned is the person's too: the deleted site of a private customer was a home. */
async function clearTraces(
  client: pg.ClientBase,
  tenantId: string,
  { resource, ids }: Removed,
): Promise<void> {
  // The entries stay without the person's data: the feed keeps its order and shows the deletion.
  await client.query(
    `UPDATE journal SET changes = NULL, external_id = NULL
     WHERE tenant_id = $1 AND resource_id = ANY ($2) AND resource = $3`,
    [tenantId, ids, resource],
  );
  await client.query('DELETE FROM former_external_id WHERE tenant_id = $1 AND id = ANY ($2)', [
    tenantId,
    ids,
  ]);
  // The key stays taken, so that a late retry does not bring the person back.
  await client.query(
    `UPDATE idempotent_request SET fingerprint = '' WHERE tenant_id = $1 AND resource_id = ANY ($2)`,
    [tenantId, ids],
  );
}

/** The id and those of records that were merged into this one. */
async function findAllIds(client: pg.ClientBase, tenantId: string, id: string): Promise<string[]> {
  const { rows } = await client.query<{ former_id: string }>(
    'SELECT former_id FROM former_id WHERE tenant_id = $1 AND id = $2',
    [tenantId, id],
  );
  return [id, ...rows.map((row) => row.former_id)];
}

async function findInBin(
  client: pg.ClientBase,
  tenantId: string,
  definition: Definition,
  id: string,
): Promise<{ json: string; deleted_at: string } | undefined> {
  const { rows } = await client.query<{ json: string; deleted_at: string }>(
    `SELECT ${binRepresentation([definition])} AS json, ${timestamp('bin.deleted_at')} AS deleted_at
     FROM deleted_object AS bin WHERE bin.tenant_id = $1 AND bin.resource = $2 AND bin.id = $3`,
    [tenantId, definition.name, id],
  );
  return rows[0];
}

/** A search reads all that a business has: one at a time, so that it takes no connections from others. */
async function demandTurn(client: pg.ClientBase, tenantId: string): Promise<void> {
  const { rows } = await client.query<{ is_free: boolean }>(
    `SELECT pg_try_advisory_xact_lock(hashtextextended('stamm: erase texts ' || $1, 0)) AS is_free`,
    [tenantId],
  );
  if (!rows[0]!.is_free) throw new ApiError('too_many_at_once');
}

function idOf({ params: { id } }: FastifyRequest<IdRoute>): string {
  if (!isUuid(id)) throw new ApiError('not_found');
  return id.toLowerCase();
}

function personalOnes(resources: readonly Definition[]): Definition[] {
  return resources.filter(({ isPersonal }) => isPersonal);
}

const ids = { type: 'array', items: { type: 'string', format: 'uuid' } };

export function personalDataSchemas(resources: readonly Definition[]): readonly JsonSchema[] {
  const people = personalOnes(resources);
  return [
    {
      $id: 'PersonalData',
      title: 'Personal data',
      type: 'object',
      properties: {
        resource: {
          type: 'string',
          enum: people.map(({ name }) => name),
          description: 'Type of the record.',
        },
        person: {
          anyOf: [...people.map((definition) => ({ $ref: `${schemaName(definition)}#` })), { type: 'null' }],
          description: 'The record. Null if it is gone and no longer in the bin.',
        },
        deletedAt: {
          type: 'string',
          format: 'date-time',
          description: 'When it was deleted, for a record in the bin.',
        },
        sites: { ...ids, description: 'Sites that name the person.' },
        references: {
          type: 'array',
          items: {
            type: 'object',
            properties: { resource: { type: 'string', description: 'Type of the objects.' }, ids },
            required: ['resource', 'ids'],
          },
          description: 'Everything that names the person, the sites included.',
        },
        history: {
          type: 'array',
          items: { $ref: 'Change#' },
          description: 'Everything that happened to the record.',
        },
      },
      required: ['resource', 'person', 'sites', 'references', 'history'],
    },
  ];
}

function personalDataDocs(people: readonly Definition[]) {
  const tags = people.map(({ title }) => title);
  const { count, minLength, maxLength } = textBounds;
  return {
    read: {
      operationId: 'getPersonalData',
      summary: 'Export everything about a person',
      description: 'The person is a contact person, an employee, or a customer.',
      tags,
      params: idParameter,
      response: {
        200: answer('Everything about the person.', { $ref: 'PersonalData#' }),
        ...errorResponses(400, 401, 403, 404, 429, 500),
      },
    },
    erase: {
      operationId: 'erasePersonalData',
      headers: { type: 'object', properties: originHeader },
      summary: 'Erase a person',
      description:
        'Deletes a contact person, employee or customer. Clears its data in the bin, the journal, stored answers and recorded calls. A customer with sites, contracts or contact persons is refused with 409 until those are gone. This cannot be undone.',
      tags,
      querystring: {
        type: 'object',
        properties: {
          ...dryRun.properties,
          text: {
            type: 'array',
            items: { type: 'string', minLength, maxLength },
            maxItems: count,
            description:
              'Texts that name the person elsewhere, such as in the comment of a site. Each is replaced by `[…]` in all free texts of your records and in their history; case does not matter. Unique values such as numbers and external ids stay.',
          },
        },
      },
      params: idParameter,
      response: {
        204: { description: 'Erased.', headers: commonHeaders, type: 'null' },
        ...errorResponses(400, 401, 403, 404, 409, 429, 500),
      },
    },
  };
}
