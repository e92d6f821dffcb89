// Tables that people read: GET /sites.xlsx for everybody, and the same as CSV in the office.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { writeDate } from '../../../core/calendar/day-words.ts';
import { parseExactly } from '../../../core/exact-json.ts';
import { Pace } from '../../../core/pace.ts';
import { byteOrderMark, guardText, toCsvLine } from '../../../core/table/csv/csv.ts';
import type { Database } from '../../database/database.ts';
import type { Definition } from '../../engine/definition/definition.ts';
import { separators } from '../../engine/http/csv.ts';
import { type ExportFile, sendExport, toChunks } from '../../engine/http/export-stream.ts';
import { commonHeaders, errorResponses } from '../../engine/openapi/answers.ts';
import { searchParameterDocs } from '../../engine/openapi/list-parameters.ts';
import { severalOf } from '../../engine/openapi/parameters.ts';
import { schemaName } from '../../engine/openapi/resource-schemas.ts';
import {
  type ListRequest,
  type Query,
  readParameters,
  searchParameters,
} from '../../engine/read/list-query.ts';
import { representation } from '../../engine/read/representation.ts';
import { type FieldError, validationError } from '../../errors.ts';
import { readLocale } from '../../http/conventions.ts';
import { streamConfig } from '../../http/streamed-answer.ts';
import type { Language } from '../../messages.ts';
import {
  buildNames,
  chooseColumns,
  type Entity,
  type TableCell,
  type TableColumn,
  tableColumnsOf,
  writeCell,
} from './table-rows.ts';
import { writeWorkbook } from './workbook.ts';

interface TableOptions {
  database: Database;
  resources: readonly Definition[];
}

const workbookType = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet';

export async function workbookRoutes(scope: FastifyInstance, options: TableOptions): Promise<void> {
  for (const definition of options.resources) {
    const send = buildTable(definition, options);
    scope.get(
      `/${definition.collection}.xlsx`,
      { schema: workbookDocs(definition), config: streamConfig, exposeHeadRoute: false },
      (request, reply) =>
        send(request, reply, ({ name, titles, columns, rows }) => ({
          extension: 'xlsx',
          contentType: workbookType,
          content: writeWorkbook({ name, titles, widths: columns.map(({ width }) => width), rows }),
        })),
    );
  }
}

export async function tableCsvRoutes(office: FastifyInstance, options: TableOptions): Promise<void> {
  for (const definition of options.resources) {
    const send = buildTable(definition, options);
    office.get(
      `/tables/${definition.collection}.csv`,
      { config: streamConfig, exposeHeadRoute: false },
      (request, reply) =>
        send(request, reply, ({ titles, rows, language }) => ({
          extension: 'csv',
          contentType: 'text/csv; charset=utf-8; header=present',
          content: toChunks(writeCsv(titles, rows, language)),
        })),
    );
  }
}

interface Table {
  name: string;
  titles: string[];
  columns: readonly TableColumn[];
  rows: AsyncIterable<TableCell[]>;
  language: Language;
}

type Encode = (table: Table) => Pick<ExportFile, 'extension' | 'contentType'> & {
  content: AsyncIterable<string | Uint8Array>;
};

function buildTable(definition: Definition, { database, resources }: TableOptions) {
  const all = tableColumnsOf(definition);
  const readNames = buildNames(database, definition, resources);

  return async function send(request: FastifyRequest, reply: FastifyReply, encode: Encode) {
    const { language, chosen, list } = parseRequest(definition, all, request);
    const columns = chooseColumns(all, definition, chosen);
    const name = definition.plural[language];

    async function* toRows(pages: AsyncIterable<string[]>, pace: Pace): AsyncGenerator<TableCell[]> {
      for await (const texts of pages) {
        const entities: Entity[] = [];
        for (const text of texts) {
          entities.push(parseExactly(text) as Entity);
          await pace.step();
        }
        const names = await readNames(request.tenantId, entities);
        for (const entity of entities) {
          yield columns.map((column) => writeCell(column, entity, { names, language, log: request.log }));
          await pace.step();
        }
      }
    }

    const titles = columns.map((column) => column.titles[language]);
    const describe = (pages: AsyncIterable<string[]>, pace: Pace) =>
      encode({ name, titles, columns, rows: toRows(pages, pace), language });
    const { extension, contentType } = describe(noPages(), new Pace());
    return sendExport(
      request,
      reply,
      { database, definition, list },
      {
        extension,
        contentType,
        name,
        selection: representation(definition, 'subject'),
        encode: (pages, pace) => describe(pages, pace).content,
      },
    );
  };
}

