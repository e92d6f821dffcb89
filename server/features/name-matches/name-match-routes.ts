// Finds objects by what an office calls them, for the import: by name, number or external id.
import type { FastifyInstance } from 'fastify';
import type pg from 'pg';
import { oneOf, optional, readForm, texts, uuid, words } from '../../access/form.ts';
import type { Database } from '../../database/database.ts';
import type { Definition } from '../../engine/definition/definition.ts';
import { validationError } from '../../errors.ts';
import { paceOf } from '../../http/request-pace.ts';
import { findNames, rememberedNameOf } from './name-search.ts';

const maxNames = 200;
const maxNameLength = 200;

const namesInput = texts(maxNames, maxNameLength);

export async function nameMatchRoutes(
  office: FastifyInstance,
  { database, resources }: { database: Database; resources: readonly Definition[] },
): Promise<void> {
  const form = {
    resource: oneOf(resources.map(({ name }) => name)),
    names: namesInput,
    /** By the place of the name: whose object it is. Empty for one that anybody has. */
    owners: optional(namesInput),
  };

  /** The ids of the objects with each name, and the one that somebody assigned to it. */
  office.post('/name-matches', { config: { isHeavyRead: true } }, async (request) => {
    const { resource, names, owners = [] } = readForm(request, form);
    const definition = resources.find(({ name }) => name === resource)!;
    const { tenantId, deadline } = request;
    const search = { database, resources, tenantId, deadline, pace: paceOf(request) };
    const sought = names.map((name, place) => ({ name, owner: owners[place] || undefined }));
    return { data: await findNames(search, definition, sought) };
  });

  const assignment = {
    resource: form.resource,
    name: words(maxNameLength),
    owner: optional(words(maxNameLength)),
    id: optional(uuid),
  };

  /** Remembers what a name in files means, or forgets it where no id is sent. */
  office.put('/remembered-names', async (request, reply) => {
    const { resource, name, owner, id } = readForm(request, assignment);
    const { tenantId, actor, deadline } = request;
    const { table } = resources.find((definition) => definition.name === resource)!;
    const key = [tenantId, resource, rememberedNameOf({ name, owner })];
    const { rowCount } = await database.queryInTenants(
      [tenantId],
      id === undefined
        ? {
            text: 'DELETE FROM remembered_name WHERE tenant_id = $1 AND resource = $2 AND name = $3',
            values: key,
          }
        : {
            text: `INSERT INTO remembered_name (tenant_id, resource, name, object_id, actor)
              SELECT $1, $2, $3, subject.id, $5 FROM ${table} AS subject WHERE subject.tenant_id = $1 AND subject.id = $4
              ON CONFLICT (tenant_id, resource, name) DO UPDATE SET object_id = excluded.object_id,
                actor = excluded.actor, remembered_at = excluded.remembered_at`,
            values: [...key, id, actor],
          },
      { deadline },
    );
    if (id !== undefined && rowCount === 0)
      throw validationError([{ path: ['id'], code: 'reference_not_found' }]);
    reply.code(204);
  });
}

/** A name may be a person's. */
export async function eraseRememberedNames(client: pg.ClientBase, tenantId: string): Promise<void> {
  await client.query('DELETE FROM remembered_name WHERE tenant_id = $1', [tenantId]);
}
