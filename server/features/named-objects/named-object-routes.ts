// Many objects of a resource by their ids in one request: what the web app shows where a table names other objects.
import type { FastifyInstance } from 'fastify';
import type { Database } from '../../database/database.ts';
import type { Definition } from '../../engine/definition/definition.ts';
import { isUuid } from '../../engine/definition/formats.ts';
import { representation } from '../../engine/sql/representation.ts';
import { validationError } from '../../errors.ts';
import { refuseUnknownParameters, sendJson } from '../../http/conventions.ts';

const maxIds = 100;

export async function namedObjectRoutes(
  office: FastifyInstance,
  { database, resources }: { database: Database; resources: readonly Definition[] },
): Promise<void> {
  for (const definition of resources) {
    const text = `SELECT ${representation(definition, 'subject')} AS json FROM ${definition.table} AS subject
      WHERE tenant_id = $1 AND id = ANY ($2::uuid[])`;
    office.get(`/named/${definition.collection}`, async (request, reply) => {
      refuseUnknownParameters(request, ['ids']);
      const ids = String((request.query as { ids?: unknown }).ids ?? '').split(',');
      if (ids.length > maxIds)
        throw validationError([{ path: ['ids'], code: 'too_many_items', params: { max: maxIds } }]);
      if (!ids.every(isUuid)) throw validationError([{ path: ['ids'], code: 'invalid_uuid' }]);
      const { rows } = await database.queryInTenants<{ json: string }>([request.tenantId], {
        text,
        values: [request.tenantId, ids],
      });
      return sendJson(reply, `{"data":[${rows.map((row) => row.json).join(',')}]}`);
    });
  }
}