async function* noPages(): AsyncGenerator<string[]> {}

interface TableRequest {
  language: Language;
  /** Paths of the chosen columns; undefined for all. */
  chosen: string[] | undefined;
  list: ListRequest;
}

function parseRequest(
  definition: Definition,
  columns: readonly TableColumn[],
  request: FastifyRequest,
): TableRequest {
  const fieldErrors: FieldError[] = [];
  const { locale, columns: asked, ...search } = request.query as Query;
  const list = readParameters(definition, search, [...searchParameters, 'locale', 'columns'], fieldErrors);
  const language = readLocale(request, locale, fieldErrors);
  if (Array.isArray(asked)) fieldErrors.push({ path: ['columns'], code: 'repeated_parameter' });
  const chosen = typeof asked === 'string' ? asked.split(',').filter(Boolean) : undefined;
  const isKnown = (name: string) => columns.some(({ path }) => path === name || path.startsWith(`${name}.`));
  if (chosen && !chosen.every(isKnown)) {
    const choices = [...new Set(columns.map(({ path }) => path))];
    fieldErrors.push({ path: ['columns'], code: 'invalid_choice', params: { choices } });
  }
  if (fieldErrors.length > 0) throw validationError(fieldErrors);
  return { language, chosen, list };
}

async function* writeCsv(
  titles: readonly string[],
  rows: AsyncIterable<TableCell[]>,
  language: Language,
): AsyncGenerator<string> {
  const separator = separators[language];
  yield byteOrderMark + toCsvLine(titles, separator);
  for await (const cells of rows) {
    const texts = cells.map((cell) => cell && writeCsvCell(cell, language));
    yield toCsvLine(texts, separator);
  }
}

function writeCsvCell({ kind, text }: NonNullable<TableCell>, language: Language): string {
  switch (kind) {
    case 'number':
      return language === 'de' ? text.replace('.', ',') : text;
    case 'day':
      return writeDate(text, language);
    case 'moment': {
      const [day = '', time = ''] = text.split(' ');
      return `${writeDate(day, language)} ${time}`;
    }
    default:
      return guardText(text);
  }
}

function workbookDocs(definition: Definition) {
  return {
    operationId: `export${schemaName(definition)}sAsXlsx`,
    summary: `Export ${definition.plural.en.toLowerCase()} as XLSX`,
    description: 'Everything that the list finds with the same filters, as a workbook for people.',
    tags: [definition.title],
    querystring: {
      type: 'object',
      properties: {
        ...searchParameterDocs(definition),
        columns: {
          ...severalOf({ type: 'string' }),
          minItems: 0,
          description: 'Paths of the columns; all if absent. Name and id are always there.',
          examples: [[definition.nameField]],
        },
        locale: {
          type: 'string',
          enum: ['de', 'en'],
          description: 'Language of titles and words. The language of `Accept-Language` if absent.',
        },
      },
    },
    response: {
      200: {
        description:
          'The workbook, as a download. It has names beside ids, and opening hours and intervals in words. The office can import it again. A sheet holds 1,048,575 rows; more go on in the next sheet. If something fails on the way, the connection is cut: a file that ends properly is complete.',
        headers: {
          ...commonHeaders,
          'Content-Disposition': {
            type: 'string',
            description:
              'The name of the file: the collection and the day of the export, such as `attachment; filename="sites-2026-01-31.xlsx"`.',
          },
        },
        content: { [workbookType]: { schema: { type: 'string', format: 'binary' } } },
      },
      ...errorResponses(400, 401, 403, 429, 500),
    },
  };
}
