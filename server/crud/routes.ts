// The routes of a resource, from its definition.
import { randomUUIDv7 } from 'node:crypto';
import type { FastifyInstance, FastifyReply } from 'fastify';
import type { Database } from '../database/database.ts';
import { validationError } from '../errors.ts';
import type { JsonBody } from '../http/json-body.ts';
import type { Definition } from './definition.ts';
import { commonHeaders, errorResponses, ignoredFieldsHeader, schemaName } from './openapi.ts';
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
            headers: { ...commonHeaders, ...ignoredFieldsHeader },
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

/** Proxies and clients refuse answers with long headers, so the names end where this is reached. */
const maxHeaderLength = 2000;
const maxNameLength = 100;

function nameIgnoredFields(reply: FastifyReply, fields: readonly string[]): void {
  if (fields.length === 0) return;
  const names: string[] = [];
  let length = 0;
  for (const field of fields) {
    const name = encodeURIComponent(field.slice(0, maxNameLength).toWellFormed());
    length += name.length + 2;
    if (length > maxHeaderLength) break;
    names.push(name);
  }
  reply.header('Stamm-Ignored-Fields', names.join(', '));
  reply.request.ignoredFields = fields;
}
