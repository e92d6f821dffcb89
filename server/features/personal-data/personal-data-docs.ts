// Declarations of the personal-data routes.
import type { Definition } from '../../engine/definition/definition.ts';
import type { JsonSchema } from '../../engine/definition/fields.ts';
import { answer, commonHeaders, errorResponses } from '../../engine/openapi/answers.ts';
import { dryRun, idParameter, originHeader } from '../../engine/openapi/parameters.ts';
import { schemaName } from '../../engine/openapi/resource-schemas.ts';
import { textBounds } from './named-texts.ts';

export function personalOnes(resources: readonly Definition[]): Definition[] {
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

export function personalDataDocs(people: readonly Definition[]) {
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
        200: answer('Dry run: the person would be erased.', { $ref: 'DryRun#' }),
        204: { description: 'Erased.', headers: commonHeaders, type: 'null' },
        ...errorResponses(400, 401, 403, 404, 409, 429, 500),
      },
    },
  };
}
