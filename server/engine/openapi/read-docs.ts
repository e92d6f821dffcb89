// Declarations of the routes that read a resource.
import type { Definition } from '../definition/definition.ts';
import { defaultLimit, maxLimit } from '../read/list-query.ts';
import { answer, commonHeaders, errorResponses } from './answers.ts';
import { formParameterDocs, listSearched, searchParameterDocs } from './list-parameters.ts';
import { etagHeader, externalIdParameter, idParameter, pageParameters, withArticle } from './parameters.ts';
import { schemaName } from './resource-schemas.ts';

export function readDocs(definition: Definition) {
  const name = schemaName(definition);
  const tags = [definition.title];
  const one = {
    querystring: { type: 'object', properties: formParameterDocs(definition) },
    headers: {
      type: 'object',
      properties: { 'If-None-Match': { type: 'string', description: 'An ETag that is known already.' } },
    },
    response: {
      200: answer('The object.', { $ref: `${name}#` }, etagHeader),
      304: { description: 'Unchanged.', headers: { ...commonHeaders, ...etagHeader }, type: 'null' },
      ...errorResponses(400, 401, 403, 404, 429, 500),
    },
  };
  return {
    read: {
      operationId: `get${name}`,
      summary: `Read ${withArticle(definition)}`,
      description: 'The object as it is now.',
      tags,
      params: idParameter,
      ...one,
    },
    readByExternalId: {
      operationId: `get${name}ByExternalId`,
      summary: `Read ${withArticle(definition)} by your own id`,
      description: 'After a merge of duplicates, also by the external id of the other object.',
      tags,
      params: externalIdParameter(definition),
      ...one,
    },
    list: list(definition),
  };
}

function list(definition: Definition) {
  const name = schemaName(definition);
  return {
    operationId: `list${name}s`,
    summary: `List ${definition.plural.en.toLowerCase()}`,
    description: `\`q\` searches in ${listSearched(definition)}.`,
    tags: [definition.title],
    querystring: {
      type: 'object',
      properties: {
        ...pageParameters(maxLimit, defaultLimit),
        count: { type: 'boolean', default: false, description: 'Include the total.' },
        ...searchParameterDocs(definition),
        ...formParameterDocs(definition),
      },
    },
    response: {
      200: answer(
        'A page.',
        { $ref: `${name}Page#` },
        {
          Link: { type: 'string', description: 'Address of the next page, with rel="next".' },
        },
      ),
      ...errorResponses(400, 401, 403, 429, 500),
    },
  };
}
