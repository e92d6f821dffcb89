// The answer to a sign-in: the person, and the cookies of session and device.
import type { FastifyReply, FastifyRequest } from 'fastify';
import { findSession, type Session, sessionCookie } from '../../access/sessions.ts';
import type { Database } from '../../database/database.ts';
import { ApiError } from '../../errors.ts';
import type { Notices } from '../../mail/notices.ts';
import { rememberDevice } from './devices.ts';

export function me({ tenantId, testTenantId, hasTestBusiness, ...session }: Session) {
  const { person, businessName, needsPasskey } = session;
  return {
    person,
    business: { id: tenantId, name: businessName },
    ...(hasTestBusiness && { hasTestBusiness, isInTestBusiness: testTenantId !== undefined }),
    ...(needsPasskey && { needsPasskey }),
  };
}

export async function welcome(
  database: Database,
  request: FastifyRequest,
  reply: FastifyReply,
  token: string,
) {
  const session = await findSession(database, token);
  if (!session) throw new ApiError('session_missing');
  const { tenantId, person } = session;
  const device = await database.inTenants([tenantId], (client) =>
    rememberDevice(client, request, tenantId, person),
  );
  reply.header('Set-Cookie', [sessionCookie(request, token), device.cookie]);
  return { me: me(session), isNewDevice: device.isNew };
}

/** As `welcome`, for somebody who has been here before: a browser that has not is reported by mail. */
export async function welcomeBack(
  { database, notices }: { database: Database; notices: Notices },
  request: FastifyRequest,
  reply: FastifyReply,
  token: string,
) {
  const { me, isNewDevice } = await welcome(database, request, reply, token);
  if (isNewDevice)
    notices.toPerson(me.business.id, me.person.id, 'newDevice', {
      address: request.ip,
      userAgent: request.headers['user-agent'] ?? '',
    });
  return me;
}
