// The published interface below /api/v1, for clients with a tenant's key.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Authenticate } from '../access/authentication.ts';
import { networkOf } from '../access/network.ts';
import { type CountFailures, rateLimitHeaders, secondsUntil } from '../access/rate-limit.ts';
import { ApiError } from '../errors.ts';
import type { CallRecorder } from '../features/call-log/call-recorder.ts';
import { endpointRoutes } from '../features/webhooks/endpoint-routes.ts';
import { addCompression } from '../http/answer-compression.ts';
import { apiHeaders } from '../http/answer-headers.ts';
import { addBodyRules, isOpenEnded, joinTenant } from '../http/body-rules.ts';
import { addHeavyReads } from '../http/heavy-reads.ts';
import { collectMethods } from '../http/known-methods.ts';
import { delayRejection } from '../http/rejection-delay.ts';
import { resources } from '../resources/index.ts';
import { addSharedRoutes, type SharedOptions } from './shared-routes.ts';

/** The order of checks is part of the contract: 401, 403, 429, 413, 415, 400. Nothing of the body is read before 413. */
export async function apiRoutes(
  api: FastifyInstance,
  {
    authenticate,
    countFailures,
    recorder,
    ...shared
  }: SharedOptions & { authenticate: Authenticate; countFailures: CountFailures; recorder: CallRecorder },
): Promise<void> {
  const { config, inFlight } = shared;
  const methodsOf = collectMethods(api);
  api.addHook('onResponse', (request, reply, done) => {
    recorder.note(request, reply);
    done();
  });

  api.addHook('onRequest', async (request, reply) => {
    reply.headers(apiHeaders);
    request.place = inFlight.enter(reply);
    const admission = await authenticate({
      key: request.headers.apikey,
      address: request.ip,
      userAgent: request.headers['user-agent'] ?? '',
      deadline: request.deadline,
    }).catch(async (error) => {
      throw error.status === 401 ? await countFailure(request, reply, error) : error;
    });
    request.tenantId = admission.tenantId;
    request.actor = `key …${admission.keyEnding}`;
    const limit = config.RATE_LIMIT_PER_MINUTE;
    const count = { requests: admission.ordinal, windowEndsInMs: admission.windowEndsInMs };
    reply.headers(rateLimitHeaders('tenant', limit, count));
    if (request.is404 || isOpenEnded(request)) throw notRecognised(request);
    if (admission.ordinal > limit)
      throw await rateLimited(request, reply, 'rate_limited', count.windowEndsInMs);
    await joinTenant(request, 'key');
  });

  /** Limits guesses per network. An ended key counts too: the finder of a leaked key may send it forever. */
  async function countFailure(
    request: FastifyRequest,
    reply: FastifyReply,
    error: ApiError,
  ): Promise<ApiError> {
    const limit = config.FAILED_AUTH_LIMIT_PER_MINUTE;
    const count = await countFailures(networkOf(request.ip), 1);
    reply.headers(rateLimitHeaders('failed-authentication', limit, count));
    return count.requests > limit
      ? await rateLimited(request, reply, 'too_many_failed_authentications', count.windowEndsInMs)
      : error;
  }

  async function rateLimited(
    request: FastifyRequest,
    reply: FastifyReply,
    code: 'rate_limited' | 'too_many_failed_authentications',
    windowEndsInMs: number,
  ): Promise<ApiError> {
    request.place?.leave();
    await delayRejection(request.tenantId || networkOf(request.ip));
    reply.header('Retry-After', secondsUntil(windowEndsInMs));
    return new ApiError(code);
  }

  function notRecognised({ url }: FastifyRequest): ApiError {
    const methods = methodsOf(url);
    return new ApiError('not_recognised', methods.length > 0 ? { params: { methods } } : {});
  }

  api.setNotFoundHandler((request) => {
    throw notRecognised(request);
  });
  addBodyRules(api, config.BODY_LIMIT_BYTES);
  addCompression(api);
  addHeavyReads(api, inFlight.heavyReads);
  await addSharedRoutes(api, shared);
  await api.register(endpointRoutes, { config, database: shared.database, resources });
}
