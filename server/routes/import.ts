// POST /import: lines in, lines out, both streamed.
import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Definition } from '../crud/definition.ts';
import type { JsonSchema } from '../crud/fields.ts';
import { readClaim } from '../crud/idempotency.ts';
import { answer, errorResponses } from '../crud/openapi-answers.ts';
import { authorOf, isRehearsal, languageOf, refuseUnknownParameters } from '../crud/requests.ts';
import { validationError } from '../errors.ts';
import { linesType } from '../http/json-body.ts';
import { expectLongBody } from '../http/raw-requests.ts';
import { logRequest, withoutData } from '../http/request-log.ts';
import { type ImportAnswer, type ImportOptions, importModes, runImport } from '../import/import-run.ts';
import { prepareResources } from '../import/line-check.ts';
import { readLines } from '../import/lines.ts';
import type { OpenSession } from '../import/session.ts';

interface ImportRouteOptions {
  openImport: OpenSession;
  resources: readonly Definition[];
  maxLineBytes: number;
  /** Called after an import that was not only tried. */
  onImport: (tenantId: string) => void;
}

/** How long nothing may move in either direction before the connection is cut. */
const maxIdleMs = 60_000;
const retryAfterSeconds = 10;

export async function importRoutes(api: FastifyInstance, options: ImportRouteOptions): Promise<void> {
  const resources = prepareResources(options.resources);
  // The body is read while it is answered, so that nothing parses it before.
  api.removeAllContentTypeParsers();
  api.addContentTypeParser('*', (_request, _payload, done) => done(null));

  const route = { schema: importDocs, config: { bodyType: linesType } };
  api.post('/import', route, async (request, reply) => {
    const importOptions = readOptions(request);
    const { tenantId, idempotencyKey, mode } = importOptions;
    const isOneTransaction = mode === 'all-or-nothing' || importOptions.isRehearsal;
    const session = await options
      .openImport({ tenantId, idempotencyKey, isOneTransaction })
      .catch((error) => {
        if (error.code === 'too_many_imports') reply.header('Retry-After', retryAfterSeconds);
        throw error;
      });
    expectLongBody(request.raw, maxIdleMs);
    const lines = readLines(request.raw, options.maxLineBytes);
    const answers = Readable.from(encode(runImport(session, resources, lines, importOptions)), {
      objectMode: false,
    });
    answers.once('end', () => {
      if (!importOptions.isRehearsal) options.onImport(tenantId);
    });
    answers.once('close', () => {
      // A client that left before the first answer was wanted leaves the session open.
      void session.close();
      // What nobody will read any more is taken from the connection all the same, so that the answer gets through.
      request.raw.resume();
    });
    // The framework reports only answers that end.
    reply.raw.once('close', () => {
      if (!reply.raw.writableEnded) logRequest(request, reply);
    });
    return reply.type('application/x-ndjson; charset=utf-8').send(answers);
  });
}

function readOptions(request: FastifyRequest): ImportOptions {
  refuseUnknownParameters(request, ['mode', 'dryRun']);
  const { mode: asked = importModes[0] } = request.query as Record<string, unknown>;
  const mode = importModes.find((known) => known === asked);
  if (!mode) {
    throw validationError([{ path: ['mode'], code: 'invalid_choice', params: { choices: importModes } }]);
  }
  return {
    mode,
    isRehearsal: isRehearsal(request),
    tenantId: request.tenantId,
    author: authorOf(request),
    idempotencyKey: readClaim(request.headers['idempotency-key'], '/import', Buffer.of())?.key,
    language: languageOf(request),
    onFailure: (error) =>
      request.server.log.error({ requestId: request.id, err: withoutData(error) }, 'import failed'),
  };
}

async function* encode(answers: AsyncIterable<ImportAnswer[]>): AsyncGenerator<string> {
  for await (const some of answers) {
    yield some.map((one) => `${JSON.stringify('answer' in one ? one.answer : one)}\n`).join('');
  }
}

