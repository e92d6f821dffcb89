// The routes of a resource, from its definition.
import { randomUUIDv7 } from 'node:crypto';
import type { FastifyInstance, FastifyReply } from 'fastify';
import type { Database } from '../database/database.ts';
import { validationError } from '../errors.ts';
import type { JsonBody } from '../http/json-body.ts';
import type { Definition } from './definition.ts';
import { errorResponses, schemaName } from './openapi.ts';
import { buildCheck } from './validation.ts';
import { buildWriteQueue, type NewRow } from './write-queue.ts';

export function addResourceRoutes(app: FastifyInstance, definition: Definition, database: Database): void {
  const check = buildCheck(definition);
  const queue = buildWriteQueue(database, definition);

  app.post<{ Body: JsonBody }>(
    definition.path,
    {
      schema: {
        operationId: `create${schemaName(definition)}`,
        summary: `Create a ${definition.title.toLowerCase()}`,
        description: definition.description,
        tags: [definition.title],
        body: { $ref: `${schemaName(definition)}#` },
        response: {
          201: {
            description: 'Created, and durable: the row is on disk when this answer is sent.',
            headers: ignoredFieldsHeader,
            content: { 'application/json': { schema: { $ref: 'IdResponse#' } } },
          },
          ...errorResponses(400, 401, 403, 409, 413, 415, 429, 500),
        },
      },
    },
    async (request, reply) => {
      const { faults, ignoredFields, row } = check(request.body);
      nameIgnoredFields(reply, ignoredFields);
      const newRow: NewRow = { ...row, tenant_id: request.tenantId, id: randomUUIDv7() };
      if (faults.length > 0) {
        const ownersWereReadable = !faults.some(
          (fault) => fault.path.length <= 1 && isOwner(definition, fault.path[0]),
        );
        throw validationError(
          ownersWereReadable ? [...faults, ...(await queue.findOwnerFaults(newRow))] : faults,
        );
      }
      await queue.create(newRow, request.deadline);
      reply.code(201);
      return { id: newRow.id };
    },
  );
}

/** A fault at the root counts as one at the owner: then there is no id to look for. */
function isOwner(definition: Definition, field: string | number | undefined): boolean {
  return field === undefined || definition.fields[field]?.reference?.isOwner === true;
}

const ignoredFieldsHeader = {
  'Stamm-Ignored-Fields': {
    description: 'Paths of fields that were sent but are not known, percent-encoded and separated by commas.',
    schema: { type: 'string', examples: ['adress, address.zip'] },
  },
};

const maxNamedFields = 20;
const maxNameLength = 100;

function nameIgnoredFields(reply: FastifyReply, fields: readonly string[]): void {
  if (fields.length === 0) return;
  const named = fields
    .slice(0, maxNamedFields)
    .map((field) => encodeURIComponent(field.slice(0, maxNameLength).toWellFormed()));
  reply.header('Stamm-Ignored-Fields', named.join(', '));
  reply.request.ignoredFields = fields;
}
