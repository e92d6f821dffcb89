import type { FastifyInstance } from 'fastify';
import type { Database } from '../../database/database.ts';
import { ApiError } from '../../errors.ts';
import { notStored } from '../../http/answer-headers.ts';
import { buildWriteProbe } from './write-probe.ts';

const hidden = { schema: { hide: true } };

/** How long a finding is repeated: anybody may ask, and the database is for requests. */
const findingLastsMs = 1000;

export async function healthRoutes(
  app: FastifyInstance,
  { database }: { database: Database },
): Promise<void> {
  const probe = buildWriteProbe(database);
  const checkDatabase = shareFindings(() => probe.check());
  app.addHook('onClose', async () => probe.close());

  app.get('/livez', hidden, async (_request, reply) => {
    reply.headers(notStored);
    return { status: 'ok' };
  });

  // Ready means that a request would be served: the database takes writes of the role that requests run as.
  app.get('/readyz', hidden, async (_request, reply) => {
    reply.headers(notStored);
    if (app.drain.isUnderWay) throw new ApiError('shutting_down');
    await checkDatabase().catch((cause) => {
      throw new ApiError('database_unavailable', { cause });
    });
    return { status: 'ok' };
  });
}

/** One check at a time, however many ask: they share it, and for a moment its finding. */
export function shareFindings(check: () => Promise<unknown>): () => Promise<unknown> {
  let finding: Promise<unknown> | undefined;
  let endedAt = Number.NEGATIVE_INFINITY;
  let isUnderWay = false;
  return () => {
    if (finding && (isUnderWay || performance.now() - endedAt < findingLastsMs)) return finding;
    isUnderWay = true;
    finding = check().finally(() => {
      isUnderWay = false;
      endedAt = performance.now();
    });
    return finding;
  };
}
