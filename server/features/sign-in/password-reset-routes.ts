// A forgotten password: Verwaltung makes a link for a person, or the person asks for one by mail.
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { countAttempt, hashSubject } from '../../access/attempts.ts';
import { recordAudit } from '../../access/audit-log.ts';
import { emailAddress, readForm } from '../../access/form.ts';
import { networkOf } from '../../access/network.ts';
import { sessionOf } from '../../access/office-access.ts';
import { linkTo } from '../../access/one-time-links.ts';
import { hashEmail } from '../../access/people.ts';
import type { Database } from '../../database/database.ts';
import { isUuid } from '../../engine/definition/formats.ts';
import { ApiError } from '../../errors.ts';
import type { Mail } from '../../mail/mailer.ts';
import { writeNotice } from '../../mail/notice-texts.ts';
import type { Notices, Recipient } from '../../mail/notices.ts';
import { rememberDevice } from './devices.ts';
import { hashNewPassword } from './new-password.ts';
import { newPassword } from './password-fields.ts';
import { findResetLink, makeResetToken, resetHours, useResetLink } from './reset-links.ts';
import { findAccounts } from './sign-in.ts';

/** In 15 minutes. An address that has been sent so many has them in its inbox. */
const requestLimits = { network: 20, account: 3 };

interface TokenRoute {
  Params: { token: string };
}

interface Options {
  database: Database;
  notices: Notices;
  publicUrl: string | undefined;
}

export async function passwordResetRoutes(app: FastifyInstance, options: Options): Promise<void> {
  addLinkRoute(app, options);
  addRequestRoute(app, options);
  addResetRoutes(app, options);
}

/** Verwaltung makes a link. */
function addLinkRoute(app: FastifyInstance, { database, notices, publicUrl }: Options): void {
  const byVerwaltung = {
    config: { needsRecentProof: true, takesNoBody: true },
  } as const;
  app.post<{ Params: { id: string } }>('/people/:id/reset-link', byVerwaltung, async (request, reply) => {
    const { tenantId, person: actor } = sessionOf(request);
    const id = request.params.id.toLowerCase();
    if (!isUuid(id)) throw new ApiError('not_found');
    // An open browser must not be enough to set a password: one's own needs the one before it.
    if (id === actor.id) throw new ApiError('own_account');
    const token = await database.inTenants([tenantId], async (client) => {
      const { rows } = await client.query<{ name: string }>(
        'SELECT name FROM person WHERE tenant_id = $1 AND id = $2 FOR UPDATE',
        [tenantId, id],
      );
      if (!rows[0]) throw new ApiError('not_found');
      const subject = { id, name: rows[0].name };
      await recordAudit(client, tenantId, request, { event: 'PASSWORD_RESET_REQUESTED', subject });
      return makeResetToken(client, tenantId, id, resetHours.byVerwaltung);
    });
    notices.toPerson(tenantId, id, 'resetLinkMade', { actor: actor.name });
    reply.code(201);
    return { link: linkTo(request, publicUrl, 'reset', token) };
  });
}

/** The person asks for a link by mail. */
function addRequestRoute(app: FastifyInstance, { database, notices, publicUrl }: Options): void {
  // The answer and the work before it are the same for every address: what depends on it comes later.
  app.post('/password-reset', async (request, reply) => {
    if (!notices.hasMail || publicUrl === undefined) throw new ApiError('not_found');
    const { email } = readForm(request, { email: emailAddress });
    const network = hashSubject('reset address', networkOf(request.ip));
    await countAttempt(database, reply, network, requestLimits.network);
    const account = hashSubject('reset account', hashEmail(email));
    const asked = await countAttempt(database, reply, account, Number.POSITIVE_INFINITY);
    if (asked <= requestLimits.account)
      notices.later('password reset', () => writeResetMails(database, request, email, publicUrl));
    reply.code(202);
    return {};
  });
}

/** The person opens the link. */
function addResetRoutes(app: FastifyInstance, { database, notices }: Options): void {
  app.get<TokenRoute>('/reset/:token', async ({ params }) => {
    const { email, business_name: businessName } = await findResetLink(database, params.token);
    return { email, businessName };
  });

  app.post<TokenRoute>('/reset/:token', async (request, reply) => {
    const link = await findResetLink(database, request.params.token);
    const { password } = readForm(request, { password: newPassword });
    const { tenant_id: tenantId, person_id: id, name, email } = link;
    const passwordHash = await hashNewPassword(
      { tenantId, id },
      { field: 'password', password, words: [link.business_name, name, email] },
    );
    const { cookie } = await database.inTenants([tenantId], async (client) => {
      await useResetLink(client, link, passwordHash);
      await recordAudit(client, tenantId, request, { event: 'PASSWORD_RESET', actor: { id, name } });
      return rememberDevice(client, request, tenantId, { id, email });
    });
    notices.toPerson(tenantId, id, 'passwordChanged');
    // It signs nobody in: a second factor, where there is one, is still asked for.
    reply.code(204).header('Set-Cookie', cookie);
  });
}

/** An address of several businesses gets a mail for each. */
async function writeResetMails(
  database: Database,
  request: FastifyRequest,
  email: string,
  origin: string,
): Promise<Mail[]> {
  const mails: Mail[] = [];
  for (const { tenant_id: tenantId, person_id: id } of await findAccounts(database, email)) {
    await database.inTenants([tenantId], async (client) => {
      const { rows } = await client.query<Recipient & { name: string; business: string }>(
        `SELECT person.name, email, language, tenant.name AS business FROM person JOIN tenant USING (tenant_id)
         WHERE person.tenant_id = $1 AND person.id = $2 FOR UPDATE OF person`,
        [tenantId, id],
      );
      const [person] = rows;
      if (!person) return;
      const token = await makeResetToken(client, tenantId, id, resetHours.byMail);
      await recordAudit(client, tenantId, request, {
        event: 'PASSWORD_RESET_REQUESTED',
        actor: { id: undefined, name: '' },
        subject: { id, name: person.name },
      });
      const values = { business: person.business, link: linkTo(request, origin, 'reset', token) };
      mails.push({ to: person.email, ...writeNotice('resetLink', person.language, values) });
    });
  }
  return mails;
}
