// Sends what a list finds as one file. Reads page by page at the pace of the client. Between two pages it holds no
// connection and no transaction; memory holds one page.
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Pace } from '../../../core/pace.ts';
import { recordAudit } from '../../access/audit-log.ts';
import type { Database } from '../../database/database.ts';
import { validationError } from '../../errors.ts';
import { sendStream, streamedPageBytes } from '../../http/streamed-answer.ts';
import type { Definition } from '../definition/definition.ts';
import { buildListQuery, type ListRequest, maxLimit, type Query, readListed } from '../read/list-query.ts';
import { cutPage } from '../read/page-size.ts';
import { sizesOf } from '../read/representation.ts';

export interface ExportFile {
  extension: string;
  contentType: string;
  /** The beginning of its name; the collection if absent. */
  name?: string;
  /** An SQL expression of type text for each object. */
  selection: string;
  /** Turns pages of these texts into the file, step by step. */
  encode(pages: AsyncIterable<string[]>, pace: Pace): AsyncIterable<string | Uint8Array>;
}

interface Export {
  database: Database;
  definition: Definition;
  list: ListRequest;
}

/** Parameters that narrow nothing down. */
const formParameters = ['locale', 'sort', 'include', 'columns'];

export async function sendExport(
  request: FastifyRequest,
  reply: FastifyReply,
  { database, definition, list }: Export,
  file: ExportFile,
) {
  const { tenantId, deadline } = request;

  async function readPage(cursor: ListRequest['cursor']) {
    const page = { ...list, limit: maxLimit, cursor };
    const selection = { json: file.selection, joins: '', sizes: sizesOf(definition, 'subject') };
    const statement = buildListQuery(definition, tenantId, page, selection, streamedPageBytes);
    const found = await database.queryInTenants<Parameters<typeof readListed>[0][number]>(
      [tenantId],
      statement,
    );
    const { rows, isWhole } = readListed(found.rows);
    // A file that ends properly is complete.
    if (!isWhole) throw validationError([{ path: ['q'], code: 'too_many_matches' }]);
    const kept = cutPage(rows, maxLimit, streamedPageBytes);
    const last = kept.at(-1);
    return {
      texts: kept.map(({ json }) => json),
      next: rows.length > kept.length ? ([last!.sort_value, last!.id] as const) : undefined,
    };
  }

  async function* readPages(first: Awaited<ReturnType<typeof readPage>>) {
    yield first.texts;
    for (let next = first.next; next; ) {
      const page = await readPage([...next]);
      next = page.next;
      yield page.texts;
    }
  }

  // An error before the first line gets an ordinary error response.
  const first = await readPage(undefined);
  // Names of filters, not their values: those may name a person, and the audit record is not erased.
  const filters = Object.keys(request.query as Query).filter((name) => !formParameters.includes(name));
  const details = { collection: definition.collection, format: file.extension, filters };
  await database.inTenants(
    [tenantId],
    (client) => recordAudit(client, tenantId, request, { event: 'DATA_EXPORTED', details }),
    { deadline },
  );
  reply.header('Content-Disposition', attachment(file, definition)).type(file.contentType);
  return sendStream(request, reply, file.encode(readPages(first), new Pace()));
}

/** A name beyond ASCII needs the second form. */
function attachment({ extension, name }: ExportFile, { collection }: Definition): string {
  const day = new Date().toISOString().slice(0, 10);
  const plain = `attachment; filename="${collection}-${day}.${extension}"`;
  if (name === undefined) return plain;
  return `${plain}; filename*=UTF-8''${encodeURIComponent(`${name}-${day}.${extension}`)}`;
}

const chunkLength = 64 * 1024;

/** Joins lines to chunks that are worth sending. */
export async function* toChunks(lines: AsyncIterable<string>): AsyncGenerator<string> {
  let chunk = '';
  for await (const line of lines) {
    chunk += line;
    if (chunk.length < chunkLength) continue;
    yield chunk;
    chunk = '';
  }
  if (chunk !== '') yield chunk;
}

export async function* encodeLines(
  pages: AsyncIterable<string[]>,
  pace: Pace,
  head: string,
  toLine: (json: string) => string,
): AsyncGenerator<string> {
  yield head;
  for await (const texts of pages) {
    for (const text of texts) {
      yield toLine(text);
      await pace.step();
    }
  }
}
