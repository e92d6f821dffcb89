// Declarations of the bin's routes.

import { binDays } from '../../engine/bin/bin.ts';
import type { Definition } from '../../engine/definition/definition.ts';
import type { JsonSchema } from '../../engine/definition/fields.ts';
import { answer, errorResponses, orDryRun } from '../../engine/openapi/answers.ts';
import { exampleId } from '../../engine/openapi/examples.ts';
import {
  dryRun,
  etagHeader,
  idParameter,
  originHeader,
  pageParameters,
  severalOf,
  withArticle,
} from '../../engine/openapi/parameters.ts';
import { schemaName } from '../../engine/openapi/resource-schemas.ts';

export const defaultLimit = 50;
export const maxLimit = 200;
export const longestSearch = 200;

const resourceName = { type: 'string', description: 'Type of the object.', examples: ['site'] };
const objectId = { type: 'string', format: 'uuid', description: 'The object.' };

export function binSchemas(resources: readonly Definition[]): readonly JsonSchema[] {
  return [
    {
      $id: 'DeletedObject',
      title: 'Deleted object',
      type: 'object',
      properties: {
        resource: resourceName,
        id: objectId,
        version: { type: 'integer', description: 'The last version before the deletion.' },
        deletedAt: { type: 'string', format: 'date-time', description: 'When it was deleted.' },
        restorableUntil: { type: 'string', format: 'date-time', description: 'When it leaves the bin.' },
        actor: { type: 'string', description: 'Who deleted it, to read.', examples: ['key …a1B2'] },
        actorId: { type: 'string', format: 'uuid', description: 'The person; absent for others.' },
        actorType: { type: 'string', enum: ['PERSON', 'KEY', 'COMMAND_LINE'] },
        deletedWith: {
          type: 'object',
          properties: { resource: resourceName, id: objectId },
          required: ['resource', 'id'],
          description: 'The owner whose deletion took it along. Both are restored together.',
        },
        included: {
          type: 'array',
          items: {
            type: 'object',
            properties: { resource: resourceName, count: { type: 'integer' } },
            required: ['resource', 'count'],
          },
          description: 'What its deletion took along, by type.',
        },
        data: {
          anyOf: resources.map((definition) => ({ $ref: `${schemaName(definition)}#` })),
          description: 'The object as it was.',
        },
      },
      required: [
        'resource',
        'id',
        'version',
        'deletedAt',
        'restorableUntil',
        'actor',
        'actorType',
        'included',
        'data',
      ],
    },
    {
      $id: 'DeletedPage',
      title: 'Page of deleted objects',
      type: 'object',
      properties: {
        data: { type: 'array', items: { $ref: 'DeletedObject#' } },
        nextCursor: {
          type: ['string', 'null'],
          description: 'Where the next page begins; null on the last one.',
        },
      },
      required: ['data', 'nextCursor'],
    },
    {
      $id: 'Restoration',
      title: 'Restoration',
      type: 'object',
      properties: {
        id: objectId,
        version: { type: 'integer', minimum: 1, description: 'Version that it has now; also the ETag.' },
        restored: {
          type: 'array',
          description: 'Everything that is back, by type; empty if the object was there already.',
          items: {
            type: 'object',
            properties: {
              resource: resourceName,
              ids: { type: 'array', items: { type: 'string', format: 'uuid' } },
            },
            required: ['resource', 'ids'],
          },
        },
      },
      required: ['id', 'version', 'restored'],
    },
    {
      $id: 'DeletedOwner',
      title: 'Deleted owner',
      type: 'object',
      properties: {
        message: { type: 'string' },
        code: { $ref: 'ErrorCode#' },
        requestId: { type: 'string', format: 'uuid' },
        field: { type: 'string', description: 'The field that names the owner.' },
        resource: { type: 'string', description: 'Type of the owner.' },
        id: { type: 'string', format: 'uuid', description: 'The owner.' },
        restorable: { type: 'boolean', description: 'Whether the bin still has it.' },
      },
      required: ['message', 'code', 'requestId', 'field', 'resource', 'id', 'restorable'],
    },
  ];
}

export const listDocs = (names: readonly string[]) => ({
  operationId: 'listDeleted',
  summary: 'List what was deleted',
  description: `Deletions of the last ${binDays} days, the newest first. Objects that went with their owner are counted in \`included\`; \`resource\`, \`q\` and \`id\` find them, too. Follow \`nextCursor\`: a page may be shorter than \`limit\` and still have a next one.`,
  tags: ['Bin'],
  querystring: {
    type: 'object',
    properties: {
      ...pageParameters(maxLimit, defaultLimit),
      resource: {
        ...severalOf({ type: 'string', enum: names }),
        description: 'Only objects of these types.',
        examples: [['site', 'contact-person']],
      },
      q: {
        type: 'string',
        maxLength: longestSearch,
        description: 'Only objects whose texts hold all these words.',
      },
      id: { type: 'string', format: 'uuid', description: 'Only this object.' },
    },
  },
  response: {
    200: answer('A page.', { $ref: 'DeletedPage#' }),
    ...errorResponses(400, 401, 403, 429, 500),
  },
});

export function restoreDocs(definition: Definition) {
  return {
    operationId: `restore${schemaName(definition)}`,
    summary: `Restore ${withArticle(definition)}`,
    description: 'Brings back a deleted object with everything that was deleted with it.',
    tags: [definition.title],
    params: idParameter,
    querystring: dryRun,
    headers: { type: 'object', properties: originHeader },
    response: {
      200: answer(
        'Restored, under the same ids, with the next version. `/changes` shows a creation of each. If the object was there already, nothing happened.',
        orDryRun('Restoration'),
        etagHeader,
        {
          restored: {
            id: exampleId,
            version: 3,
            restored: [{ resource: 'site', ids: [exampleId] }],
          },
        },
      ),
      ...errorResponses(400, 401, 403, 404, 413, 415, 429, 500),
      409: answer('A unique value is taken by now, or its owner is deleted.', {
        anyOf: [{ $ref: 'Conflict#' }, { $ref: 'DeletedOwner#' }],
      }),
    },
  };
}
