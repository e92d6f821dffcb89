import type { FastifyInstance } from 'fastify';
import type { Database } from '../database/database.ts';
import { ApiError } from '../errors.ts';

const hidden = { schema: { hide: true } };

export async function healthRoutes(
  app: FastifyInstance,
  { database }: { database: Database },
): Promise<void> {
  app.get('/livez', hidden, async () => ({ status: 'ok' }));

  // Ready means that a request would be served: the database answers, as the role that requests run as.
  app.get('/readyz', hidden, async () => {
    await database.pool.query('SELECT 1').catch((cause) => {
      throw new ApiError('database_unavailable', { cause });
    });
    return { status: 'ok' };
  });
}
