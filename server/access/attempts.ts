// Counts guesses in PostgreSQL, over all processes.
import { createHash } from 'node:crypto';
import type { FastifyReply } from 'fastify';
import type { Database } from '../database/database.ts';
import { ApiError } from '../errors.ts';
import { secondsUntil } from './rate-limit.ts';

const windowSeconds = 15 * 60;
/** Failed attempts in a window. Many people of an office can share an address. */
export const attemptLimits = { account: 10, address: 100 };

/** Answers with the number of attempts. Also for other places where a guess would be worth something. */
export async function countAttempt(
  database: Database,
  reply: FastifyReply,
  subject: Buffer,
  limit: number,
): Promise<number> {
  const { rows } = await database.pool.query<{ attempts: number; window_ends_in_ms: number }>(
    'SELECT * FROM count_sign_in($1, $2)',
    [subject, windowSeconds],
  );
  const { attempts, window_ends_in_ms: endsInMs } = rows[0]!;
  if (attempts <= limit) return attempts;
  reply.header('Retry-After', secondsUntil(endsInMs));
  throw new ApiError('too_many_sign_ins');
}

export function hashSubject(kind: string, value: string | Buffer): Buffer {
  return createHash('sha256').update(`${kind} `).update(value).digest();
}
