// The people of the business, invitations to it, and its name: for Verwaltung.
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type pg from 'pg';
import { makeInvitation } from '../auth/links.ts';
import { sessionOf } from '../auth/office-access.ts';
import { changePerson, removePerson, roles } from '../auth/people.ts';
import { isUuid } from '../crud/formats.ts';
import type { Database } from '../database/database.ts';
import { toApiFailure } from '../database/failures.ts';
import { ApiError } from '../errors.ts';
import { emailAddress, oneOf, optional, readForm, words } from './form.ts';

const forVerwaltung = { config: { access: 'VERWALTUNG' } } as const;
const maxNameLength = 100;

interface IdRoute {
  Params: { id: string };
}

export async function peopleRoutes(app: FastifyInstance, { database }: { database: Database }) {
  app.get('/people', forVerwaltung, async (request) => ({
    data: await inBusiness(request, (client) => readPeople(client, request)),
  }));

  app.patch<IdRoute>('/people/:id', forVerwaltung, async (request) => {
    const { tenantId, person } = sessionOf(request);
    const changes = readForm(request, {
      name: optional(words(maxNameLength)),
      role: optional(oneOf(roles)),
    });
    const id = idOf(request);
    return inBusiness(request, async (client) => {
      await changePerson(client, tenantId, id, changes);
      const [changed] = await readPeople(client, request, id);
      // Whoever reads the log can tell who gave whom which rights.
      request.server.log.info(
        { requestId: request.id, by: person.id, person: id, role: changes.role },
        'person changed',
      );
      return changed;
    });
  });

  app.delete<IdRoute>('/people/:id', forVerwaltung, async (request, reply) => {
    const { tenantId } = sessionOf(request);
    await inBusiness(request, (client) => removePerson(client, tenantId, idOf(request)));
    reply.code(204);
  });

  app.get('/invitations', forVerwaltung, async (request) => {
    const { rows } = await inBusiness(request, (client) =>
      client.query(
        `SELECT id, email, role, created_at AS "createdAt", expires_at AS "expiresAt"
         FROM invitation WHERE tenant_id = $1 AND expires_at > now() ORDER BY id DESC`,
        [request.tenantId],
      ),
    );
    return { data: rows };
  });

  app.post('/invitations', forVerwaltung, async (request, reply) => {
    const form = readForm(request, { email: emailAddress, role: oneOf(roles) });
    const { id, token } = await inBusiness(request, (client) =>
      makeInvitation(client, request.tenantId, form),
    );
    reply.code(201);
    return { id, link: `${originOf(request)}/invitation#${token}` };
  });

  app.delete<IdRoute>('/invitations/:id', forVerwaltung, async (request, reply) => {
    const { rowCount } = await inBusiness(request, (client) =>
      client.query('DELETE FROM invitation WHERE tenant_id = $1 AND id = $2', [
        request.tenantId,
        idOf(request),
      ]),
    );
    if (rowCount === 0) throw new ApiError('not_found');
    reply.code(204);
  });

  app.patch('/business', forVerwaltung, async (request) => {
    const { name } = readForm(request, { name: words(maxNameLength) });
    await inBusiness(request, (client) =>
      client.query('UPDATE tenant SET name = $2 WHERE tenant_id = $1', [request.tenantId, name]),
    );
    return { id: request.tenantId, name };
  });

  function inBusiness<Result>(request: FastifyRequest, work: (client: pg.ClientBase) => Promise<Result>) {
    return database
      .inTenants([request.tenantId], work, { deadline: request.deadline })
      .catch((error): never => {
        throw toApiFailure(error);
      });
  }
}

async function readPeople(client: pg.ClientBase, request: FastifyRequest, id?: string) {
  const { rows } = await client.query(
    `SELECT id, name, email, role, created_at AS "createdAt", last_sign_in_at AS "lastSignInAt", id = $2 AS "isSelf"
     FROM person WHERE tenant_id = $1 AND ($3::uuid IS NULL OR id = $3) ORDER BY lower(name), id`,
    [request.tenantId, sessionOf(request).person.id, id],
  );
  return rows;
}

function idOf({ params: { id } }: FastifyRequest<IdRoute>): string {
  if (!isUuid(id)) throw new ApiError('not_found');
  return id.toLowerCase();
}

/** Where the browser found the app: it says so itself, and better than a proxy would. */
function originOf(request: FastifyRequest): string {
  const { origin } = request.headers;
  return origin !== undefined && URL.canParse(origin) && origin !== 'null'
    ? new URL(origin).origin
    : `${request.protocol}://${request.host}`;
}
