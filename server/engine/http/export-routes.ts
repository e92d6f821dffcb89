// Exports a list as one file for programs: CSV or NDJSON.
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { byteOrderMark, guardText, toCsvLine } from '../../../core/table/csv/csv.ts';
import type { Database } from '../../database/database.ts';
import { type FieldError, validationError } from '../../errors.ts';
import { readLocale } from '../../http/conventions.ts';
import { streamConfig } from '../../http/streamed-answer.ts';
import type { Language } from '../../messages.ts';
import { netRecord, type WarningLog } from '../../telemetry/record-net.ts';
import { columnsOf, type Definition, ownersOf, referencesOf } from '../definition/definition.ts';
import type { FieldKind } from '../definition/fields.ts';
import { titlesOf } from '../definition/titles.ts';
import { commonHeaders, errorResponses } from '../openapi/answers.ts';
import { searchParameterDocs } from '../openapi/list-parameters.ts';
import { schemaName } from '../openapi/resource-schemas.ts';
import { type ListRequest, type Query, readParameters, searchParameters } from '../read/list-query.ts';
import { externalIdOf, representation, timestamp } from '../read/representation.ts';
import { separators, toCell } from './csv.ts';
import { encodeLines, sendExport, toChunks } from './export-stream.ts';

function findId(json: string): string | undefined {
  return /[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}/.exec(json)?.[0];
}

const csvType = 'text/csv; charset=utf-8; header=present';
const ndjsonType = 'application/x-ndjson';

export function addExportRoutes(api: FastifyInstance, definition: Definition, database: Database): void {
  const docs = exportDocs(definition);
  api.get<{ Querystring: Query }>(
    `/${definition.collection}.csv`,
    { schema: docs.csv, config: streamConfig, exposeHeadRoute: false },
    async (request, reply) => {
      const { language, ...list } = parseCsvRequest(request);
      const cells = cellsOf(definition, list);
      const toLine = buildLineWriter(cells, language, request.log);
      const head = toCsvLine([...titlesOf(definition, language, list).values()], separators[language]);
      return sendExport(
        request,
        reply,
        { database, definition, list },
        {
          extension: 'csv',
          contentType: csvType,
          selection: `array_to_json(ARRAY[${cells.map(({ text }) => text).join(', ')}])::text`,
          encode: (pages, pace) => toChunks(encodeLines(pages, pace, byteOrderMark + head, toLine)),
        },
      );
    },
  );

  api.get<{ Querystring: Query }>(
    `/${definition.collection}.ndjson`,
    { schema: docs.ndjson, config: streamConfig, exposeHeadRoute: false },
    async (request, reply) => {
      const fieldErrors: FieldError[] = [];
      const list = readParameters(definition, request.query, searchParameters, fieldErrors);
      if (fieldErrors.length > 0) throw validationError(fieldErrors);
      return sendExport(
        request,
        reply,
        { database, definition, list },
        {
          extension: 'ndjson',
          contentType: ndjsonType,
          selection: representation(definition, 'subject', list),
          encode: (pages, pace) => toChunks(encodeLines(pages, pace, '', (json) => `${json}\n`)),
        },
      );
    },
  );

  function parseCsvRequest(request: FastifyRequest): ListRequest & { language: Language } {
    const fieldErrors: FieldError[] = [];
    const { locale, ...search } = request.query as Query;
    const list = readParameters(definition, search, [...searchParameters, 'locale'], fieldErrors);
    const language = readLocale(request, locale, fieldErrors);
    if (fieldErrors.length > 0) throw validationError(fieldErrors);
    return { ...list, language };
  }
}

/** A line that cannot be written is the record as JSON. */
export function buildLineWriter(
  cells: readonly { kind: FieldKind }[],
  language: Language,
  log: WarningLog,
): (json: string) => string {
  const separator = separators[language];
  const write = (json: string) => {
    const values: (string | null)[] = JSON.parse(json);
    return toCsvLine(
      values.map((value, index) => toCell(cells[index]!.kind, value, language)),
      separator,
    );
  };
  return (json) =>
    netRecord(
      log,
      ['csv', findId(json)],
      () => write(json),
      () => toCsvLine([guardText(json)], separator),
    );
}

/** Each column of a CSV as SQL of type text, in the order of the titles. */
function cellsOf(
  definition: Definition,
  { withExternalIds }: Pick<ListRequest, 'withExternalIds'>,
): { kind: FieldKind; text: string }[] {
  const references = withExternalIds ? referencesOf(definition) : [];
  return [
    { kind: 'uuid', text: 'subject.id::text' },
    ...columnsOf(definition.fields).map(({ name, field: { kind } }) => {
      const reference = references.find(({ externalColumn }) => externalColumn === name);
      if (reference) return { kind, text: externalIdOf(reference, 'subject') };
      // The text does not depend on the database's date style.
      return {
        kind,
        text: kind === 'date' ? `to_char(subject.${name}, 'YYYY-MM-DD')` : `subject.${name}::text`,
      };
    }),
    ...(withExternalIds ? ownersOf(definition) : []).map((owner) => ({
      kind: 'text' as const,
      text: externalIdOf(owner, 'subject'),
    })),
    { kind: 'integer', text: 'subject.version::text' },
    ...['created_at', 'updated_at'].map((name) => ({
      kind: 'text' as const,
      text: `btrim(${timestamp(`subject.${name}`)}, '"')`,
    })),
  ];
}

function exportDocs(definition: Definition) {
  const name = schemaName(definition);
  const parameters = searchParameterDocs(definition);
  const docs = (
    format: string,
    description: string,
    contentType: string,
    own: object,
    more: object = {},
  ) => ({
    operationId: `export${name}sAs${format}`,
    summary: `Export ${definition.plural.en.toLowerCase()} as ${format.toUpperCase()}`,
    description: 'Everything that the list finds with the same filters, as one file.',
    tags: [definition.title],
    querystring: { type: 'object', properties: { ...parameters, ...own } },
    response: {
      200: {
        description: `The file, as a download. ${description} If something fails on the way, the connection is cut: a file that ends properly is complete.`,
        headers: {
          ...commonHeaders,
          'Content-Disposition': {
            type: 'string',
            description:
              'The name of the file: the collection and the day of the export, such as `attachment; filename="sites-2026-01-31.csv"`.',
          },
        },
        content: { [contentType]: { schema: { type: 'string', ...more } } },
      },
      ...errorResponses(400, 401, 403, 429, 500),
    },
  });
  return {
    csv: docs(
      'Csv',
      'UTF-8 with a byte order mark. What a spreadsheet would take for a formula, also after a separator within a text, begins with an apostrophe. It can be imported again.',
      'text/csv',
      {
        locale: {
          type: 'string',
          enum: ['de', 'en'],
          description:
            'How it is written: titles, separator (`;` or `,`), decimal mark and yes or no. The language of `Accept-Language` if absent.',
        },
      },
    ),
    ndjson: docs(
      'Ndjson',
      `Each line is a \`${name}\` as the list has it.`,
      ndjsonType,
      {},
      { contentMediaType: 'application/json', contentSchema: { $ref: `${name}#` } },
    ),
  };
}
