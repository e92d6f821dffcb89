// Checks origin, session and role of a request from the web app before anything else.
import type { FastifyRequest } from 'fastify';
import type { Database } from '../database/database.ts';
import { ApiError } from '../errors.ts';
import { demandRecentProof } from './recent-proof.ts';
import { type Access, isAllowed } from './route-rights.ts';
import { findSession, readSessionCookie, type Session } from './sessions.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Set on routes of the web app that need one. */
    session: Session | undefined;
  }
  interface FastifyContextConfig {
    /** Set by route-rights.ts for every route below /app. */
    access?: Access;
    /** The fields of a change that the role Pflege can send. features/care-role checks them in the body. */
    careFields?: readonly string[];
    /** Whether the person must have shown a password or passkey in the last minutes. */
    needsRecentProof?: boolean;
    /**
     * Concerns the business of the person, also while they work in its test business. A change that looks like a test
     * there and is none is rejected.
     */
    business?: 'OWN' | 'OWN_OUTSIDE_TEST';
    /** Whether a person without the passkey that their business requires may use the route. */
    allowsMissingPasskey?: boolean;
  }
}

function isRead(method: string): boolean {
  return method === 'GET' || method === 'HEAD';
}

export async function demandAccess(database: Database, request: FastifyRequest): Promise<void> {
  if (!isRead(request.method)) demandOwnOrigin(request);
  const { access, business, needsRecentProof, allowsMissingPasskey, careFields } =
    request.routeOptions.config;
  if (access === 'PUBLIC') return;
  const session = await findSession(database, readSessionCookie(request));
  if (!session) throw new ApiError('session_missing');
  request.session = session;
  demandShownBusiness(request, session);
  request.tenantId = business ? session.tenantId : (session.testTenantId ?? session.tenantId);
  request.actor = session.person.name;
  if (session.needsPasskey && !allowsMissingPasskey) throw new ApiError('passkey_required');
  const isForCare = careFields !== undefined && careFields.length > 0;
  if (!isAllowed(session.person.role, access) && !isForCare) throw new ApiError('role_insufficient');
  if (business === 'OWN_OUTSIDE_TEST' && session.testTenantId) throw new ApiError('real_business_only');
  if (needsRecentProof) demandRecentProof(session);
}

/** A page that was opened before the session moved must not write to the other business. */
function demandShownBusiness(request: FastifyRequest, { testTenantId }: Session): void {
  const shown = request.headers['stamm-test-business'];
  if (shown !== undefined && shown !== String(testTenantId !== undefined))
    throw new ApiError('business_changed');
}

/**
 * Browsers say themselves where a request comes from, in headers that no page can set. The host is compared and not
 * the scheme, which a proxy that ends TLS may not tell.
 */
function demandOwnOrigin(request: FastifyRequest): void {
  const { 'sec-fetch-site': site, origin } = request.headers;
  const isOwn = site !== undefined ? site === 'same-origin' : isOriginOf(origin, request.host);
  if (!isOwn) throw new ApiError('foreign_origin');
}

function isOriginOf(origin: string | undefined, host: string): boolean {
  if (origin === undefined || !URL.canParse(origin)) return false;
  const { protocol, host: originHost } = new URL(origin);
  // Both in the same spelling: a browser leaves out the port that the scheme has anyway.
  const own = `${protocol}//${host}`;
  return host !== '' && URL.canParse(own) && new URL(own).host === originHost;
}

/** The session of a route that is not public. */
export function sessionOf(request: FastifyRequest): Session {
  if (!request.session) throw new ApiError('session_missing');
  return request.session;
}
