// What hooks add to a request, and what a route may say about itself.
import type { FastifyInstance } from 'fastify';
import type { ApiError } from '../errors.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** A time of performance.now() by which the request is answered. */
    deadline: number;
    /** Set once the key is known. */
    tenantId: string;
    /** Who acts, for the journal. */
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

/** Fastify wants to know the members before the first request. */
export function decorateRequests(app: FastifyInstance): void {
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
