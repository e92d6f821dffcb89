// What the routes of a resource declare, from its definition.

import { maxOriginLength } from '../../http/conventions.ts';
import { type Definition, referencesOf } from '../definition/definition.ts';
import type { JsonSchema } from '../definition/fields.ts';
import {
  emptiableOf,
  type Filter,
  filtersOf,
  maxIds,
  maxListed,
  rangesOf,
  takesSeveral,
} from '../sql/list-filters.ts';
import { defaultLimit, inclusions, maxLimit, sortNamesOf } from '../sql/list-query.ts';
import {
  answer,
  commonHeaders,
  errorResponses,
  ignoredFieldsHeader,
  reference,
  requestBody,
} from './answers.ts';
import { exampleId, patchExamples } from './examples.ts';
import { schemaName } from './resource-schemas.ts';

const etagHeader = { ETag: { type: 'string', description: 'The version, for `If-Match`.' } };
export const originHeader = {
  'Stamm-Origin': {
    type: 'string',
    maxLength: maxOriginLength,
    pattern: '^[ -~]+$',
    description:
      'Name of the system that writes, in printable ASCII. The journal keeps it; readers of `/changes` can leave it out.',
    examples: ['erp'],
  },
};
const changeHeaders = {
  ...etagHeader,
  'Stamm-Changed': { type: 'string', enum: ['true', 'false'], description: 'Whether anything changed.' },
};
export const ifMatch = {
  type: 'object',
  properties: {
    ...originHeader,
    'If-Match': { type: 'string', description: 'Change only this version: an ETag that was read.' },
  },
};
const preconditions = {
  type: 'object',
  properties: {
    ...ifMatch.properties,
    'If-None-Match': { type: 'string', description: '`*` creates only, and never replaces.' },
  },
};
export const idParameter = {
  type: 'object',
  properties: { id: { type: 'string', format: 'uuid', description: 'Identifier.' } },
  required: ['id'],
};
function externalIdParameter({ example }: Definition) {
  const { externalId } = example as { externalId?: string };
  return {
    type: 'object',
    properties: {
      externalId: { type: 'string', description: 'The id in your own system.', examples: [externalId] },
    },
    required: ['externalId'],
  };
}
export function pageParameters(maximum: number, fallback: number) {
  return {
    limit: { type: 'integer', minimum: 1, maximum, default: fallback, description: 'Page size.' },
    cursor: { type: 'string', description: '`nextCursor` from the previous page.' },
  };
}

export const dryRun = {
  type: 'object',
  properties: {
    dryRun: {
      type: 'boolean',
      default: false,
      description: 'Check everything, answer alike, and store nothing.',
    },
  },
};

/** "a site", "an employee" */
export function withArticle({ title }: Definition): string {
  return `${/^[aeiou]/i.test(title) ? 'an' : 'a'} ${title.toLowerCase()}`;
}

const created = { created: { id: exampleId } };
const dryRunExample = { dryRun: { dryRun: true, attention: [], ignoredFields: ['adress'] } };

