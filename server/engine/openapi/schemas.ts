// The schemas that routes of several resources share: answers and errors.
import { attentionCodes } from '../../../core/definition/codes.ts';
import { apiErrorCodes, type ErrorCode, type FieldErrorCode, fieldErrorCodes } from '../../errors.ts';
import { sentenceOf } from '../../messages.ts';
import { externalId } from '../definition/definition.ts';
import type { JsonSchema } from '../definition/fields.ts';
import { exampleId } from './examples.ts';

type Code = ErrorCode | FieldErrorCode | (typeof attentionCodes)[number];

/** An enum with a description of each value, for readers and for tools. */
function codeSchema(name: string, description: string, codes: readonly Code[]): JsonSchema {
  return {
    $id: name,
    title: name,
    type: 'string',
    enum: codes,
    description,
    'x-enumDescriptions': Object.fromEntries(codes.map((code) => [code, sentenceOf(code, 'en')])),
  };
}

export const dependantList: JsonSchema = {
  type: 'array',
  description: 'What belongs to the object and must go first.',
  items: {
    type: 'object',
    properties: {
      resource: { type: 'string' },
      count: { type: 'integer' },
      ids: { type: 'array', items: { type: 'string', format: 'uuid' }, description: 'The first ten.' },
    },
    required: ['resource', 'count', 'ids'],
  },
};

export const deletedList: JsonSchema = {
  type: 'array',
  description: 'Everything that is gone, by type; what belonged to something stands before it.',
  items: {
    type: 'object',
    properties: {
      resource: { type: 'string', description: 'Type of the objects.', examples: ['site'] },
      ids: { type: 'array', items: { type: 'string', format: 'uuid' } },
    },
    required: ['resource', 'ids'],
  },
};

const problem = {
  message: {
    type: 'string',
    description: 'A sentence in English, or in German where Accept-Language prefers it.',
  },
  code: { $ref: 'ErrorCode#' },
  requestId: {
    type: 'string',
    format: 'uuid',
    description: 'Names this request in our log; quote it to support.',
  },
};

export const sharedSchemas: readonly JsonSchema[] = [
  {
    $id: 'ExternalId',
    title: 'External id',
    ...externalId.schema,
  },
  {
    $id: 'Page',
    title: 'Page',
    description:
      'Pages stay stable while objects are added and removed. Follow `nextCursor`, or `Link` with rel="next". A page ends at about 4 MB, so it may be shorter than `limit` and still have a next one.',
    type: 'object',
    properties: {
      nextCursor: {
        type: ['string', 'null'],
        description: 'Where the next page begins; null on the last one.',
      },
      total: {
        type: ['integer', 'null'],
        description: 'How many there are in all, with `count=true`; null if `truncated`.',
      },
      truncated: {
        type: 'boolean',
        enum: [true],
        description:
          'Present if a search has too many matches: these pages hold some of them. Add a word, or use a filter instead.',
      },
    },
    required: ['nextCursor'],
  },
  {
    $id: 'IdResponse',
    title: 'IdResponse',
    type: 'object',
    properties: {
      id: { type: 'string', format: 'uuid', description: 'Identifier of the created object.' },
    },
    required: ['id'],
    examples: [{ id: exampleId }],
  },
  codeSchema(
    'ErrorCode',
    'The reason, for programs. A code never changes its meaning; later versions may add codes.',
    apiErrorCodes.map(({ code }) => code),
  ),
  codeSchema('FieldErrorCode', 'The reason why a field is invalid, for programs.', fieldErrorCodes),
  codeSchema('AttentionCode', 'The reason for an entry of the attention list.', attentionCodes),
  {
    $id: 'UpsertResponse',
    title: 'UpsertResponse',
    type: 'object',
    properties: {
      id: { type: 'string', format: 'uuid', description: 'Identifier of the object.' },
      version: { type: 'integer', minimum: 1, description: 'Version that it has now; also the ETag.' },
      changed: { type: 'boolean', description: 'Whether this request created or changed it.' },
    },
    required: ['id', 'version', 'changed'],
  },
  {
    $id: 'Deletion',
    title: 'Deletion',
    type: 'object',
    properties: {
      deleted: deletedList,
    },
    required: ['deleted'],
  },
  { $id: 'Problem', title: 'Problem', type: 'object', properties: problem, required: Object.keys(problem) },
  {
    $id: 'Conflict',
    title: 'Conflict',
    type: 'object',
    properties: {
      ...problem,
      field: { type: 'string', description: 'The field whose value is taken.' },
      id: { type: 'string', format: 'uuid', description: 'The object that holds the value.' },
      resource: { type: 'string', description: 'Its type, where the request may be about several.' },
    },
    required: [...Object.keys(problem), 'field', 'id'],
  },
  {
    $id: 'Dependants',
    title: 'Dependants',
    type: 'object',
    properties: {
      ...problem,
      dependants: dependantList,
    },
    required: [...Object.keys(problem), 'dependants'],
  },
  {
    $id: 'AttentionEntry',
    title: 'Attention entry',
    type: 'object',
    properties: {
      resource: { type: 'string', description: 'Type of the object.', examples: ['site'] },
      id: { type: 'string', format: 'uuid', description: 'The object.' },
      field: { type: 'string', description: 'The field to look at.' },
      code: { $ref: 'AttentionCode#' },
      message: { type: 'string', description: 'The same in a sentence.' },
      duplicateIds: {
        type: 'array',
        items: { type: 'string', format: 'uuid' },
        description: 'For `probable_duplicate`: the other objects, at most 20. All of them are one entry.',
      },
    },
    required: ['resource', 'id', 'field', 'code', 'message'],
  },
  {
    $id: 'DryRun',
    title: 'Dry run',
    type: 'object',
    properties: {
      dryRun: { type: 'boolean', const: true },
      id: {
        type: 'string',
        format: 'uuid',
        description: 'The object that would be replaced; absent for a creation.',
      },
      attention: {
        type: 'array',
        items: { $ref: 'AttentionEntry#' },
        description: 'What the office would look at.',
      },
      ignoredFields: {
        type: 'array',
        items: { type: 'string' },
        description: 'Paths of fields that were sent but are not known.',
      },
    },
    required: ['dryRun', 'attention', 'ignoredFields'],
    examples: [{ dryRun: true, attention: [], ignoredFields: ['adress'] }],
  },
  {
    $id: 'FieldError',
    title: 'FieldError',
    type: 'object',
    properties: {
      field: { type: 'string', description: 'Path of the field.', examples: ['address.zipCode'] },
      pointer: { type: 'string', description: 'JSON Pointer to it.', examples: ['/address/zipCode'] },
      code: { $ref: 'FieldErrorCode#' },
      message: { type: 'string', description: 'The reason in a sentence.' },
      params: {
        type: 'object',
        additionalProperties: true,
        description: 'Values of the message, such as `max`.',
      },
    },
    required: ['field', 'pointer', 'code', 'message'],
  },
  {
    $id: 'FieldErrorList',
    title: 'FieldErrorList',
    type: 'array',
    maxItems: 100,
    items: { $ref: 'FieldError#' },
    description: 'Every invalid field.',
  },
  {
    $id: 'ValidationError',
    title: 'ValidationError',
    type: 'object',
    properties: { ...problem, errors: { $ref: 'FieldErrorList#' } },
    required: [...Object.keys(problem), 'errors'],
  },
];
