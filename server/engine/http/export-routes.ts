// Exports a list as one file: CSV for spreadsheets, NDJSON for programs. Reads page by page at the pace of the client.
// Between two pages it holds no connection and no transaction; memory holds one page.
import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { byteOrderMark, toCsvLine } from '../../../core/csv.ts';
import { recordAudit } from '../../auth/audit-log.ts';
import type { Database } from '../../database/database.ts';
import { toReadError } from '../../database/errors.ts';
import { type FieldError, validationError } from '../../errors.ts';
import { languageOf } from '../../http/conventions.ts';
import { logRequest } from '../../http/log.ts';
import type { Language } from '../../messages.ts';
import { columnsOf, type Definition, ownersOf, referencesOf } from '../definition/definition.ts';
import type { FieldKind } from '../definition/fields.ts';
import { titlesOf } from '../definition/titles.ts';
import { commonHeaders, errorResponses } from '../openapi/answers.ts';
import { schemaName } from '../openapi/resource-schemas.ts';
import { searchParameterDocs } from '../openapi/routes.ts';
import {
  buildListQuery,
  type ListedRow,
  type ListRequest,
  maxLimit,
  type Query,
  readParameters,
  searchParameters,
} from '../sql/list-query.ts';
import { cutPage } from '../sql/page-size.ts';
import { externalIdOf, representation, timestamp } from '../sql/representation.ts';
import { separators, toCell } from './csv.ts';

interface File {
  extension: string;
  contentType: string;
  /** An SQL expression of type text, and how its value becomes a line. */
  selection: string;
  toLine: (json: string) => string;
  /** Before the first line. */
  head: string;
}

/** Bounds memory for a slow client: the current page and the next one. */
const pageBytes = 1024 * 1024;
const config = { streamedBytes: 2 * pageBytes };

const csvType = 'text/csv; charset=utf-8; header=present';
const ndjsonType = 'application/x-ndjson';

export function addExportRoutes(api: FastifyInstance, definition: Definition, database: Database): void {
  const docs = exportDocs(definition);
  api.get<{ Querystring: Query }>(
    `/${definition.collection}.csv`,
    { schema: docs.csv, config, exposeHeadRoute: false },
    async (request, reply) => {
      const { language, ...list } = parseCsvRequest(request);
      const cells = cellsOf(definition, list);
      const kinds = cells.map(({ kind }) => kind);
      return send(request, reply, list, {
        extension: 'csv',
        contentType: csvType,
        selection: `array_to_json(ARRAY[${cells.map(({ text }) => text).join(', ')}])::text`,
        toLine: (json) => {
          const values: (string | null)[] = JSON.parse(json);
          return toCsvLine(
            values.map((value, index) => toCell(kinds[index]!, value, language)),
            separators[language],
          );
        },
        head:
          byteOrderMark + toCsvLine([...titlesOf(definition, language, list).values()], separators[language]),
      });
    },
  );

  api.get<{ Querystring: Query }>(
    `/${definition.collection}.ndjson`,
    { schema: docs.ndjson, config, exposeHeadRoute: false },
    async (request, reply) => {
      const fieldErrors: FieldError[] = [];
      const list = readParameters(definition, request.query, searchParameters, fieldErrors);
      if (fieldErrors.length > 0) throw validationError(fieldErrors);
      return send(request, reply, list, {
        extension: 'ndjson',
        contentType: ndjsonType,
        selection: representation(definition, 'subject', list),
        toLine: (json) => `${json}\n`,
        head: '',
      });
    },
  );

  function parseCsvRequest(request: FastifyRequest): ListRequest & { language: Language } {
    const fieldErrors: FieldError[] = [];
    const { locale, ...search } = request.query as Query;
    const list = readParameters(definition, search, [...searchParameters, 'locale'], fieldErrors);
    if (Array.isArray(locale)) fieldErrors.push({ path: ['locale'], code: 'repeated_parameter' });
    else if (locale !== undefined && locale !== 'de' && locale !== 'en')
      fieldErrors.push({ path: ['locale'], code: 'invalid_choice', params: { choices: ['de', 'en'] } });
    if (fieldErrors.length > 0) throw validationError(fieldErrors);
    return { ...list, language: (locale as Language | undefined) ?? languageOf(request) };
  }

  /** Names of filters, not their values: those may name a person, and the audit record is not erased. */
  async function recordExport(request: FastifyRequest, { extension: format }: File): Promise<void> {
    const { tenantId, deadline } = request;
    const filters = Object.keys(request.query as Query).filter(
      (name) => !['locale', 'sort', 'include'].includes(name),
    );
    const details = { collection: definition.collection, format, filters };
    await database.inTenants(
      [tenantId],
      (client) => recordAudit(client, tenantId, request, { event: 'DATA_EXPORTED', details }),
      { deadline },
    );
  }

  async function send(request: FastifyRequest, reply: FastifyReply, list: ListRequest, file: File) {
    const { tenantId } = request;

    async function readPage(cursor: ListRequest['cursor']) {
      const page = { ...list, limit: maxLimit, cursor };
      const statement = buildListQuery(definition, tenantId, page, file.selection, pageBytes);
      const { rows } = await database.queryInTenants<ListedRow>([tenantId], statement);
      const lines = cutPage(rows, maxLimit, pageBytes);
      const last = lines.at(-1);
      return {
        lines: lines.map((row) => file.toLine(row.json)),
        next: rows.length > lines.length ? ([last!.sort_value, last!.id] as const) : undefined,
      };
    }

    async function* readChunks(first: Awaited<ReturnType<typeof readPage>>) {
      yield file.head + first.lines.join('');
      try {
        for (let next = first.next; next; ) {
          const page = await readPage([...next]);
          next = page.next;
          yield page.lines.join('');
        }
      } catch (error) {
        request.apiError = toReadError(error);
        // A plain end looks complete to HTTP/1.0 clients, which many proxies are.
        request.raw.socket.resetAndDestroy();
        throw error;
      }
    }

    // An error before the first line gets an ordinary error response.
    const first = await readPage(undefined);
    await recordExport(request, file);
    const day = new Date().toISOString().slice(0, 10);
    const name = `${definition.collection}-${day}.${file.extension}`;
    reply.header('Content-Disposition', `attachment; filename="${name}"`).type(file.contentType);
    // The framework logs only answers that end.
    reply.raw.once('close', () => {
      if (!reply.raw.writableEnded) logRequest(request, reply);
    });
    return reply.send(Readable.from(readChunks(first), { objectMode: false }));
  }
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
      // Independent of the database's date style.
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
    description: `Everything that the list finds with the same filters, as one file. ${description} If something fails on the way, the connection is cut: a file that ends properly is complete.`,
    tags: [definition.title],
    querystring: { type: 'object', properties: { ...parameters, ...own } },
    response: {
      200: {
        description: 'The file, as a download.',
        headers: {
          ...commonHeaders,
          'Content-Disposition': {
            type: 'string',
            description: 'The name of the file, with the day of the export.',
            examples: [`attachment; filename="${definition.collection}-2026-01-31.${format.toLowerCase()}"`],
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
