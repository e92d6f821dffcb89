import type { Definition } from '../../engine/definition/definition.ts';
import type { JsonSchema } from '../../engine/definition/fields.ts';
import { answer, errorResponses, reference, requestBody } from '../../engine/openapi/answers.ts';
import { exampleId } from '../../engine/openapi/examples.ts';
import { idempotencyKey, originHeader, withArticle } from '../../engine/openapi/parameters.ts';
import { schemaName } from '../../engine/openapi/resource-schemas.ts';
import { deletedList, dependantList } from '../../engine/openapi/schemas.ts';
import { lastVersion, lineActions } from './line-check.ts';
import { importModes } from './line-writes.ts';
import { emptySummary } from './results.ts';

export function importSchemas(resources: readonly Definition[]): JsonSchema[] {
  return [
    lineOptionsSchema,
    ...resources.map(lineSchema),
    anyLineSchema(resources),
    resultSchema,
    summarySchema,
  ];
}

const lineName = (definition: Definition) => `${schemaName(definition)}Line`;

/** By type, so that generated code rejects a misspelt field. */
function anyLineSchema(resources: readonly Definition[]): JsonSchema {
  return {
    $id: 'ImportLine',
    title: 'Import line',
    description: 'One line of an import.',
    oneOf: resources.map((definition) => ({ $ref: `${lineName(definition)}#` })),
    discriminator: {
      propertyName: 'type',
      mapping: Object.fromEntries(
        resources.map((definition) => [definition.name, `#/components/schemas/${lineName(definition)}`]),
      ),
    },
    examples: resources.slice(0, 1).map(({ name, example }) => ({ type: name, data: example })),
  };
}

function lineSchema(definition: Definition): JsonSchema {
  const name = schemaName(definition);
  return {
    $id: lineName(definition),
    title: `Import line of ${withArticle(definition)}`,
    type: 'object',
    allOf: [{ $ref: 'LineOptions#' }],
    properties: {
      type: { type: 'string', enum: [definition.name], description: 'What it is.' },
      data: {
        description: 'The body that would create it, or the fields that the action needs.',
        anyOf: [
          { $ref: `New${name}#` },
          {
            allOf: [
              { $ref: `${name}Patch#` },
              { type: 'object', properties: { id: { type: 'string', format: 'uuid' } } },
            ],
          },
        ],
      },
    },
    required: ['type', 'data'],
  };
}

/** What a line of any type takes beside its type and its data. */
const lineOptionsSchema = {
  $id: 'LineOptions',
  title: 'Options of an import line',
  type: 'object',
  properties: {
    action: {
      type: 'string',
      enum: lineActions,
      description:
        '`replace` creates the object or replaces the one with its `externalId`; `merge` keeps fields that are not sent, of the object with this `externalId` or `id`; `create` fails if the `externalId` is taken; `delete` needs `externalId` or `id`. Default: `replace`.',
    },
    cascade: {
      type: 'boolean',
      description:
        'With `delete`: also delete everything that belongs to it, together or not at all. Default: `false`.',
    },
    revive: {
      type: 'boolean',
      description:
        'Not with `delete`: `false` answers 409 `deleted`, with the `id` to restore, if the external id is in the bin. Default: `true`.',
    },
    version: {
      type: 'integer',
      minimum: 1,
      maximum: lastVersion,
      description:
        'With `merge` by `id`: the version that you read. Fields that only others changed since stay as they are; one that both changed is 412.',
    },
  },
};

const resultSchema = {
  $id: 'ImportResult',
  title: 'Import result',
  type: 'object',
  description:
    'What became of a line. 201 created, 200 replaced, unchanged or deleted; otherwise the status and the members of an error answer.',
  properties: {
    line: { type: 'integer', minimum: 1, description: 'Number of the line; blank lines count.' },
    status: {
      type: 'integer',
      enum: [200, 201, 400, 404, 409, 412, 415, 422, 424, 500],
      description: '415 is a line that is too long; 424 one that the import did not get to before it ended.',
    },
    type: { type: 'string', description: 'The type that the line names.' },
    externalId: { type: 'string', description: 'The external id that the line names.' },
    id: {
      type: 'string',
      format: 'uuid',
      description: 'The object; with 409 the one that holds the value of `field`.',
    },
    replayed: { type: 'boolean', description: 'Stored by an earlier request with this Idempotency-Key.' },
    deleted: deletedList,
    dependants: dependantList,
    ignoredFields: {
      type: 'array',
      items: { type: 'string' },
      description: 'Fields that are not known; in a dry run also if there are none.',
    },
    dryRun: { type: 'boolean', const: true, description: 'In a dry run, for a line that would be stored.' },
    attention: {
      type: 'array',
      items: { $ref: 'AttentionEntry#' },
      description: 'In a dry run: what the office would look at.',
    },
    code: { $ref: 'ErrorCode#' },
    message: { type: 'string', description: 'What is wrong, for people.' },
    field: {
      type: 'string',
      description: 'With 409: the field whose value is taken; with 412: one that both changed.',
    },
    errors: { $ref: 'FieldErrorList#' },
  },
  required: ['line', 'status'],
};

