// Counting of requests. PostgreSQL counts those of a tenant with the look-up of its key, or Redis does. Both are exact over
// all processes. Failed authentications are counted per network on each node, where a flood of them costs the database
// nothing.
import { topics } from '../telemetry/topics.ts';

export const windowSeconds = 60;

export interface WindowCount {
  requests: number;
  windowEndsInMs: number;
}

export interface RedisCounter {
  isReady(): boolean;
  /** Adds requests to their tenants' windows in one round trip; undefined if Redis does not answer. */
  count(
    additions: readonly { tenantId: string; requests: number }[],
  ): Promise<readonly WindowCount[] | undefined>;
  close(): void;
}

/**
 * One command for any number of tenants: three per tenant cost a quarter of Node's time for a read. A window begins
 * with its first request and lasts as long as the first argument says.
 */
const addToWindows = `
  local counts = {}
  for place, key in ipairs(KEYS) do
    local requests = redis.call('INCRBY', key, ARGV[place + 1])
    local left = redis.call('PTTL', key)
    if left < 0 then
      redis.call('PEXPIRE', key, ARGV[1])
      left = tonumber(ARGV[1])
    end
    counts[place] = {requests, left}
  end
  return counts`;

/** Pause after an error of Redis: a hanging one must not delay every request. */
const pauseAfterFailureMs = 1000;
const commandTimeoutMs = 250;

export async function openRedisCounter(
  url: string,
  onStateChange: (message: string) => void,
): Promise<RedisCounter> {
  // Ten megabytes of memory that most services have no use for.
  const { Redis } = await import('ioredis');
  const redis = new Redis(url, {
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    commandTimeout: commandTimeoutMs,
    connectTimeout: 2000,
    retryStrategy: (attempt) => Math.min(attempt * 100, 1000),
  });
  let pausedUntil = 0;
  let isAway = false;
  const noteState = (away: boolean, reason: string) => {
    if (away === isAway) return;
    isAway = away;
    topics.redis.publish({ isUp: !away });
    onStateChange(
      away ? `Redis is away (${reason}): PostgreSQL counts requests.` : 'Redis counts requests again.',
    );
  };
  redis.on('error', (error) => noteState(true, error.message));
  redis.on('close', () => noteState(true, 'connection closed'));
  redis.on('ready', () => noteState(false, ''));

  return {
    isReady: () => redis.status === 'ready' && performance.now() >= pausedUntil,
    async count(additions) {
      if (additions.length === 0) return [];
      const keys = additions.map(({ tenantId }) => `stamm:requests:${tenantId}`);
      const numbers = additions.map(({ requests }) => requests);
      try {
        const reply = await redis.eval(addToWindows, keys.length, ...keys, windowSeconds * 1000, ...numbers);
        // A Redis that only hung has kept its connection, so no event announces its return.
        noteState(false, '');
        return (reply as [number, number][]).map(([requests, windowEndsInMs]) => ({
          requests,
          windowEndsInMs,
        }));
      } catch (error) {
        pausedUntil = performance.now() + pauseAfterFailureMs;
        noteState(true, (error as Error).message);
        return undefined;
      }
    },
    close: () => redis.disconnect(),
  };
}

/** Adds to the count of a network that failed to authenticate, or with 0 only returns it. */
export type CountFailures = (network: string, addition: 0 | 1) => WindowCount | Promise<WindowCount>;

const maxNetworks = 100_000;

/** Counts in windows of one minute that all begin together, and forgets everything with each window. */
export function buildFailureCounter(): (network: string, addition: 0 | 1) => WindowCount {
  const counts = new Map<string, number>();
  let windowEndsAt = 0;
  return function countFailures(network, addition) {
    const now = performance.now();
    if (now >= windowEndsAt) {
      counts.clear();
      windowEndsAt = now + windowSeconds * 1000;
    }
    const requests = (counts.get(network) ?? 0) + addition;
    if (addition > 0) counts.set(network, requests);
    if (counts.size > maxNetworks) forgetRare(counts, maxNetworks / 2);
    return { requests, windowEndsInMs: windowEndsAt - now };
  };
}

/** Networks that failed most are kept: a flood from many must not reset the count of one. */
function forgetRare(counts: Map<string, number>, kept: number): void {
  for (let most = 1; counts.size > kept; most *= 2)
    for (const [network, count] of counts) if (count <= most) counts.delete(network);
}

/** The two headers of the IETF's draft (draft-ietf-httpapi-ratelimit-headers), as structured fields. */
export function rateLimitHeaders(policy: string, limit: number, { requests, windowEndsInMs }: WindowCount) {
  return {
    'RateLimit-Policy': `"${policy}";q=${limit};w=${windowSeconds}`,
    RateLimit: `"${policy}";r=${Math.max(0, limit - requests)};t=${secondsUntil(windowEndsInMs)}`,
  };
}

export function secondsUntil(milliseconds: number): number {
  return Math.max(1, Math.ceil(milliseconds / 1000));
}
