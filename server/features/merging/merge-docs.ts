// Declarations of the merge routes.
import type { Definition } from '../../engine/definition/definition.ts';
import type { JsonSchema } from '../../engine/definition/fields.ts';
import {
  answer,
  errorResponses,
  ignoredFieldsHeader,
  orDryRun,
  reference,
  requestBody,
} from '../../engine/openapi/answers.ts';
import { exampleId } from '../../engine/openapi/examples.ts';
import { dryRun, etagHeader, idParameter, ifMatch } from '../../engine/openapi/parameters.ts';
import { schemaName } from '../../engine/openapi/resource-schemas.ts';
import { maxMerged } from './merge-request.ts';
import { choosableFields } from './merged-fields.ts';
import { maxMoves } from './moves.ts';

const otherId = '0198f2c4-6a50-7e21-9d3b-5c8a41b7e902';
const objectId = { type: 'string', format: 'uuid' };

export const mergeSchemas: readonly JsonSchema[] = [
  {
    $id: 'MergeRequest',
    title: 'Merge request',
    type: 'object',
    properties: {
      ids: {
        type: 'array',
        items: objectId,
        minItems: 1,
        maxItems: maxMerged,
        description: 'The objects to merge into the one of the path.',
      },
      fields: {
        type: 'object',
        additionalProperties: objectId,
        description:
          'By the name of a field: the object that gives its value, even if it has none. Other fields come from the first object with a value: the one of the path, then `ids` in their order.',
      },
      versions: {
        type: 'object',
        additionalProperties: { type: 'integer' },
        description: 'By id: the version that you have read. If one differs, the answer is 412.',
      },
    },
    required: ['ids'],
  },
  {
    $id: 'Merge',
    title: 'Merge',
    type: 'object',
    properties: {
      id: { ...objectId, description: 'The object that stays.' },
      version: { type: 'integer', minimum: 1, description: 'Version that it has now; also the ETag.' },
      merged: {
        type: 'array',
        items: objectId,
        description: 'The objects that are merged now; empty if they were merged before.',
      },
      moved: {
        type: 'array',
        items: {
          type: 'object',
          properties: {
            resource: { type: 'string', description: 'Type of the objects.', examples: ['site'] },
            count: { type: 'integer' },
          },
          required: ['resource', 'count'],
        },
        description: 'What referred to them and refers to the object that stays now, by type.',
      },
    },
    required: ['id', 'version', 'merged', 'moved'],
  },
];

export function mergeDocs(definition: Definition) {
  const example = { ids: [otherId], fields: { [choosableFields(definition)[0]!]: otherId } };
  return {
    operationId: `mergeDuplicatesOf${schemaName(definition)}`,
    summary: `Merge duplicates into one ${definition.title.toLowerCase()}`,
    description: 'The object of the path stays. The others go to the bin.',
    tags: [definition.title],
    params: idParameter,
    querystring: dryRun,
    headers: ifMatch,
    body: requestBody(reference('MergeRequest'), { merge: example }),
    response: {
      200: answer(
        `Merged. Everything that refers to the others refers to the object of the path afterwards, up to ${maxMoves} objects. \`/changes\` shows the deletion of the others with \`mergedInto\`. Their ids and external ids keep answering: reading, changing, referring and upserting reach the object that stays. Deleting by a former name is 409 \`merged_object\`. A repeated request changes nothing.`,
        orDryRun('Merge'),
        {
          ...etagHeader,
          ...ignoredFieldsHeader,
        },
        { merged: { id: exampleId, version: 4, merged: [otherId], moved: [{ resource: 'site', count: 3 }] } },
      ),
      ...errorResponses(400, 401, 403, 404, 409, 412, 413, 415, 429, 500),
    },
  };
}
