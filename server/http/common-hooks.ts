// What every request meets first and last: its deadline, common headers, one log line, one place for errors.
import type { FastifyInstance } from 'fastify';
import { addCommonHeaders } from './answer-headers.ts';
import { answerError } from './error-handler.ts';
import { decorateRequests } from './request.ts';
import { addRequestWork, reportRequest } from './request-work.ts';
import { buildForwardingWarning } from './untrusted-proxy.ts';

export function addCommonHooks(app: FastifyInstance, requestDeadlineMs: number, slowRequestMs: number): void {
  const noteForwarding = buildForwardingWarning(app.log);
  // Answers are written as they are; the schemas of routes document them, and the tests hold them to it.
  app.setSerializerCompiler(() => JSON.stringify);
  app.setValidatorCompiler(() => () => true);
  decorateRequests(app);
  addRequestWork(app, slowRequestMs);
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