export function writeDocs(definition: Definition) {
  const name = schemaName(definition);
  const thing = withArticle(definition);
  const tags = [definition.title];
  const { externalId, ...withoutExternalId } = definition.example;
  return {
    create: {
      operationId: `create${name}`,
      summary: `Create ${thing}`,
      description: definition.description,
      tags,
      body: requestBody(reference(`New${name}`), { [definition.name]: definition.example }),
      querystring: dryRun,
      headers: {
        type: 'object',
        properties: {
          'Idempotency-Key': {
            type: 'string',
            maxLength: 255,
            description: 'Makes a retry safe: the same key and body get the first answer again for 24 hours.',
          },
          ...originHeader,
        },
      },
      response: {
        201: answer(
          'Created, and durable when this is answered.',
          { $ref: 'IdResponse#' },
          {
            ...ignoredFieldsHeader,
            'Idempotency-Replayed': {
              type: 'string',
              description: '`true` if this is the answer of an earlier request.',
            },
          },
          created,
        ),
        // As a range, because mock servers answer a creation with the lowest status.
        '2XX': answer(
          'Dry run (200): it would be created.',
          { $ref: 'DryRun#' },
          ignoredFieldsHeader,
          dryRunExample,
        ),
        ...errorResponses(400, 401, 403, 409, 413, 415, 422, 429, 500),
      },
    },
    upsert: {
      operationId: `put${name}ByExternalId`,
      summary: `Create or replace ${thing} by your own id`,
      description: 'Fields that are not sent are cleared.',
      tags,
      body: requestBody(reference(`New${name}`), { [definition.name]: withoutExternalId }),
      querystring: dryRun,
      params: externalIdParameter(definition),
      headers: preconditions,
      response: {
        200: answer(
          'Replaced, or unchanged; or, in a dry run, what would be attended to.',
          { anyOf: [{ $ref: 'UpsertResponse#' }, { $ref: 'DryRun#' }] },
          { ...changeHeaders, ...ignoredFieldsHeader },
          { replaced: { id: exampleId, version: 2, changed: true }, ...dryRunExample },
        ),
        201: answer(
          'Created.',
          { $ref: 'UpsertResponse#' },
          { ...changeHeaders, ...ignoredFieldsHeader },
          { created: { id: exampleId, version: 1, changed: true } },
        ),
        ...errorResponses(400, 401, 403, 409, 412, 413, 415, 429, 500),
      },
    },
    patch: {
      operationId: `patch${name}`,
      summary: `Change ${thing}`,
      description: 'JSON Merge Patch (RFC 7396): sent fields replace, `null` clears, everything else stays.',
      tags,
      params: idParameter,
      headers: ifMatch,
      querystring: dryRun,
      body: requestBody(reference(`${name}Patch`), patchExamples(definition), [
        'application/merge-patch+json',
        'application/json',
      ]),
      response: {
        200: answer('As it is now.', { $ref: `${name}#` }, { ...changeHeaders, ...ignoredFieldsHeader }),
        ...errorResponses(400, 401, 403, 404, 409, 412, 413, 415, 429, 500),
      },
    },
    merge: {
      operationId: `merge${name}ByExternalId`,
      summary: `Create or merge ${thing} by your own id`,
      description:
        'JSON Merge Patch (RFC 7396): sent fields replace, `null` clears, everything else stays. A complete body of an unknown id creates.',
      tags,
      params: externalIdParameter(definition),
      headers: preconditions,
      querystring: {
        ...dryRun,
        properties: {
          ...dryRun.properties,
          create: {
            type: 'boolean',
            default: true,
            description: '`false` answers 404 for an unknown id.',
          },
        },
      },
      body: requestBody(
        reference(`${name}Patch`),
        { [definition.name]: withoutExternalId, ...patchExamples(definition) },
        ['application/merge-patch+json', 'application/json'],
      ),
      response: {
        200: answer(
          'As it is now; or, in a dry run that would create, what would be attended to.',
          { anyOf: [{ $ref: `${name}#` }, { $ref: 'DryRun#' }] },
          { ...changeHeaders, ...ignoredFieldsHeader },
        ),
        201: answer('Created.', { $ref: `${name}#` }, { ...changeHeaders, ...ignoredFieldsHeader }),
        ...errorResponses(400, 401, 403, 404, 409, 412, 413, 415, 429, 500),
      },
    },
    delete: deletion({
      operationId: `delete${name}`,
      summary: `Delete ${thing}`,
      tags,
      params: idParameter,
    }),
    deleteByExternalId: deletion({
      operationId: `delete${name}ByExternalId`,
      summary: `Delete ${thing} by your own id`,
      tags,
      params: externalIdParameter(definition),
    }),
  };
}

function deletion(own: object) {
  return {
    ...own,
    description: 'Refused while other objects belong to it, unless `cascade` takes them along.',
    headers: ifMatch,
    querystring: {
      ...dryRun,
      properties: {
        ...dryRun.properties,
        cascade: {
          type: 'boolean',
          default: false,
          description:
            'Also delete everything that belongs to it, up to 10,000 objects, together or not at all.',
        },
      },
    },
    response: {
      200: answer('Deleted with everything that belonged to it.', { $ref: 'Deletion#' }),
      204: { description: 'Deleted.', headers: commonHeaders, type: 'null' },
      ...errorResponses(400, 401, 403, 404, 409, 412, 429, 500),
    },
  };
}