function count(description: string): JsonSchema {
  return { type: 'integer', minimum: 0, description };
}

const summarySchema = {
  $id: 'ImportSummary',
  title: 'Import summary',
  type: 'object',
  description: 'The last line. An answer without it is not complete.',
  properties: {
    summary: {
      type: 'object',
      properties: {
        lines: count('Lines that were read and checked.'),
        created: count('Objects that are new.'),
        replaced: count('Objects that were changed.'),
        unchanged: count('Objects that were the same already, and lines that were stored earlier.'),
        deleted: count('Objects that lines deleted. Their dependants do not count.'),
        failed: count('Rejected lines.'),
        notStored: count('All or nothing: valid lines that were not stored.'),
        unlistedErrors: count('All or nothing: rejected lines without a result, because there are too many.'),
        dryRun: { type: 'boolean', const: true },
        code: reference('ErrorCode', { description: 'Why the import ended before its input did.' }),
      },
      required: ['lines', 'created', 'replaced', 'unchanged', 'deleted', 'failed', 'notStored'],
    },
  },
  required: ['summary'],
};

/** One JSON value per line: of each line the schema of `content` says what it holds. */
function linesSchema(content: JsonSchema): JsonSchema {
  return { type: 'string', contentMediaType: 'application/json', contentSchema: content };
}

export const importDocs = (resources: readonly Definition[]) => ({
  operationId: 'import',
  summary: 'Create, change and delete many objects',
  description: `One JSON object per line, \`{"type": "site", "data": {…}}\`, any number of them; a line may be as long as any other body. Each line gets its result as it goes, so read while you send. A line with an \`externalId\` that is known replaces the object that has it, unless \`action\` says otherwise: \`{"type": "site", "action": "merge", "data": {"externalId": "S-1", "comment": null}}\`.

Lines with \`"action": "delete"\` may come in any order among each other if they are close together; otherwise send dependants first, or set \`cascade\`.

Lines may name owners that other lines bring (\`customerExternalId\`), in any order. A line without its owner waits for the end of the input, and its result comes last. At most 10,000 lines wait.

\`mode=each\` stores each line by itself. \`mode=all-or-nothing\` stores all lines or none, and answers when all have arrived. If any line is rejected, only rejected lines get a result, at most 10,000 of them or 64 MiB; the summary counts the rest.

A tenant has one import at a time. Two more wait for up to 30 seconds; others get 429 \`too_many_imports\`.

An import ends early, with a \`code\` in its summary:

- \`import_idle\`: no complete line came for 30 seconds.
- \`import_damaged\`: the compressed data is damaged; \`body_too_large\`: it expands to more than 200 times its size.
- \`import_too_slow\`: another tenant needed the place. This import sent fewer than ten lines per second or ran for over ten minutes.
- \`import_stopped\`: the service restarts.
- \`import_expired\`: all or nothing, or a dry run, took longer than the operator allows (60 minutes by default).

Lines with a result of 200 or 201 stay stored in \`mode=each\`. Send the others again, under the same \`Idempotency-Key\`. If the connection breaks, the import stops.`,
  tags: ['Import'],
  body: requestBody(
    linesSchema({ $ref: 'ImportLine#' }),
    { lines: toLines(resources.map(({ name, example }) => ({ type: name, data: example }))) },
    ['application/x-ndjson'],
  ),
  querystring: {
    type: 'object',
    properties: {
      mode: {
        type: 'string',
        enum: importModes,
        default: importModes[0],
        description: 'What a rejected line means for the others.',
      },
      dryRun: {
        type: 'boolean',
        default: false,
        description: 'Check everything, answer alike, and store nothing.',
      },
    },
  },
  headers: {
    type: 'object',
    properties: {
      ...idempotencyKey(
        'Makes a retry safe: for 24 hours, lines of the same number and content are not stored again under this key.',
      ),
      ...originHeader,
    },
  },
  response: {
    200: {
      ...answer('A result for each line, and a summary at last. Spaces may precede a line.', {}),
      content: {
        'application/x-ndjson': {
          schema: linesSchema({ anyOf: [{ $ref: 'ImportResult#' }, { $ref: 'ImportSummary#' }] }),
          example: toLines([
            { line: 1, status: 201, type: 'customer', externalId: 'ERP-4711', id: exampleId },
            { summary: { ...emptySummary(false), lines: 1, created: 1 } },
          ]),
        },
      },
    },
    ...errorResponses(400, 401, 403, 409, 413, 429, 500),
  },
});

function toLines(values: readonly object[]): string {
  return values.map((value) => `${JSON.stringify(value)}\n`).join('');
}
