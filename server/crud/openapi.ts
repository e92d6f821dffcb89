// What the OpenAPI document shares between routes: the schemas of bodies and the error answers.
import { faultCodes } from '../errors.ts';
import type { Definition } from './definition.ts';
import { type JsonSchema, objectSchema } from './fields.ts';

/** "contact-person" is ContactPerson. */
export function schemaName(definition: Definition): string {
  return definition.name.replace(/(?:^|-)(\w)/g, (_, letter: string) => letter.toUpperCase());
}

export function resourceSchema(definition: Definition): JsonSchema {
  return {
    $id: schemaName(definition),
    title: definition.title,
    description: `${definition.description} Unknown fields are ignored and named in the header Stamm-Ignored-Fields.`,
    ...objectSchema(definition.fields),
    examples: [definition.example],
  };
}

const problem = {
  message: {
    type: 'string',
    description: 'A sentence in English, or in German where Accept-Language prefers it.',
  },
  code: { type: 'string', description: 'What is wrong, for programs; never changes.' },
  requestId: {
    type: 'string',
    format: 'uuid',
    description: 'Names this request in our log; tell it to support.',
  },
};

export const sharedSchemas: readonly JsonSchema[] = [
  {
    $id: 'IdResponse',
    title: 'IdResponse',
    type: 'object',
    properties: {
      id: { type: 'string', format: 'uuid', description: 'Identifier of the created object.' },
    },
    required: ['id'],
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
    },
    required: [...Object.keys(problem), 'field', 'id'],
  },
  {
    $id: 'ValidationError',
    title: 'ValidationError',
    type: 'object',
    properties: {
      ...problem,
      errors: {
        type: 'array',
        maxItems: 100,
        description: 'Every faulty field of the body at once.',
        items: {
          type: 'object',
          properties: {
            field: { type: 'string', description: 'Path of the field.', examples: ['address.zipCode'] },
            pointer: { type: 'string', description: 'JSON Pointer to it.', examples: ['/address/zipCode'] },
            code: { type: 'string', enum: faultCodes },
            message: { type: 'string' },
            params: { type: 'object', description: 'Figures of the message, such as `max`.' },
          },
          required: ['field', 'pointer', 'code', 'message'],
        },
      },
    },
    required: [...Object.keys(problem), 'errors'],
  },
];

// The meanings that this service assigns. 403, 413 and 415 differ from HTTP's on purpose: see server/errors.ts.
const errorDescriptions = {
  400: {
    schema: 'ValidationError',
    description: 'Invalid data in the request. Check required fields and formats.',
  },
  401: {
    schema: 'Problem',
    description: 'Authentication failed. Check the API key and the `ApiKey` header.',
  },
  403: { schema: 'Problem', description: 'Request not permitted or not recognised. Check method and path.' },
  409: { schema: 'Conflict', description: 'A value that must be unique is taken by another object.' },
  413: { schema: 'Problem', description: 'Content type invalid. Set `Content-Type: application/json`.' },
  415: { schema: 'Problem', description: 'Payload too large. Send a smaller request.' },
  429: { schema: 'Problem', description: 'Too many requests. Wait for `Retry-After` seconds and retry.' },
  500: { schema: 'Problem', description: 'Internal error. Retry later; contact support if needed.' },
} as const;

/** Headers are plain schemas here: the generator makes OpenAPI's header objects of them. */
export const commonHeaders = {
  'X-Request-Id': { type: 'string', format: 'uuid', description: 'Identifier of the request.' },
  'RateLimit-Policy': { type: 'string', description: 'Quota and window in seconds.' },
  RateLimit: { type: 'string', description: 'Requests left, and seconds until the window ends.' },
};

export const ignoredFieldsHeader = {
  'Stamm-Ignored-Fields': {
    type: 'string',
    description: 'Paths of fields that were sent but are not known, percent-encoded and separated by commas.',
    examples: ['adress, address.zip'],
  },
};

export function errorResponses(...statuses: (keyof typeof errorDescriptions)[]) {
  return Object.fromEntries(
    statuses.map((status) => [
      status,
      {
        description: errorDescriptions[status].description,
        headers: {
          ...commonHeaders,
          ...(status === 400 && ignoredFieldsHeader),
          ...(status === 429 && { 'Retry-After': { type: 'integer', description: 'Seconds to wait.' } }),
        },
        content: { 'application/json': { schema: { $ref: `${errorDescriptions[status].schema}#` } } },
      },
    ]),
  );
}
