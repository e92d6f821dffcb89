// Cookies by name. Over https each has the prefix __Host-, which no other host and no plain-http page can set.
import type { FastifyRequest } from 'fastify';

const hostPrefix = '__Host-';

/** A proxy may end TLS without telling; the browser's Origin, which writes are checked against, tells too. */
function isSecure({ protocol, headers }: FastifyRequest): boolean {
  return protocol === 'https' || headers.origin?.startsWith('https:') === true;
}

/** The prefixed one wins. Of two cookies with one name, one of which somebody else may have set, neither counts. */
export function readCookie(request: FastifyRequest, name: string): string | undefined {
  const parts = (request.headers.cookie ?? '').split(';').map((part) => part.trim());
  const valuesOf = (wanted: string) =>
    parts.filter((part) => part.startsWith(`${wanted}=`)).map((part) => part.slice(wanted.length + 1));
  const secure = valuesOf(hostPrefix + name);
  const found = secure.length > 0 || request.protocol === 'https' ? secure : valuesOf(name);
  return found.length === 1 ? found[0] : undefined;
}

/** The Set-Cookie header; 0 seconds end a cookie. */
export function cookie(request: FastifyRequest, name: string, value: string, seconds: number): string {
  const attributes = `Path=/; HttpOnly; SameSite=Lax; Max-Age=${seconds}`;
  return isSecure(request)
    ? `${hostPrefix}${name}=${value}; Secure; ${attributes}`
    : `${name}=${value}; ${attributes}`;
}
