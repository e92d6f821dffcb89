// The pace of a request's own work: it ends at the deadline, and when the client has left.
import type { FastifyRequest } from 'fastify';
import { Pace } from '../../core/pace.ts';
import { ApiError } from '../errors.ts';

/** `reserveMs` is kept for the rest of the answer. */
export function paceOf(
  { deadline, signal }: Pick<FastifyRequest, 'deadline' | 'signal'>,
  reserveMs = 0,
): Pace {
  return new Pace(() => {
    if (signal.aborted || performance.now() > deadline - reserveMs) throw new ApiError('overloaded');
  });
}
