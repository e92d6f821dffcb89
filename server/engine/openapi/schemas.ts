// The schemas that the OpenAPI document shares between routes: bodies, answers and errors.
import { attentionCodes } from '../../../core/codes.ts';
import { fieldErrorCodes } from '../../errors.ts';
import { type Definition, ownersOf } from '../definition/definition.ts';
import { type JsonSchema, objectSchema } from '../definition/fields.ts';

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
        version: { type: 'integer', minimum: 1, description: 'Incremented on every change; also the ETag.' },
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
    description: 'Names this request in our log; quote it to support.',
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
      deleted: {
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
      },
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
            code: { type: 'string', enum: fieldErrorCodes },
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
