// Many objects of a resource by their ids in one request: the web app names them in other tables.
import type { FastifyInstance } from 'fastify';
import { sessionOf } from '../../access/office-access.ts';
import { isAllowed } from '../../access/route-rights.ts';
import type { Database } from '../../database/database.ts';
import {
  binRepresentation,
  isRestorable,
  namedByTombstone,
  tombstoneRepresentation,
} from '../../engine/bin/bin.ts';
import type { Definition } from '../../engine/definition/definition.ts';
import { isUuid } from '../../engine/definition/formats.ts';
import { representation } from '../../engine/read/representation.ts';
import { validationError } from '../../errors.ts';
import { refuseUnknownParameters } from '../../http/conventions.ts';
import { sendRows } from '../../http/json-rows.ts';

const maxIds = 100;

interface NamedRow {
  json: string;
  is_deleted: boolean;
  former_id: string | null;
  id: string;
}

export async function namedObjectRoutes(
  office: FastifyInstance,
  { database, resources }: { database: Database; resources: readonly Definition[] },
): Promise<void> {
  for (const definition of resources) {
    // Those who may restore also learn the names of deleted objects.
    const text = `SELECT ${representation(definition, 'subject')} AS json, false AS is_deleted, NULL::uuid AS former_id, id
      FROM ${definition.table} AS subject WHERE tenant_id = $1 AND id = ANY ($2::uuid[])
      UNION ALL SELECT ${representation(definition, 'subject')}, false, former.former_id, former.id FROM former_id AS former
      JOIN ${definition.table} AS subject ON subject.tenant_id = $1 AND subject.id = former.id
      WHERE former.tenant_id = $1 AND former.former_id = ANY ($2::uuid[])
      UNION ALL SELECT ${binRepresentation([definition])}, true, NULL, id FROM deleted_object AS bin
      WHERE tenant_id = $1 AND resource = '${definition.name}' AND id = ANY ($2::uuid[]) AND $3 AND ${isRestorable('bin')}
      UNION ALL SELECT ${tombstoneRepresentation}, true, NULL, resource_id FROM journal AS entry
      WHERE tenant_id = $1 AND resource = '${definition.name}' AND resource_id = ANY ($2::uuid[]) AND $3 AND ${namedByTombstone}
        AND NOT EXISTS (SELECT FROM deleted_object AS bin WHERE bin.tenant_id = $1 AND bin.resource = entry.resource
          AND bin.id = entry.resource_id AND ${isRestorable('bin')})`;
    office.get(
      `/named/${definition.collection}`,
      { config: { isHeavyRead: true } },
      async (request, reply) => {
        refuseUnknownParameters(request, ['ids']);
        const ids = String((request.query as { ids?: unknown }).ids ?? '').split(',');
        if (ids.length > maxIds)
          throw validationError([{ path: ['ids'], code: 'too_many_items', params: { max: maxIds } }]);
        if (!ids.every(isUuid)) throw validationError([{ path: ['ids'], code: 'invalid_uuid' }]);
        const { tenantId, deadline } = request;
        const { rows } = await database.queryInTenants<NamedRow>(
          [tenantId],
          { text, values: [tenantId, ids, isAllowed(sessionOf(request).person.role, 'OFFICE')] },
          { deadline },
        );
        const list = (isDeleted: boolean) => rows.filter((row) => row.is_deleted === isDeleted);
        // Ids that were merged: the objects that answer for them are in the data.
        const former = Object.fromEntries(
          rows.flatMap((row) => (row.former_id === null ? [] : [[row.former_id, row.id]])),
        );
        return sendRows(request, reply, { data: list(false), deleted: list(true) }, { former });
      },
    );
  }
}
