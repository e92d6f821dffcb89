// Declarations of answers: statuses with the meanings that they have here, and headers.
import type { JsonSchema } from '../definition/fields.ts';

// The meanings that this service assigns. 403, 413 and 415 differ from HTTP's on purpose: see server/errors.ts.
const errorDescriptions = {
  400: {
    schemas: ['ValidationError'],
    description: 'Invalid data in the request. Check required fields and formats.',
  },
  401: {
    schemas: ['Problem'],
    description: 'Authentication failed. Check the API key and the `ApiKey` header.',
  },
  403: {
    schemas: ['Problem'],
    description: 'Request not permitted or not recognised. Check method and path.',
  },
  404: { schemas: ['Problem'], description: 'There is no such object.' },
  409: {
    schemas: ['Conflict', 'Dependants', 'Problem'],
    description:
      'A value that must be unique is taken by another object; or the object has dependants, is in the bin (`deleted`), or was merged into another one, which is in `id`; or a request with the same `Idempotency-Key` is under way.',
  },
  412: {
    schemas: ['Problem'],
    description: 'The object has been changed since: `If-Match` names another version.',
  },
  413: {
    schemas: ['Problem'],
    description:
      'Content type invalid. Set `Content-Type: application/json`, or `application/x-ndjson` for an import. Also an unknown `Content-Encoding`.',
  },
  415: { schemas: ['Problem'], description: 'Payload too large. Send a smaller request.' },
  422: { schemas: ['Problem'], description: 'The `Idempotency-Key` was used with another body.' },
  429: { schemas: ['Problem'], description: 'Too many requests. Wait for `Retry-After` seconds and retry.' },
  500: {
    schemas: ['Problem'],
    description:
      'Internal error. Retry later; contact support if needed. With `overloaded` and `database_unavailable` nothing is stored. With `outcome_unknown` it may be: repeat with the same `Idempotency-Key`.',
  },
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

const retryAfterHeader = { 'Retry-After': { type: 'integer', description: 'Seconds to wait.' } };

export function errorResponses(...statuses: (keyof typeof errorDescriptions)[]) {
  return Object.fromEntries(
    statuses.map((status) => {
      const { schemas, description } = errorDescriptions[status];
      const references = schemas.map((name) => ({ $ref: `${name}#` }));
      return [
        status,
        {
          description,
          headers: {
            ...commonHeaders,
            ...(status === 400 && ignoredFieldsHeader),
            ...((status === 429 || status === 500) && retryAfterHeader),
          },
          content: {
            'application/json': { schema: references.length === 1 ? references[0] : { anyOf: references } },
          },
        },
      ];
    }),
  );
}

export function answer(description: string, schema: JsonSchema, headers: object = {}, examples?: object) {
  return {
    description,
    headers: { ...commonHeaders, ...headers },
    content: { 'application/json': { schema, ...(examples && { examples: namedExamples(examples) }) } },
  };
}

/** The schema of an answer to which a dry run adds what would be attended to. */
export function orDryRun(name: string): JsonSchema {
  return { anyOf: [{ $ref: `${name}#` }, { allOf: [{ $ref: `${name}#` }, { $ref: 'DryRun#' }] }] };
}

/** A reference with members beside it, which the generator would drop from `$ref`; `finishDocument` restores it. */
export function reference(name: string, members: object = {}): JsonSchema {
  return { 'x-ref': name, ...members };
}

function isStyled(schema: unknown): schema is { style: string; explode: boolean } {
  return typeof schema === 'object' && schema !== null && 'style' in schema;
}

export function finishDocument<Document extends object>(document: Document): Document {
  const write = (_member: string, value: unknown): unknown => {
    if (typeof value !== 'object' || value === null) return value;
    // OpenAPI's default, which @fastify/swagger writes out for each parameter.
    if ('in' in value && 'required' in value && value.required === false) delete value.required;
    // @fastify/swagger leaves the style of a parameter in its schema, where no generator looks for it.
    if ('schema' in value && isStyled(value.schema)) {
      const { style, explode, ...schema } = value.schema;
      return { ...value, style, explode, schema };
    }
    if (!('x-ref' in value)) return value;
    const { 'x-ref': name, ...members } = value;
    return { $ref: `#/components/schemas/${name}`, ...members };
  };
  return JSON.parse(JSON.stringify(document), write) as Document;
}

/** A body with examples that can be sent as they are, in each of its media types. */
export function requestBody(schema: JsonSchema, examples: object, mediaTypes = ['application/json']) {
  const content = { schema: { ...schema, 'x-examples': namedExamples(examples) } };
  return { content: Object.fromEntries(mediaTypes.map((type) => [type, content])) };
}

function namedExamples(examples: object) {
  return Object.fromEntries(Object.entries(examples).map(([name, value]) => [name, { value }]));
}