export function importSchemas(resources: readonly Definition[]): JsonSchema[] {
  const count = (description: string) => ({ type: 'integer', minimum: 0, description });
  return [
    {
      $id: 'ImportLine',
      title: 'Import line',
      type: 'object',
      description: 'One line of an import.',
      properties: {
        type: { type: 'string', enum: resources.map(({ name }) => name), description: 'What it is.' },
        data: { type: 'object', description: 'The body that would create it.' },
      },
      required: ['type', 'data'],
      examples: [{ type: resources[0]!.name, data: { ...resources[0]!.example, externalId: 'ERP-4711' } }],
    },
    {
      $id: 'ImportResult',
      title: 'Import result',
      type: 'object',
      description:
        'What became of a line. 201 created, 200 replaced or unchanged; otherwise the status and the members of an error answer.',
      properties: {
        line: { type: 'integer', minimum: 1, description: 'Number of the line; blank lines count.' },
        status: {
          type: 'integer',
          enum: [200, 201, 400, 409, 415, 422, 424, 500],
          description: '415 is a line that is too long; 424 one that was not stored because of another.',
        },
        id: {
          type: 'string',
          format: 'uuid',
          description: 'The object; with 409 the one that holds the value of `field`.',
        },
        replayed: { type: 'boolean', description: 'Stored by an earlier request with this Idempotency-Key.' },
        ignoredFields: {
          type: 'array',
          items: { type: 'string' },
          description: 'Fields that are not known.',
        },
        code: { type: 'string', description: 'What is wrong, for programs.' },
        message: { type: 'string', description: 'What is wrong, for people.' },
        field: { type: 'string', description: 'With 409: the field whose value is taken.' },
        errors: { $ref: 'ValidationError#/properties/errors' },
      },
      required: ['line', 'status'],
    },
    {
      $id: 'ImportSummary',
      title: 'Import summary',
      type: 'object',
      description: 'The last line. An answer without it is not complete.',
      properties: {
        summary: {
          type: 'object',
          properties: {
            lines: count('Lines that were answered.'),
            created: count('Objects that are new.'),
            replaced: count('Objects that were changed.'),
            unchanged: count('Objects that were the same already, and lines that were stored earlier.'),
            failed: count('Lines with a fault.'),
            notStored: count('Lines without a fault that were not stored because others have one.'),
            dryRun: { type: 'boolean', const: true },
            code: { type: 'string', description: 'Why the import ended before its input did.' },
          },
          required: ['lines', 'created', 'replaced', 'unchanged', 'failed', 'notStored'],
        },
      },
      required: ['summary'],
    },
  ];
}

const importDocs = {
  operationId: 'import',
  summary: 'Create and replace many objects',
  description: `One JSON object a line, \`{"type": "site", "data": {…}}\`, any number of them; a line may be as long as any other body. Each line gets its result as it goes, so read while you send. A line with an \`externalId\` that is known replaces the object that has it.

Lines may name owners that other lines bring (\`customerExternalId\`), in any order: a line whose owner is not there yet waits for the end of the input, 10,000 such lines at most, and its result comes last.

\`mode=each\` stores each line by itself. \`mode=all-or-nothing\` stores all lines or none, and answers when all have arrived; if one has a fault, those without one get 424.

At most two imports run at once in one process; a third gets 429.`,
  tags: ['Import'],
  consumes: ['application/x-ndjson'],
  body: { $ref: 'ImportLine#' },
  querystring: {
    type: 'object',
    properties: {
      mode: {
        type: 'string',
        enum: importModes,
        default: importModes[0],
        description: 'What a fault of one line means for the others.',
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
      'Idempotency-Key': {
        type: 'string',
        maxLength: 255,
        description:
          'Makes a retry safe: lines of the same number and content that were stored under this key in the last 24 hours are not stored again.',
      },
    },
  },
  response: {
    200: {
      ...answer('A result for each line, and a summary at last.', {}),
      content: {
        'application/x-ndjson': {
          schema: { anyOf: [{ $ref: 'ImportResult#' }, { $ref: 'ImportSummary#' }] },
          example: { line: 1, status: 201, id: '0198c0de-0000-7000-8000-000000000001' },
        },
      },
    },
    ...errorResponses(400, 401, 403, 409, 413, 429, 500),
  },
};
