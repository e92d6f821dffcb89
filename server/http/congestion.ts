// How many requests are under way. What is more than can be answered in time is refused at once, while that is still
// cheap, instead of failing two seconds later; and no tenant may take up all the room that there is.
import type { FastifyReply } from 'fastify';
import { ApiError } from '../errors.ts';

/** At some thousand requests a second, the last of so many is answered within half a second. */
const mostRequests = 1000;
const mostRequestsOfTenant = 500;

export class Congestion {
  #requests = 0;
  readonly #requestsOfTenant = new Map<string, number>();

  isFull(): boolean {
    return this.#requests >= mostRequests;
  }

  /** Counts a request until its connection is done with it, however that ends. */
  enter(reply: FastifyReply): void {
    if (this.isFull()) throw new ApiError('overloaded');
    if (isDone(reply)) return;
    this.#requests++;
    reply.raw.once('close', () => this.#requests--);
  }

  /** The same for the requests of one tenant, as soon as it is known. */
  enterTenant(tenantId: string, reply: FastifyReply): void {
    const count = this.#requestsOfTenant.get(tenantId) ?? 0;
    if (count >= mostRequestsOfTenant) throw new ApiError('too_many_at_once');
    if (isDone(reply)) return;
    this.#requestsOfTenant.set(tenantId, count + 1);
    reply.raw.once('close', () => {
      const rest = this.#requestsOfTenant.get(tenantId)! - 1;
      if (rest > 0) this.#requestsOfTenant.set(tenantId, rest);
      else this.#requestsOfTenant.delete(tenantId);
    });
  }
}

/** A client that has hung up while its key was looked up: nothing would ever tell again that its request is over. */
function isDone(reply: FastifyReply): boolean {
  return reply.raw.destroyed;
}
