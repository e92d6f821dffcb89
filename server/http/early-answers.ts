// Replaces Node's own answers before any route is found, with the same JSON shape and published statuses.
import { randomUUIDv7 } from 'node:crypto';
import {
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http';
import { Socket } from 'node:net';
import type { FastifyBaseLogger, FastifyInstance } from 'fastify';
import { ApiError, type ErrorCode, momentSeconds } from '../errors.ts';
import { preferredLanguage } from '../messages.ts';
import { topics } from '../telemetry/topics.ts';
import { apiHeaders, noSniff, notStored } from './answer-headers.ts';
import { errorBody } from './error-handler.ts';

interface ParserError extends Error {
  code?: string;
  /** The bytes that the parser refused; Fastify's types call it something else. */
  rawPacket?: unknown;
}

function codeFor({ code, rawPacket }: ParserError): ErrorCode {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return 'headers_too_large';
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return 'request_timeout';
    case 'HPE_INVALID_METHOD': {
      // A request with an unknown method is one; a TLS handshake or a line of text is not.
      const start = Buffer.isBuffer(rawPacket) ? rawPacket.toString('latin1', 0, 2000) : '';
      return /^[A-Za-z-]+ \S+ HTTP\/1\.[01]\r?\n/.test(start) ? 'not_recognised' : 'bad_request';
    }
    default:
      return 'bad_request';
  }
}

/** The answer that Node has under way on a connection. */
interface BegunAnswer extends ServerResponse {
  req: IncomingMessage;
}

const refused = new WeakSet<Socket>();
const unhurried = new WeakSet<Socket>();

/** A body of any length may take any time, as long as something moves on its connection. */
export function expectLongBody(request: IncomingMessage, maxIdleMs: number): void {
  const { socket } = request;
  unhurried.add(socket);
  request.once('close', () => unhurried.delete(socket));
  // Node destroys a socket at its timeout, and sets its own one when the answer has been sent.
  // A request that was injected has no connection.
  if (socket instanceof Socket) socket.setTimeout(maxIdleMs);
}

/** Answers requests that the parser rejects. They have no parsed header, so the language is English. */
export function answerBeforeRouting(this: FastifyInstance, error: ParserError, socket: Socket): void {
  if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT' && unhurried.has(socket)) return;
  // The parser complains about each packet that follows; the first complaint has been answered.
  if (refused.has(socket)) return;
  refused.add(socket);
  const apiError = new ApiError(codeFor(error));
  if (error.code === 'ECONNRESET') socket.destroy();
  else refuseAfterBegunAnswers(socket, apiError, this.log);
}

function refuseAfterBegunAnswers(socket: Socket, apiError: ApiError, log: FastifyBaseLogger): void {
  const { _httpMessage: begun } = socket as Socket & { _httpMessage?: BegunAnswer };
  // Complete requests get their own answers first; only one that can never be complete is rejected here.
  if (begun?.req.complete) begun.once('finish', () => refuseAfterBegunAnswers(socket, apiError, log));
  else if (!socket.writable || begun?.headersSent) socket.destroy();
  else writeAnswer(socket, apiError, log);
}

function reportEarlyAnswer({ status, code }: ApiError): void {
  topics.request.publish({ method: 'unknown', route: undefined, status, code, seconds: 0 });
}

/** Milliseconds that a client has to read an answer and stop sending, before its connection is cut. */
const lingerMs = 1000;

function writeAnswer(socket: Socket, apiError: ApiError, log: FastifyBaseLogger): void {
  const requestId = randomUUIDv7();
  const { status, code } = apiError;
  log.info({ requestId, status, code, address: socket.remoteAddress }, 'request');
  reportEarlyAnswer(apiError);
  const body = JSON.stringify(errorBody(apiError, requestId, 'en'));
  // Node leaves some of these sockets without a listener, and an error that nobody hears ends the process.
  socket.on('error', () => {});
  const timer = setTimeout(() => socket.destroy(), lingerMs);
  socket.once('close', () => clearTimeout(timer));
  socket.resume();
  socket.end(
    [
      `HTTP/1.1 ${apiError.status} ${STATUS_CODES[apiError.status]}`,
      'Content-Type: application/json; charset=utf-8',
      `Content-Length: ${Buffer.byteLength(body)}`,
      ...Object.entries({ ...noSniff, ...notStored }).map(([name, value]) => `${name}: ${value}`),
      `X-Request-Id: ${requestId}`,
      'Connection: close',
      '',
      body,
    ].join('\r\n'),
  );
}

/** The path that is routed. What cannot be decoded is no known path, so it takes the way of all unknown ones. */
export function routableUrl(request: IncomingMessage): string {
  const url = (request.url ?? '/').replace(/^https?:\/\/[^/?#]*/i, '') || '/';
  if (!url.includes('%')) return url;
  try {
    decodeURIComponent(url.split('?', 1)[0]!);
    return url;
  } catch {
    return url.startsWith('/api/v1/') ? '/api/v1//' : '//';
  }
}

/** Leads what Node handles apart from ordinary requests the same way: key first, then path, then everything else. */
export function routeSpecialRequests(server: Server, log: FastifyBaseLogger): void {
  const route = (request: IncomingMessage, response: ServerResponse) =>
    server.emit('request', request, response);
  // A client that has nothing more to say may still want its answer; Node would hang up on it.
  Object.assign(server, { httpAllowHalfOpen: true });
  server.on('checkContinue', route);
  server.on('checkExpectation', route);
  server.on('connect', (_request, socket: Socket) =>
    writeAnswer(socket, new ApiError('not_recognised'), log),
  );
}

/**
 * Rejects calls of an overloaded service before the framework sees them. Through the framework, rejections at twice the
 * load cut creations to 72 % of their best rate. The log gets one line per second.
 */
export function refuseBeforeRouting(server: Server, isFull: () => boolean, log: FastifyBaseLogger): void {
  const [route] = server.listeners('request') as [RequestListener];
  let refused = 0;
  const refuse = (request: IncomingMessage, response: ServerResponse) => {
    const apiError = new ApiError('overloaded');
    const requestId = randomUUIDv7();
    const language = preferredLanguage(request.headers['accept-language']);
    const body = Buffer.from(JSON.stringify(errorBody(apiError, requestId, language)));
    response.writeHead(apiError.status, {
      'Content-Type': 'application/json; charset=utf-8',
      'Content-Length': body.length,
      ...noSniff,
      ...apiHeaders,
      'X-Request-Id': requestId,
      'Retry-After': momentSeconds,
    });
    response.end(body);
    reportEarlyAnswer(apiError);
    if (refused++ > 0) return;
    setTimeout(() => {
      log.warn({ refused, code: apiError.code }, 'requests refused');
      refused = 0;
    }, 1000).unref();
  };
  server.off('request', route);
  server.on('request', (request, response) => {
    if (isFull() && request.url!.startsWith('/api/')) refuse(request, response);
    else route(request, response);
  });
}

/** Called when a body is wanted: a client that asked whether to send it has shown its key before. */
export function answerExpectation(expectation: string | undefined, response: ServerResponse): void {
  if (expectation === undefined) return;
  if (expectation.toLowerCase() !== '100-continue') throw new ApiError('bad_request');
  response.writeContinue();
}
