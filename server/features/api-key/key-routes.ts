// The business's API key as the office manages it, and who still uses an ended one.
import type { FastifyInstance } from 'fastify';
import { describeKey, describeNewKey, endApiKey, keyPrefixOf, replaceApiKey } from '../../access/api-keys.ts';
import { recordAudit } from '../../access/audit-log.ts';
import { sessionOf } from '../../access/office-access.ts';
import type { Database } from '../../database/database.ts';
import { ApiError } from '../../errors.ts';
import type { Notices } from '../../mail/notices.ts';

const withProof = { config: { needsRecentProof: true } } as const;
const shownEndedKeys = 10;
const shownUses = 20;

export async function keyRoutes(
  app: FastifyInstance,
  { database, notices }: { database: Database; notices: Notices },
): Promise<void> {
  app.get('/key', async ({ tenantId, deadline }) =>
    database.inTenants(
      [tenantId],
      async (client) => {
        const prefix = await keyPrefixOf(client, tenantId);
        const live = await client.query(
          `SELECT last_four AS "lastFour", created_at AS "createdAt", created_by AS "createdBy",
               created_by_id AS "createdById", last_used_at AS "lastUsedAt",
               (SELECT email FROM person WHERE person.tenant_id = $1 AND person.id = created_by_id) AS "createdByEmail"
             FROM api_key WHERE tenant_id = $1 AND ended_at IS NULL`,
          [tenantId],
        );
        const ended = await client.query(
          `SELECT key.last_four AS "lastFour", key.ended_at AS "endedAt", key.ended_by AS "endedBy",
               coalesce((
                 SELECT json_agg(json_build_object('address', use.address, 'userAgent', use.user_agent,
                   'count', use.requests, 'lastUsedAt', use.last_used_at))
                 FROM (SELECT * FROM ended_key_use AS one WHERE one.tenant_id = key.tenant_id
                   AND one.key_hash = key.key_hash ORDER BY one.last_used_at DESC LIMIT ${shownUses}) AS use
               ), '[]') AS uses
             FROM api_key AS key WHERE key.tenant_id = $1 AND key.ended_at IS NOT NULL
             ORDER BY key.ended_at DESC LIMIT ${shownEndedKeys}`,
          [tenantId],
        );
        return { key: live.rows[0] ? { prefix, ...live.rows[0] } : null, ended: ended.rows };
      },
      { deadline },
    ),
  );

  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', async () => undefined);
  const creation = { config: { ...withProof.config, takesNoBody: true } };
  app.post('/key', creation, async (request, reply) => {
    const { tenantId } = request;
    const { person } = sessionOf(request);
    const { key } = await database.inTenants([tenantId], async (client) => {
      const made = await replaceApiKey(client, tenantId, person);
      if (!made) throw new ApiError('not_found');
      await recordAudit(client, tenantId, request, { event: 'KEY_CREATED', ...describeNewKey(made) });
      return made;
    });
    notices.toAdministrators(tenantId, 'keyCreated', { actor: person.name, lastFour: key.slice(-4) });
    reply.code(201);
    return { key, lastFour: key.slice(-4) };
  });

  app.delete('/key', withProof, async (request, reply) => {
    const { tenantId } = request;
    const { person } = sessionOf(request);
    await database.inTenants([tenantId], async (client) => {
      const lastFour = await endApiKey(client, tenantId, 'DELETED');
      if (!lastFour) throw new ApiError('not_found');
      await recordAudit(client, tenantId, request, { event: 'KEY_DELETED', ...describeKey(lastFour) });
    });
    notices.toAdministrators(tenantId, 'keyDeleted', { actor: person.name });
    reply.code(204);
  });
}
