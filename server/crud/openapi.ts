// What the OpenAPI document shares between routes: the schemas of bodies and the error answers.
import { attentionCodes, faultCodes } from '../errors.ts';
import { type Definition, ownersOf } from './definition.ts';
import { type JsonSchema, objectSchema } from './fields.ts';
import { defaultLimit, filtersOf, maxLimit, sortNames } from './reads.ts';

/** "contact-person" is ContactPerson. */
export function schemaName(definition: Definition): string {
  return definition.name.replace(/(?:^|-)(\w)/g, (_, letter: string) => letter.toUpperCase());
}

/** The schemas of a resource: the body that creates it, and what is answered. */
export function resourceSchemas(definition: Definition): JsonSchema[] {
  const schema = bodySchema(definition);
  const stored = { ...definition.fields };
  return [
    {
      $id: `New${schemaName(definition)}`,
      title: `New ${definition.title.toLowerCase()}`,
      description: `${definition.description} Unknown fields are ignored and named in the header Stamm-Ignored-Fields.`,
      ...schema,
      examples: [definition.example],
    },
    {
      $id: schemaName(definition),
      title: definition.title,
      description: definition.description,
      type: 'object',
      properties: {
        id: { type: 'string', format: 'uuid', description: 'Identifier.' },
        ...Object.fromEntries(Object.entries(stored).map(([name, field]) => [name, field.schema])),
        version: { type: 'integer', minimum: 1, description: 'Rises with every change; also the ETag.' },
        createdAt: { type: 'string', format: 'date-time', description: 'When it was created.' },
        updatedAt: { type: 'string', format: 'date-time', description: 'When it was last changed.' },
      },
      required: [
        ...['id', 'version', 'createdAt', 'updatedAt'],
        ...Object.keys(stored).filter(
          (name) => stored[name]!.isRequired || stored[name]!.default !== undefined,
        ),
      ],
    },
    {
      $id: `${schemaName(definition)}Page`,
      title: `Page of ${definition.collection}`,
      type: 'object',
      properties: {
        data: { type: 'array', items: { $ref: `${schemaName(definition)}#` } },
        nextCursor: {
          type: ['string', 'null'],
          description: 'Where the next page begins; null on the last one.',
        },
        total: { type: 'integer', description: 'How many there are in all, with `count=true`.' },
      },
      required: ['data', 'nextCursor'],
    },
  ];
}

/** A required owner is named by one of two ids. */
function bodySchema(definition: Definition): JsonSchema {
  const alternatives = ownersOf(definition)
    .filter(({ column }) => column.field.isRequired)
    .map(({ column, externalName }) => ({
      anyOf: [{ required: [column.path[0]] }, { required: [externalName] }],
    }));
  const oneOf = definition.requiredOneOf.map((names) => ({
    anyOf: names.map((name) => ({ required: [name] })),
  }));
  const conditions = [...alternatives, ...oneOf];
  return {
    ...objectSchema(definition.fields),
    ...(conditions.length === 1 ? conditions[0] : conditions.length > 1 && { allOf: conditions }),
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
    $id: 'Dependants',
    title: 'Dependants',
    type: 'object',
    properties: {
      ...problem,
      dependants: {
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
      },
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
      code: { type: 'string', enum: attentionCodes },
      message: { type: 'string', description: 'The same in a sentence.' },
    },
    required: ['resource', 'id', 'field', 'code', 'message'],
  },
  {
    $id: 'DryRun',
    title: 'Dry run',
    type: 'object',
    properties: {
      dryRun: { type: 'boolean', const: true },
      attention: {
        type: 'array',
        items: { $ref: 'AttentionEntry#' },
        description: 'What the office would look at.',
      },
      ignoredFields: { type: 'array', items: { type: 'string' } },
    },
    required: ['dryRun', 'attention', 'ignoredFields'],
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
      'A value that must be unique is taken by another object; or the object has dependants; or a request with the same `Idempotency-Key` is under way.',
  },
  412: {
    schemas: ['Problem'],
    description: 'The object has been changed since: `If-Match` names another version.',
  },
  413: {
    schemas: ['Problem'],
    description:
      'Content type invalid. Set `Content-Type: application/json`, or `application/x-ndjson` for an import.',
  },
  415: { schemas: ['Problem'], description: 'Payload too large. Send a smaller request.' },
  422: { schemas: ['Problem'], description: 'The `Idempotency-Key` was used with another body.' },
  429: { schemas: ['Problem'], description: 'Too many requests. Wait for `Retry-After` seconds and retry.' },
  500: { schemas: ['Problem'], description: 'Internal error. Retry later; contact support if needed.' },
} as const;

/** Headers are plain schemas here: the generator makes OpenAPI's header objects of them. */
export const commonHeaders = {
  'X-Request-Id': { type: 'string', format: 'uuid', description: 'Identifier of the request.' },
  'RateLimit-Policy': { type: 'string', description: 'Quota and window in seconds.' },
  RateLimit: { type: 'string', description: 'Requests left, and seconds until the window ends.' },
};

const ignoredFieldsHeader = {
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
            ...(status === 429 && retryAfterHeader),
          },
          content: {
            'application/json': { schema: references.length === 1 ? references[0] : { anyOf: references } },
          },
        },
      ];
    }),
  );
}

export function answer(description: string, schema: JsonSchema, headers: object = {}) {
  return {
    description,
    headers: { ...commonHeaders, ...headers },
    content: { 'application/json': { schema } },
  };
}

