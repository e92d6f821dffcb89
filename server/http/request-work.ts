// Each request as a piece of work: where its time goes, its trace, and the report at its end.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Config } from '../config.ts';
import { topics } from '../telemetry/topics.ts';
import { endRequestSpan, startRequestSpan } from '../telemetry/tracing.ts';
import { currentWork, Work } from '../telemetry/work.ts';
import { logRequest } from './log.ts';

declare module 'fastify' {
  interface FastifyRequest {
    work: RequestWork;
  }
  interface FastifyInstance {
    slowRequestMs: number;
    /** Whether the next successful request leaves a line. */
    takesLine: () => boolean;
  }
}

export type RequestLogConfig = Pick<Config, 'LOG_ONE_IN' | 'SLOW_REQUEST_MS'>;

class RequestWork extends Work {
  bodyMs = 0;
  turnWaitMs = 0;
  serialiseMs = 0;
  bodyFrom = 0;
  /** Undefined for an answer that needs no serialising, such as JSON from the database. */
  serialiseFrom: number | undefined;
  sendFrom = 0;
}

export function addRequestWork(
  app: FastifyInstance,
  { SLOW_REQUEST_MS, LOG_ONE_IN }: RequestLogConfig,
): void {
  app.decorateRequest('work', undefined as never);
  app.decorate('slowRequestMs', SLOW_REQUEST_MS);
  let successes = 0;
  app.decorate('takesLine', () => successes++ % LOG_ONE_IN === 0);
  app.addHook('onRequest', (request, _reply, done) => {
    request.work = new RequestWork();
    request.work.span = startRequestSpan(request.method, request.headers);
    currentWork.run(request.work, done);
  });
  app.addHook('preParsing', (request, _reply, payload, done) => {
    request.work.bodyFrom = performance.now();
    done(null, payload);
  });
  app.addHook('preValidation', (request, _reply, done) => {
    request.work.bodyMs = performance.now() - request.work.bodyFrom;
    // The last piece of the body arrives in the context of the connection.
    currentWork.run(request.work, done);
  });
  app.addHook('preSerialization', (request, _reply, payload, done) => {
    request.work.serialiseFrom = performance.now();
    done(null, payload);
  });
  app.addHook('onSend', (request, _reply, payload, done) => {
    const { work } = request;
    work.sendFrom = performance.now();
    work.serialiseMs = work.sendFrom - (work.serialiseFrom ?? work.sendFrom);
    done(null, payload);
  });
}

/** Called once for each request: writes a log line and metrics, and ends its span. */
export function reportRequest(request: FastifyRequest, reply: FastifyReply): void {
  const { work, apiError } = request;
  // A path that matches no route is the client's invention.
  const route = request.is404 ? undefined : request.routeOptions.url;
  const [{ method }, { statusCode: status, elapsedTime }] = [request, reply];
  if (!isOrdinary(request, reply) || request.server.takesLine()) logRequest(request, reply);
  topics.request.publish({ method, route, status, code: apiError?.code, seconds: elapsedTime / 1000 });
  if (work.span) endRequestSpan(work.span, method, route, status);
  const { slowRequestMs } = request.server;
  const isSlow = slowRequestMs > 0 && elapsedTime >= slowRequestMs && !isStreamed(request, reply);
  if (isSlow) logSlowRequest(request, reply, route);
}

/** Whether the request is a success that nobody will look for. */
function isOrdinary({ ignoredFields }: FastifyRequest, reply: FastifyReply): boolean {
  return reply.statusCode < 400 && reply.raw.writableEnded && !ignoredFields?.length;
}

/** Streams take as long as their client. */
function isStreamed({ routeOptions: { config } }: FastifyRequest, reply: FastifyReply): boolean {
  const type = String(reply.getHeader('content-type') ?? '');
  return Boolean(config.streamedBytes) || /^application\/x-ndjson/.test(type);
}

function logSlowRequest(request: FastifyRequest, reply: FastifyReply, route: string | undefined): void {
  const { work } = request;
  const rounded = (ms: number) => Math.round(ms * 10) / 10;
  request.server.log.warn(
    {
      requestId: request.id,
      method: request.method,
      route,
      status: reply.statusCode,
      durationMs: rounded(reply.elapsedTime),
      bodyMs: rounded(work.bodyMs),
      turnWaitMs: rounded(work.turnWaitMs),
      batchWaitMs: rounded(work.batchWaitMs),
      connectionWaitMs: rounded(work.connectionWaitMs),
      databaseMs: rounded(work.databaseMs),
      serialiseMs: rounded(work.serialiseMs),
      sendMs: rounded(performance.now() - work.sendFrom),
    },
    'slow request',
  );
}
