// Checks origin, session and role of a request from the web app before anything else.
import type { FastifyRequest } from 'fastify';
import type { Database } from '../database/database.ts';
import { ApiError } from '../errors.ts';
import { demandRecentProof } from './recent-proof.ts';
import { findSession, readSessionCookie, type Session } from './sessions.ts';

/**
 * Who may use a route. `PUBLIC` needs no session; `SELF` is what everybody may do about themselves; `VERWALTUNG` is
 * for that role only, reading included. By default everybody may read a route and Verwaltung may change it: a new one
 * is never open by mistake.
 */
export type Access = 'PUBLIC' | 'SELF' | 'VERWALTUNG';

declare module 'fastify' {
  interface FastifyRequest {
    /** Set on routes of the web app that need one. */
    session: Session | undefined;
  }
  interface FastifyContextConfig {
    access?: Access;
    /** Of a change: the fields that the role Pflege may change, which features/care-role checks in the body. */
    careFields?: readonly string[];
    /** Whether the person must have shown a password or passkey in the last minutes. */
    needsRecentProof?: boolean;
    /** Whether a person without the passkey that their business requires may use the route. */
    allowsMissingPasskey?: boolean;
  }
}

function isRead(method: string): boolean {
  return method === 'GET' || method === 'HEAD';
}

export async function demandAccess(database: Database, request: FastifyRequest): Promise<void> {
  if (!isRead(request.method)) demandOwnOrigin(request);
  const { access, needsRecentProof, allowsMissingPasskey, careFields } = request.routeOptions.config;
  if (access === 'PUBLIC') return;
  const session = await findSession(database, readSessionCookie(request));
  if (!session) throw new ApiError('session_missing');
  request.session = session;
  request.tenantId = session.tenantId;
  request.actor = session.person.name;
  if (session.needsPasskey && !allowsMissingPasskey) throw new ApiError('passkey_required');
  const isForCare = careFields !== undefined && careFields.length > 0;
  const needsVerwaltung =
    access === 'VERWALTUNG' || (access !== 'SELF' && !isRead(request.method) && !isForCare);
  if (needsVerwaltung && session.person.role !== 'VERWALTUNG') throw new ApiError('role_insufficient');
  if (needsRecentProof) demandRecentProof(session);
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
