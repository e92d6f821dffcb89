// POST /import: lines in, lines out, both streamed.
import { once } from 'node:events';
import { Socket } from 'node:net';
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Definition } from '../../engine/definition/definition.ts';
import { isUuid } from '../../engine/definition/formats.ts';
import { readClaim } from '../../engine/write/idempotency.ts';
import { prepareWriting } from '../../engine/write/resource.ts';
import { ApiError, validationError } from '../../errors.ts';
import { authorOf, isDryRun, languageOf, refuseUnknownParameters } from '../../http/conventions.ts';
import { expectLongBody } from '../../http/early-answers.ts';
import { decodeStream, invalidCompression } from '../../http/encoded-body.ts';
import { linesType } from '../../http/json-body.ts';
import { withoutData } from '../../http/log.ts';
import { reportRequest } from '../../http/request-work.ts';
import { importDocs } from './import-docs.ts';
import { type ImportAnswer, runImport } from './import-run.ts';
import { buildFindAttention } from './line-attention.ts';
import { type ImportOptions, importModes } from './line-writes.ts';
import { readLines } from './lines.ts';
import type { OpenSession } from './session/import-transaction.ts';

interface ImportRouteOptions {
  openImport: OpenSession;
  resources: readonly Definition[];
  maxLineBytes: number;
  /** Called after an import that was not only tried. */
  onImport: (tenantId: string) => void;
}

/** How long nothing may move in either direction before the connection is cut. */
const maxIdleMs = 60_000;
/** As long as an import may be idle. */
const maxFirstBytesMs = 30_000;
const retryAfterSeconds = 10;
const beatMs = 1000;
const lingerMs = 2000;
/** Long enough for a client's answer over any distance. */
const roundTripMs = 500;

export async function importRoutes(api: FastifyInstance, options: ImportRouteOptions): Promise<void> {
  const writing = prepareWriting(options.resources);
  const findAttention = buildFindAttention(options.resources);
  // The body is read while it is answered: nothing parses it before.
  api.removeAllContentTypeParsers();
  api.addContentTypeParser('*', (_request, _payload, done) => done(null));

  const route = { schema: importDocs(options.resources), config: { bodyType: linesType } };
  api.post('/import', route, async (request, reply) => {
    const importOptions = readOptions(request);
    if (importOptions.isDryRun && !request.session)
      importOptions.findAttention = findAttention(request.tenantId, importOptions.language, request.log);
    const { tenantId, idempotencyKey, mode } = importOptions;
    expectLongBody(request.raw, maxIdleMs);
    const clientGone = watchClient(request, reply);
    const session = await options
      .openImport({
        tenantId,
        idempotencyKey,
        isOneTransaction: mode === 'all-or-nothing' || importOptions.isDryRun,
        run: { id: runIdOf(request), author: importOptions.author },
        signal: clientGone,
      })
      .catch((error) => {
        if (error.code === 'too_many_imports') reply.header('Retry-After', retryAfterSeconds);
        throw error;
      });
    clientGone.addEventListener('abort', () => {
      session.stop(clientGone.reason);
      // Not after the writes that have begun: nobody reads their results.
      void session.close();
    });
    const input = decodeStream(request.raw);
    if (input !== request.raw)
      await awaitFirstBytes(input, clientGone).catch(async (error) => {
        input.destroy();
        await session.close();
        throw error;
      });
    const lines = readLines(input, options.maxLineBytes);
    const stopBeats = startBeats(reply);
    const results = encode(runImport(session, writing, lines, importOptions), stopBeats);
    const answers = Readable.from(session.hasWaited ? afterAsking(results) : results, { objectMode: false });
    answers.once('end', () => {
      if (!importOptions.isDryRun) options.onImport(tenantId);
    });
    // An input that nobody reads any more is thrown away, so the client gets to reading the answer.
    answers.once('close', () => {
      if (input !== request.raw) input.destroy();
      request.raw.resume();
    });
    return reply.type('application/x-ndjson; charset=utf-8').send(answers);
  });
}

/** A body that is not compressed as its header says gets a 400: nothing has been answered yet. */
async function awaitFirstBytes(input: Readable, clientGone: AbortSignal): Promise<void> {
  const timeout = AbortSignal.timeout(maxFirstBytesMs);
  await once(input, 'readable', { signal: AbortSignal.any([clientGone, timeout]) }).catch((error) => {
    if (error instanceof ApiError) throw invalidCompression();
    throw new ApiError(timeout.aborted ? 'request_timeout' : 'bad_request', { cause: error });
  });
}

/** Aborted when the connection closes before the answer is complete. */
function watchClient(request: FastifyRequest, reply: FastifyReply): AbortSignal {
  const gone = new AbortController();
  reply.raw.once('close', () => {
    if (reply.raw.writableFinished) return;
    // The framework reports only answers that end.
    reportRequest(request, reply);
    gone.abort(new Error('The client has left.'));
  });
  // A client that sends on after the end of its import has a moment to notice it.
  reply.raw.once('finish', () => {
    const { complete, socket } = request.raw;
    if (complete || !(socket instanceof Socket)) return;
    const timer = setTimeout(() => socket.destroy(), lingerMs);
    socket.once('close', () => clearTimeout(timer));
  });
  return gone.signal;
}

/**
 * Sends a space whenever no result was sent for a while; JSON allows it before a value. Only a client that is sent
 * something is noticed to have left while its lines are still unread.
 */
function startBeats({ raw }: FastifyReply): () => void {
  let sentBytes = raw.socket?.bytesWritten;
  const timer = setInterval(() => {
    if (raw.socket?.bytesWritten === sentBytes && !raw.writableNeedDrain) raw.write(' ');
    sentBytes = raw.socket?.bytesWritten;
  }, beatMs);
  const stop = () => clearInterval(timer);
  raw.once('close', stop);
  return stop;
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
    isDryRun: isDryRun(request),
    tenantId: request.tenantId,
    author: authorOf(request),
    idempotencyKey: readClaim(request.headers['idempotency-key'], '/import', Buffer.of())?.key,
    language: languageOf(request),
    onError: (error) =>
      request.server.log.error({ requestId: request.id, err: withoutData(error) }, 'import failed'),
  };
}

/** The office sends a file in parts, which name the import that they belong to. Any other request is an import of its own. */
function runIdOf({ session, headers, id }: FastifyRequest): string {
  const named = session && headers['stamm-import'];
  return typeof named === 'string' && isUuid(named) ? named.toLowerCase() : id;
}

/**
 * A connection whose client has left looks as one that sent everything, or hides behind unread lines. Such a client resets
 * the connection at the first byte, and the second one fails.
 */
async function* afterAsking(results: AsyncIterable<string>): AsyncGenerator<string> {
  yield ' ';
  await sleep(roundTripMs);
  yield ' ';
  yield* results;
}

async function* encode(
  answers: AsyncIterable<ImportAnswer[]>,
  onSummary: () => void,
): AsyncGenerator<string> {
  for await (const some of answers) {
    if (some.some((one) => 'summary' in one)) onSummary();
    yield some.map((one) => `${JSON.stringify('answer' in one ? one.answer : one)}\n`).join('');
  }
}
