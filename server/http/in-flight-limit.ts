// Bounds the work in flight. Reject requests beyond the bound early, while that is cheap. No tenant takes more than half of
// anything.
import type { IncomingMessage } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ApiError } from '../errors.ts';
import { HeavyReads } from './heavy-reads.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The count that this request belongs to, once it counts. */
    place: Place | undefined;
  }
  interface FastifyContextConfig {
    /** Bytes of a streamed answer that wait in memory while its client reads nothing. */
    streamedBytes?: number;
  }
}

/** At some thousand requests per second, the last of so many is answered within half a second. */
const mostRequests = 1000;
const mostRequestsOfTenant = 500;
/** Share of the tenant's limit: a flood from the ERP must not lock the office out, nor the reverse. */
const mostRequestsOfCredential = 400;

/** Unfinished bodies do not count among the requests: nobody works on them yet. */
const mostBodies = 400;
const mostBodiesOfTenant = 100;

/** Bytes of answers that clients have not read yet. */
const mostAnswerBytes = 256 * 1024 * 1024;
const mostAnswerBytesOfTenant = 64 * 1024 * 1024;
/** Smaller answers are not worth counting: the requests are counted. */
const smallAnswerBytes = 64 * 1024;

type Credential = 'key' | 'session';

class Counts {
  requests = 0;
  bodies = 0;
  answerBytes = 0;
  readonly requestsOf = { key: 0, session: 0 };
}

export class InFlightLimit {
  readonly heavyReads = new HeavyReads();
  readonly #all = new Counts();
  readonly #tenants = new Map<string, Counts>();

  isFull(): boolean {
    return this.#all.requests - this.#all.bodies >= mostRequests;
  }

  /** Counts a request until its connection is done with it, however that ends. */
  enter(reply: FastifyReply): Place {
    if (this.isFull()) throw new ApiError('overloaded');
    const place = new Place(this.#all, this.#tenants);
    // A client that has hung up emits no further event: its request is over already.
    if (reply.raw.destroyed) place.leave();
    else reply.raw.once('close', () => place.leave());
    return place;
  }
}

export class Place {
  readonly #all: Counts;
  readonly #tenants: Map<string, Counts>;
  #isLeft = false;
  #tenantId = '';
  #tenant: Counts | undefined;
  #credential: Credential = 'key';
  #hasBody = false;
  #answerBytes = 0;

  constructor(all: Counts, tenants: Map<string, Counts>) {
    this.#all = all;
    this.#tenants = tenants;
    all.requests++;
  }

  /** Counts the request for its tenant too; throws where the tenant has too much in flight. */
  joinTenant(tenantId: string, credential: Credential): void {
    if (this.#isLeft) return;
    const tenant = this.#tenants.get(tenantId) ?? new Counts();
    if (
      tenant.requests >= mostRequestsOfTenant ||
      tenant.requestsOf[credential] >= mostRequestsOfCredential ||
      tenant.answerBytes >= mostAnswerBytesOfTenant
    )
      throw new ApiError('too_many_at_once');
    if (this.#all.answerBytes >= mostAnswerBytes) throw new ApiError('overloaded');
    tenant.requests++;
    tenant.requestsOf[credential]++;
    this.#tenants.set(tenantId, tenant);
    this.#tenantId = tenantId;
    this.#tenant = tenant;
    this.#credential = credential;
  }

  /** The request counts among the unfinished bodies until its last byte has come. */
  awaitBody(request: IncomingMessage): void {
    const tenant = this.#tenant;
    if (!tenant || request.complete !== false) return;
    if (tenant.bodies >= mostBodiesOfTenant) throw new ApiError('too_many_at_once');
    if (this.#all.bodies >= mostBodies) throw new ApiError('overloaded');
    this.#hasBody = true;
    tenant.bodies++;
    this.#all.bodies++;
    request.once('end', () => this.#endBody());
  }

  #endBody(): void {
    if (!this.#hasBody) return;
    this.#hasBody = false;
    this.#tenant!.bodies--;
    this.#all.bodies--;
  }

  /** Refuses an answer of so many bytes where too many wait already. */
  demandRoom(bytes: number): void {
    const tenant = this.#tenant;
    if (!tenant || bytes < smallAnswerBytes) return;
    // A tenant without unread answers always gets one, however large.
    const isTooMuch = tenant.answerBytes > 0 && tenant.answerBytes + bytes > mostAnswerBytesOfTenant;
    if (isTooMuch) throw new ApiError('too_many_at_once');
    if (this.#all.answerBytes + bytes > mostAnswerBytes) throw new ApiError('overloaded');
  }

  /** Counts the bytes of an answer until they are read. */
  holdAnswer(bytes: number): void {
    const tenant = this.#tenant;
    if (!tenant || bytes < smallAnswerBytes) return;
    this.#answerBytes += bytes;
    tenant.answerBytes += bytes;
    this.#all.answerBytes += bytes;
  }

  /** The caller does this before it delays a rejection, too. */
  leave(): void {
    if (this.#isLeft) return;
    this.#isLeft = true;
    this.#endBody();
    this.#all.requests--;
    this.#all.answerBytes -= this.#answerBytes;
    const tenant = this.#tenant;
    if (!tenant) return;
    this.#tenant = undefined;
    tenant.requests--;
    tenant.requestsOf[this.#credential]--;
    tenant.answerBytes -= this.#answerBytes;
    if (tenant.requests === 0) this.#tenants.delete(this.#tenantId);
  }
}

/**
 * Counts the bytes of an answer as they are handed to the connection. A write might be stored already, so only reads
 * are rejected here.
 */
export function holdAnswer(request: FastifyRequest, payload: unknown): void {
  const bytes = bytesOf(payload);
  if (request.method === 'GET') request.place?.demandRoom(bytes);
  request.place?.holdAnswer(bytes);
}

function bytesOf(payload: unknown): number {
  if (Buffer.isBuffer(payload)) return payload.length;
  // A short text is not worth measuring.
  const isLong = typeof payload === 'string' && payload.length >= smallAnswerBytes / 4;
  return isLong ? Buffer.byteLength(payload) : 0;
}
