// What is known about one contact person, and its erasure, which leaves nothing behind that names the person.
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Definition } from '../crud/definition.ts';
import type { JsonSchema } from '../crud/fields.ts';
import { isUuid } from '../crud/formats.ts';
import { answer, commonHeaders, errorResponses } from '../crud/openapi-answers.ts';
import { dryRun, idParameter } from '../crud/openapi-routes.ts';
import { authorOf, isRehearsal, refuseUnknownParameters, sendJson } from '../crud/requests.ts';
import { buildWrites } from '../crud/writes.ts';
import type { Database } from '../database/database.ts';
import { toApiFailure } from '../database/failures.ts';
import { ApiError } from '../errors.ts';
import { entryRepresentation } from '../journal/changes.ts';
import { eraseRecordedBodies } from '../journal/recorded-requests.ts';

export const personalDataSchemas: readonly JsonSchema[] = [
  {
    $id: 'PersonalData',
    title: 'Personal data',
    type: 'object',
    properties: {
      person: {
        anyOf: [{ $ref: 'ContactPerson#' }, { type: 'null' }],
        description: 'Null if deleted already.',
      },
      sites: {
        type: 'array',
        items: { type: 'string', format: 'uuid' },
        description: 'Sites that name the person as contact or as recipient of service records.',
      },
      history: {
        type: 'array',
        items: { $ref: 'Change#' },
        description: 'Everything that happened to the record.',
      },
    },
    required: ['person', 'sites', 'history'],
  },
];

export async function personalDataRoutes(
  api: FastifyInstance,
  { database, contactPerson }: { database: Database; contactPerson: Definition },
): Promise<void> {
  const writes = buildWrites(contactPerson, []);
  const path = '/personal-data/:id';

  api.get<{ Params: { id: string } }>(path, { schema: docs.read }, async (request, reply) => {
    const { id, tenantId } = namedPerson(request, []);
    const json = await database
      .inTenants([tenantId], async (client) => {
        const person = await writes.find(client, tenantId, { id });
        const history = await client.query<{ json: string }>(
          `SELECT ${entryRepresentation} AS json FROM journal AS entry
           WHERE entry.tenant_id = $1 AND entry.resource_id = $2 AND entry.resource = $3 ORDER BY entry.position`,
          [tenantId, id, contactPerson.name],
        );
        if (!person && history.rows.length === 0) throw new ApiError('not_found');
        const sites = await client.query<{ id: string }>(
          `SELECT id FROM site WHERE tenant_id = $1 AND (contact_person_id = $2 OR service_record_recipient_id = $2)
           ORDER BY id`,
          [tenantId, id],
        );
        const members = [
          `"person":${person?.json ?? 'null'}`,
          `"sites":${JSON.stringify(sites.rows.map((site) => site.id))}`,
          `"history":[${history.rows.map((entry) => entry.json).join(',')}]`,
        ];
        return `{${members.join(',')}}`;
      })
      .catch((error) => {
        throw toApiFailure(error);
      });
    return sendJson(reply, json);
  });

  api.delete<{ Params: { id: string } }>(path, { schema: docs.erase }, async (request, reply) => {
    const { id, tenantId } = namedPerson(request, ['dryRun']);
    const options = { isRehearsal: isRehearsal(request), deadline: request.deadline };
    await database
      .inTenants(
        [tenantId],
        async (client) => {
          const person = await writes.find(client, tenantId, { id }, 'FOR UPDATE');
          if (person) await writes.deleteRow(client, tenantId, id, authorOf(request));
          // The entries stay, so that the feed keeps its order and tells the deletion; what they said of the person goes.
          const scrubbed = await client.query(
            `UPDATE journal SET changes = NULL, external_id = NULL
           WHERE tenant_id = $1 AND resource_id = $2 AND resource = $3`,
            [tenantId, id, contactPerson.name],
          );
          if (scrubbed.rowCount === 0) throw new ApiError('not_found');
          // The key stays taken, so that a late retry does not bring the person back.
          await client.query(
            `UPDATE idempotent_request SET fingerprint = '' WHERE tenant_id = $1 AND resource_id = $2`,
            [tenantId, id],
          );
          await eraseRecordedBodies(client, tenantId, contactPerson.collection);
        },
        options,
      )
      .catch((error) => {
        throw toApiFailure(error);
      });
    reply.code(204);
  });
}

function namedPerson(request: FastifyRequest<{ Params: { id: string } }>, parameters: readonly string[]) {
  refuseUnknownParameters(request, parameters);
  const { id } = request.params;
  if (!isUuid(id)) throw new ApiError('not_found');
  return { id: id.toLowerCase(), tenantId: request.tenantId };
}

const docs = {
  read: {
    operationId: 'getPersonalData',
    summary: 'Export what is known about a contact person',
    tags: ['Contact person'],
    params: idParameter,
    response: {
      200: answer('Everything about the person.', { $ref: 'PersonalData#' }),
      ...errorResponses(400, 401, 403, 404, 429, 500),
    },
  },
  erase: {
    operationId: 'erasePersonalData',
    summary: 'Erase a contact person',
    description:
      'Deletes the person and clears what the journal and stored answers hold about it. This cannot be undone.',
    tags: ['Contact person'],
    querystring: dryRun,
    params: idParameter,
    response: {
      204: { description: 'Erased.', headers: commonHeaders, type: 'null' },
      ...errorResponses(400, 401, 403, 404, 429, 500),
    },
  },
};
