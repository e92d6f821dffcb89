// The test business as the office manages it, below Settings › API & interfaces, and the way into it and back.
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { describeNewKey, keyPrefixOf } from '../../access/api-keys.ts';
import { type AuditEntry, recordAudit } from '../../access/audit-log.ts';
import { flag, readForm } from '../../access/form.ts';
import { sessionOf } from '../../access/office-access.ts';
import { moveSession } from '../../access/sessions.ts';
import type { Database } from '../../database/database.ts';
import { refuseUnknownParameters } from '../../http/conventions.ts';
import {
  createTestBusiness,
  demandTestBusiness,
  findTestBusiness,
  pursue,
  replaceTestKey,
} from './test-business.ts';

const ofOwnBusiness = { business: 'OWN' } as const;
const plain = { config: ofOwnBusiness };
const bodiless = { config: { ...ofOwnBusiness, takesNoBody: true } };
const bodilessWithProof = { config: { ...ofOwnBusiness, needsRecentProof: true, takesNoBody: true } };

export async function testBusinessRoutes(
  app: FastifyInstance,
  { database }: { database: Database },
): Promise<void> {
  app.get('/test-business', plain, async (request) => {
    refuseUnknownParameters(request, []);
    const found = await findTestBusiness(database, request.tenantId);
    return { testBusiness: found ? { ...found, key: await readKey(database, found.id) } : null };
  });

  app.post('/test-business', bodilessWithProof, async (request, reply) => {
    const { key } = await createTestBusiness(database, request.tenantId, sessionOf(request).person);
    await record(request, { event: 'TEST_BUSINESS_CREATED' });
    reply.code(201);
    return { key };
  });

  /** Copies what is missing or differs, and leaves everything else. */
  app.post('/test-business/fill', bodiless, async (request, reply) => {
    const { id } = await demandTestBusiness(database, request.tenantId);
    await pursue(database, id, 'FILLED');
    await record(request, { event: 'TEST_BUSINESS_FILLED' });
    reply.code(202);
    return {};
  });

  app.post('/test-business/reset', plain, async (request, reply) => {
    const { isFilled } = readForm(request, { isFilled: flag });
    const { id } = await demandTestBusiness(database, request.tenantId);
    await pursue(database, id, isFilled ? 'FILLED' : 'EMPTY', { isReset: true });
    await record(request, { event: 'TEST_BUSINESS_RESET', details: { isFilled } });
    reply.code(202);
    return {};
  });

  app.post('/test-business/key', bodilessWithProof, async (request, reply) => {
    const { id } = await demandTestBusiness(database, request.tenantId);
    const made = await replaceTestKey(database, id, sessionOf(request).person);
    await record(request, { event: 'KEY_CREATED', ...describeNewKey(made) });
    reply.code(201);
    return { key: made.key };
  });

  app.delete(
    '/test-business',
    { config: { ...ofOwnBusiness, needsRecentProof: true } },
    async (request, reply) => {
      const { id } = await demandTestBusiness(database, request.tenantId);
      await pursue(database, id, 'REMOVED');
      await record(request, { event: 'TEST_BUSINESS_REMOVED' });
      reply.code(202);
      return {};
    },
  );

  app.post('/test-business/enter', bodiless, async (request, reply) => {
    await demandTestBusiness(database, request.tenantId);
    await move(request, true);
    reply.code(204);
  });

  app.post('/test-business/leave', bodiless, async (request, reply) => {
    await move(request, false);
    reply.code(204);
  });

  async function move(request: FastifyRequest, isInTestBusiness: boolean): Promise<void> {
    await database.inTenants([request.tenantId], (client) =>
      moveSession(client, sessionOf(request), isInTestBusiness),
    );
  }

  async function record(request: FastifyRequest, entry: AuditEntry): Promise<void> {
    const { tenantId, deadline } = request;
    await database.inTenants([tenantId], (client) => recordAudit(client, tenantId, request, entry), {
      deadline,
    });
  }
}

async function readKey(database: Database, id: string) {
  return database.inTenants([id], async (client) => {
    const { rows } = await client.query<{ lastFour: string; createdAt: Date; lastUsedAt: Date | null }>(
      `SELECT last_four AS "lastFour", created_at AS "createdAt", last_used_at AS "lastUsedAt"
       FROM api_key WHERE tenant_id = $1 AND ended_at IS NULL`,
      [id],
    );
    return rows[0] ? { prefix: await keyPrefixOf(client, id), ...rows[0] } : null;
  });
}