const etagHeader = { ETag: { type: 'string', description: 'The version, for `If-Match`.' } };
const ifMatch = {
  type: 'object',
  properties: {
    'If-Match': { type: 'string', description: 'Change only this version: an ETag that was read.' },
  },
};
export const idParameter = {
  type: 'object',
  properties: { id: { type: 'string', format: 'uuid', description: 'Identifier.' } },
  required: ['id'],
};
const dryRun = {
  type: 'object',
  properties: {
    dryRun: {
      type: 'boolean',
      default: false,
      description: 'Check everything, answer alike, and store nothing.',
    },
  },
};

export function writeDocs(definition: Definition) {
  const name = schemaName(definition);
  const thing = definition.title.toLowerCase();
  const tags = [definition.title];
  const body = { $ref: `New${name}#` };
  return {
    create: {
      operationId: `create${name}`,
      summary: `Create a ${thing}`,
      description: definition.description,
      tags,
      body,
      querystring: dryRun,
      headers: {
        type: 'object',
        properties: {
          'Idempotency-Key': {
            type: 'string',
            maxLength: 255,
            description: 'Makes a retry safe: the same key and body get the first answer again for 24 hours.',
          },
        },
      },
      response: {
        200: answer('Dry run: it would be created.', { $ref: 'DryRun#' }, ignoredFieldsHeader),
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
        ),
        ...errorResponses(400, 401, 403, 409, 413, 415, 422, 429, 500),
      },
    },
    upsert: {
      operationId: `put${name}ByExternalId`,
      summary: `Create or replace a ${thing} by your own id`,
      description: 'Fields that are not sent are cleared.',
      tags,
      body,
      querystring: dryRun,
      params: {
        type: 'object',
        properties: { externalId: { type: 'string', description: 'The id in your own system.' } },
        required: ['externalId'],
      },
      headers: ifMatch,
      response: {
        200: answer('Replaced.', { $ref: 'IdResponse#' }, ignoredFieldsHeader),
        201: answer('Created.', { $ref: 'IdResponse#' }, ignoredFieldsHeader),
        ...errorResponses(400, 401, 403, 409, 412, 413, 415, 429, 500),
      },
    },
    patch: {
      operationId: `patch${name}`,
      summary: `Change a ${thing}`,
      description:
        'JSON Merge Patch (RFC 7396): what is sent replaces, `null` clears, everything else stays.',
      tags,
      params: idParameter,
      headers: ifMatch,
      querystring: dryRun,
      body: { type: 'object', description: 'The fields to change.', examples: [{ comment: null }] },
      response: {
        200: answer('As it is now.', { $ref: `${name}#` }, { ...etagHeader, ...ignoredFieldsHeader }),
        ...errorResponses(400, 401, 403, 404, 409, 412, 413, 415, 429, 500),
      },
    },
    delete: {
      operationId: `delete${name}`,
      summary: `Delete a ${thing}`,
      description: 'Refused while other objects belong to it.',
      tags,
      params: idParameter,
      headers: ifMatch,
      querystring: dryRun,
      response: {
        204: { description: 'Deleted.', headers: commonHeaders, type: 'null' },
        ...errorResponses(400, 401, 403, 404, 409, 412, 429, 500),
      },
    },
  };
}

/** The parameters that say which objects a list or an export has, and in which order. */
export function searchParameterDocs(definition: Definition): Record<string, JsonSchema> {
  const filters = filtersOf(definition).map(({ name: filter, column: { field } }) => [
    filter,
    {
      ...(field.kind === 'flag' ? { type: 'boolean' } : filterSchema(field.schema)),
      description: `Filter: ${field.schema.description}`,
    },
  ]);
  return {
    sort: {
      type: 'string',
      enum: sortNames,
      default: 'createdAt',
      description: 'Order; a minus turns it round.',
    },
    q: {
      type: 'string',
      description:
        'Search in the names, tolerant of typing errors and umlauts. Finds the 1,000 best matches.',
    },
    updatedSince: { type: 'string', format: 'date-time', description: 'Only what changed since.' },
    ...Object.fromEntries(filters),
  };
}

export function readDocs(definition: Definition) {
  const name = schemaName(definition);
  const tags = [definition.title];
  return {
    read: {
      operationId: `get${name}`,
      summary: `Read a ${definition.title.toLowerCase()}`,
      tags,
      params: idParameter,
      headers: {
        type: 'object',
        properties: { 'If-None-Match': { type: 'string', description: 'An ETag that is known already.' } },
      },
      response: {
        200: answer('The object.', { $ref: `${name}#` }, etagHeader),
        304: { description: 'Unchanged.', headers: { ...commonHeaders, ...etagHeader }, type: 'null' },
        ...errorResponses(400, 401, 403, 404, 429, 500),
      },
    },
    list: {
      operationId: `list${name}s`,
      summary: `List ${definition.collection}`,
      description:
        'Pages stay stable while objects are added and removed. Follow `nextCursor`, or `Link` with rel="next".',
      tags,
      querystring: {
        type: 'object',
        properties: {
          limit: {
            type: 'integer',
            minimum: 1,
            maximum: maxLimit,
            default: defaultLimit,
            description: 'Objects a page.',
          },
          cursor: { type: 'string', description: '`nextCursor` of the page before.' },
          count: { type: 'boolean', default: false, description: 'Also tell the total.' },
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
