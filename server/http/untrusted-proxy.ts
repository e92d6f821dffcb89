// Detects a proxy that TRUST_PROXY does not name. All its visitors count as one address and are locked out together. The
// service cannot know whether the sender is a proxy, but it can say what it sees.
import type { FastifyBaseLogger, FastifyRequest } from 'fastify';

export type NoteForwarding = (request: FastifyRequest) => void;

/** Warns once: a stranger who sends the header must not fill the log. */
export function buildForwardingWarning(log: FastifyBaseLogger): NoteForwarding {
  let hasWarned = false;
  return function noteForwarding(request) {
    if (hasWarned || !request.headers['x-forwarded-for'] || isBelieved(request)) return;
    hasWarned = true;
    const address = request.raw.socket.remoteAddress;
    log.warn(
      { address },
      `X-Forwarded-For from ${address} is ignored. If your proxy has this address, set TRUST_PROXY=${address}.`,
    );
  };
}

/** The framework's list begins with the peer, and goes on only where the peer is trusted. */
function isBelieved({ ips }: FastifyRequest): boolean {
  return (ips?.length ?? 0) > 1;
}