/** "`name`, `address.city`, and the names behind `customerId`" */
function listSearched({ searchedBy: { names, words, phones, codes, through } }: Definition): string {
  const fields = [...names, ...words, ...phones, ...codes].map((path) => `\`${path}\``).join(', ');
  if (through.length === 0) return fields;
  const references = through.map((steps) => `\`${steps.map(([field]) => field).join('.')}\``);
  return `${fields}, and the names behind ${references.join(', ')}`;
}

/** The parameters that say which objects a list or an export has, and in which order. */
export function searchParameterDocs(definition: Definition): Record<string, JsonSchema> {
  const filters = filtersOf(definition).map((filter) => [filter.name, filterDocs(filter)]);
  const ranges = rangesOf(definition).flatMap(({ name, column: { field } }) =>
    [
      ['From', 'at least this'],
      ['Until', 'at most this'],
    ].map(([end, words]) => [
      `${name}${end}`,
      { ...filterSchema(field.schema), description: `Filter, ${words}: ${field.schema.description}` },
    ]),
  );
  const fields = { type: 'array', items: { enum: emptiableOf(definition).map(({ name }) => name) } };
  const references = referencesOf(definition).map(({ externalName, column }) => [
    externalName,
    { type: 'string', description: `Filter: ${column.field.schema.description} By your own id.` },
  ]);
  return {
    sort: {
      type: 'string',
      enum: sortNamesOf(definition),
      default: 'createdAt',
      description: 'Sort order; prefix with - to reverse.',
    },
    q: {
      type: 'string',
      description: `Search in ${listSearched(definition)}. All words must match, in any of these. Words may have typing errors; numbers and codes match by their beginning. Finds up to 1,000 matches.`,
    },
    ...includeParameter,
    updatedSince: { type: 'string', format: 'date-time', description: 'Only what changed since.' },
    ...Object.fromEntries([...filters, ...ranges]),
    empty: { ...fields, ...commas, description: 'Filter: fields that have no value.' },
    filled: { ...fields, ...commas, description: 'Filter: fields that have a value.' },
    id: {
      type: 'array',
      items: { type: 'string', format: 'uuid' },
      maxItems: maxIds,
      ...commas,
      description: 'Filter: ids.',
    },
    externalId: {
      type: 'string',
      description: `Filter: your own ids, up to ${maxListed}, separated by commas.`,
      examples: ['ERP-4711,ERP-4712'],
    },
    ...Object.fromEntries(references),
  };
}

/** Several values in one parameter. */
const commas = { style: 'form', explode: false };

function filterDocs(filter: Filter): JsonSchema {
  const { field } = filter.column;
  const { description, ...schema } = field.schema;
  if (field.kind === 'flag') return { type: 'boolean', description: `Filter: ${description}` };
  if (!takesSeveral(filter)) return { ...filterSchema(schema), description: `Filter: ${description}` };
  return {
    type: 'array',
    items: filterSchema(schema),
    maxItems: maxListed,
    ...commas,
    description: `Filter, one or several: ${description}`,
  };
}

const includeParameter = {
  include: {
    type: 'string',
    enum: inclusions,
    description: '`externalIds` adds your own ids of the objects that are referred to.',
  },
};

export function readDocs(definition: Definition) {
  const name = schemaName(definition);
  const tags = [definition.title];
  const one = {
    querystring: { type: 'object', properties: includeParameter },
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
      description: 'The object as it is now, with its version as ETag.',
      tags,
      params: idParameter,
      ...one,
    },
    readByExternalId: {
      operationId: `get${name}ByExternalId`,
      summary: `Read ${withArticle(definition)} by your own id`,
      tags,
      params: externalIdParameter(definition),
      ...one,
    },
    list: {
      operationId: `list${name}s`,
      summary: `List ${definition.plural.en.toLowerCase()}`,
      description:
        'Pages stay stable while objects are added and removed. Follow `nextCursor`, or `Link` with rel="next". A page ends at about 4 MB, so it may be shorter than `limit` and still have a next one.',
      tags,
      querystring: {
        type: 'object',
        properties: {
          ...pageParameters(maxLimit, defaultLimit),
          count: { type: 'boolean', default: false, description: 'Include the total.' },
          ...searchParameterDocs(definition),
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
    },
  };
}

function filterSchema({ type, format, enum: choices }: JsonSchema): JsonSchema {
  return { type, ...(format !== undefined && { format }), ...(choices !== undefined && { enum: choices }) };
}
