// The first visit: the setup of a business, and an invitation to one.
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type pg from 'pg';
import { recordAudit } from '../../access/audit-log.ts';
import { emailAddress, readForm, words } from '../../access/form.ts';
import { findInvitation, findSetup, useInvitation, useSetup } from '../../access/one-time-links.ts';
import { beginSession } from '../../access/sessions.ts';
import type { Database } from '../../database/database.ts';
import { hashNewPassword } from './new-password.ts';
import { newPassword } from './password-fields.ts';
import { welcome } from './welcome.ts';

const maxNameLength = 100;

interface TokenRoute {
  Params: { token: string };
}

export function addSetupRoutes(app: FastifyInstance, database: Database): void {
  app.get<TokenRoute>('/setup/:token', async ({ params }) => {
    const { businessName } = await findSetup(database, params.token);
    return { businessName };
  });

  app.post<TokenRoute>('/setup/:token', async (request, reply) => {
    const { token } = request.params;
    const { tenantId } = await findSetup(database, token);
    const { businessName, password, ...person } = readForm(request, {
      businessName: words(maxNameLength),
      name: words(maxNameLength),
      email: emailAddress,
      password: newPassword,
    });
    const passwordHash = await hashNewPassword(
      { tenantId: tenantId ?? 'none yet', id: token },
      { field: 'password', password, words: [businessName, person.name, person.email] },
    );
    const session = await useSetup(
      database,
      token,
      businessName,
      { ...person, passwordHash },
      begin(request, person.name),
    );
    return (await welcome(database, request, reply.code(201), session)).me;
  });
}

export function addInvitationRoutes(app: FastifyInstance, database: Database): void {
  app.get<TokenRoute>('/invitation/:token', async ({ params }) => {
    const { email, role, business_name: businessName } = await findInvitation(database, params.token);
    return { businessName, email, role };
  });

  app.post<TokenRoute>('/invitation/:token', async (request, reply) => {
    const { token } = request.params;
    const invitation = await findInvitation(database, token);
    const { name, password } = readForm(request, { name: words(maxNameLength), password: newPassword });
    const passwordHash = await hashNewPassword(
      { tenantId: invitation.tenant_id, id: invitation.id },
      { field: 'password', password, words: [invitation.business_name, name, invitation.email] },
    );
    const session = await useInvitation(database, token, { name, passwordHash }, begin(request, name));
    return (await welcome(database, request, reply.code(201), session)).me;
  });
}

/** Begins the session in the transaction that makes the person. */
function begin(request: FastifyRequest, name: string) {
  return async (client: pg.ClientBase, tenantId: string, id: string) => {
    const who = { id, name };
    await recordAudit(client, tenantId, request, { event: 'PERSON_ADDED', actor: who, subject: who });
    return beginSession(client, tenantId, id, request);
  };
}
