// Hooks of every request: its deadline, common headers, one log line, one place for errors.
import type { FastifyBaseLogger, FastifyInstance, FastifyRequest } from 'fastify';
import type { ApiError } from '../errors.ts';
import { addCommonHeaders } from './answer-headers.ts';
import { answerError } from './error-handler.ts';
import { addRequestWork, type RequestLogConfig, reportRequest } from './request-work.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** A time of performance.now() by which the request is answered. */
    deadline: number;
    /** Set once the key is known. */
    tenantId: string;
    /** The actor, for the journal. */
    actor: string;
    ignoredFields: readonly string[];
    apiError: ApiError | undefined;
  }
  interface FastifyContextConfig {
    /** The media type that the route's body must have, where it is not JSON but lines of any number. */
    bodyType?: RegExp;
    /** Whether the path says everything, and a request needs no body. */
    takesNoBody?: boolean;
  }
}

export function addCommonHooks(
  app: FastifyInstance,
  requestDeadlineMs: number,
  config: RequestLogConfig,
): void {
  const noteForwarding = buildForwardingWarning(app.log);
  // Answers are written as they are; the schemas of routes document them, and the tests hold them to it.
  app.setSerializerCompiler(() => JSON.stringify);
  app.setValidatorCompiler(() => () => true);
  decorateRequests(app);
  addRequestWork(app, config);
  app.addHook('onRequest', (request, reply, done) => {
    request.deadline = performance.now() + requestDeadlineMs;
    addCommonHeaders(request, reply);
    noteForwarding(request);
    done();
  });
  app.addHook('onResponse', (request, reply, done) => {
    reportRequest(request, reply);
    done();
  });
  app.setErrorHandler(answerError);
  // Outside the API nothing takes a body, so none is read: a faulty one must not change the answer.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', async () => undefined);
}

/** Fastify wants to know the members before the first request. */
function decorateRequests(app: FastifyInstance): void {
  app.decorateRequest('deadline', 0);
  app.decorateRequest('tenantId', '');
  app.decorateRequest('actor', '');
  app.decorateRequest('ignoredFields');
  app.decorateRequest('apiError');
  app.decorateRequest('session');
  app.decorateRequest('place');
  app.decorateRequest('heavyRead');
  app.decorateRequest('hideInRow');
}

/**
 * Detects a proxy that TRUST_PROXY does not name. All its visitors count as one address and are locked out together. The
 * service cannot know whether the sender is a proxy, but it can say what it sees. It warns once: a stranger who sends the
 * header must not fill the log.
 */
function buildForwardingWarning(log: FastifyBaseLogger) {
  let hasWarned = false;
  return function noteForwarding(request: FastifyRequest): void {
    if (hasWarned || !request.headers['x-forwarded-for'] || isBelieved(request)) return;
    hasWarned = true;
    const address = request.raw.socket.remoteAddress;
    log.warn(
      { address },
      `X-Forwarded-For from ${address} is ignored. If your proxy has this address, set TRUST_PROXY=${address}.`,
    );
  };
}

/** The framework's list begins with the peer, and goes on only where the peer is trusted. */
function isBelieved({ ips }: FastifyRequest): boolean {
  return (ips?.length ?? 0) > 1;
}
