// Looks up every request's key in the database, without a cache: a key ends on every node immediately. Look-ups
// that arrive together share one statement, and a look-up never joins a statement that was sent before it arrived.
import { Tally } from '../../core/tally.ts';
import { Batcher } from '../database/batcher.ts';
import type { Database } from '../database/database.ts';
import { ApiError } from '../errors.ts';
import { hashApiKey, isWellFormedKey } from './api-keys.ts';
import { KeyUse } from './key-use.ts';
import { openRedisCounter, type RedisCounter, windowSeconds } from './rate-limit.ts';

export interface Admission {
  tenantId: string;
  /** The last four characters of the key. */
  keyEnding: string;
  /** Place of this request among those of its tenant in the current window, from 1. */
  ordinal: number;
  windowEndsInMs: number;
}

interface KeyRow {
  /** In hexadecimal digits. */
  key_hash: string;
  tenant_id: string;
  last_four: string;
  ended_by: 'REPLACED' | 'DELETED' | null;
  requests: string | null;
  window_ends_in_ms: number | null;
}

type LookUp = { row: KeyRow; admission: Admission } | { row: undefined };

export type Authenticate = (request: {
  key: string | string[] | undefined;
  address: string;
  userAgent: string;
  deadline: number;
}) => Promise<Admission>;

/** Counts in Redis if there is one, and notes the use of keys until it is closed. */
export async function openAuthentication(
  database: Database,
  redisUrl: string | undefined,
  log: { warn(message: string): void },
): Promise<{ authenticate: Authenticate; close(): Promise<void> }> {
  const keyUse = new KeyUse(database);
  const redisCounter = redisUrl
    ? await openRedisCounter(redisUrl, (message) => log.warn(message))
    : undefined;
  return {
    authenticate: buildAuthenticate(database, keyUse, redisCounter),
    async close() {
      await keyUse.close();
      redisCounter?.close();
    },
  };
}

/** Answers with the tenant of a key, or throws the ApiError that says why there is none. */
export function buildAuthenticate(
  database: Database,
  keyUse: KeyUse,
  redisCounter: RedisCounter | undefined,
): Authenticate {
  const lookUps = new Batcher<string, LookUp>({
    kind: 'key look-up',
    run: (hashes) => lookUpKeys(database, redisCounter, hashes),
    tenantOf: (hash) => hash,
    maxItems: 1000,
    paceMs: 0,
    hasAnsweredSince: database.hasAnsweredSince,
  });

  return async function authenticate({ key, address, userAgent, deadline }) {
    if (typeof key !== 'string' || key === '') throw new ApiError('key_missing');
    if (!isWellFormedKey(key)) throw new ApiError('key_malformed');
    const found = await lookUps.add(hashApiKey(key), deadline);
    if (found.row === undefined) throw new ApiError('key_unknown');
    keyUse.note(found.row, address, userAgent);
    if (found.row.ended_by === 'REPLACED') throw new ApiError('key_replaced');
    if (found.row.ended_by === 'DELETED') throw new ApiError('key_deleted');
    return found.admission;
  };
}

async function lookUpKeys(
  database: Database,
  redisCounter: RedisCounter | undefined,
  hashes: readonly string[],
): Promise<LookUp[]> {
  const requestsByHash = new Map<string, number>();
  for (const hash of hashes) requestsByHash.set(hash, (requestsByHash.get(hash) ?? 0) + 1);

  const countsInRedis = redisCounter?.isReady() ?? false;
  let rows = await readKeys(database, requestsByHash, !countsInRedis);
  if (countsInRedis && !(await countInRedis(redisCounter!, rows, requestsByHash))) {
    rows = await readKeys(database, requestsByHash, true);
  }

  const rowByHash = new Map(rows.map((row) => [row.key_hash, row]));
  const taken = new Tally();
  return hashes.map((hash) => {
    const row = rowByHash.get(hash);
    if (row === undefined) return { row };
    // The count covers all requests of the batch; each of them gets its own place in it.
    const position = taken.add(hash);
    const ordinal = Number(row.requests) - requestsByHash.get(hash)! + position;
    return {
      row,
      admission: {
        tenantId: row.tenant_id,
        keyEnding: row.last_four,
        ordinal,
        windowEndsInMs: row.window_ends_in_ms ?? 0,
      },
    };
  });
}

async function readKeys(
  database: Database,
  requestsByHash: ReadonlyMap<string, number>,
  countsRequests: boolean,
): Promise<KeyRow[]> {
  const { rows } = await database.pool.query<KeyRow>({
    name: 'authenticate',
    text: `SELECT encode(key_hash, 'hex') AS key_hash, tenant_id, last_four, ended_by, requests, window_ends_in_ms
      FROM authenticate($1, $2, $3)`,
    values: [
      [...requestsByHash.keys()].map((hash) => `\\x${hash}`),
      [...requestsByHash.values()].map((count) => (countsRequests ? count : 0)),
      windowSeconds,
    ],
  });
  return rows;
}

/** Puts Redis' counts into the rows of live keys; false if Redis did not answer and somebody else must count. */
async function countInRedis(
  redisCounter: RedisCounter,
  rows: KeyRow[],
  requestsByHash: ReadonlyMap<string, number>,
): Promise<boolean> {
  const live = rows.filter((row) => row.ended_by === null);
  const counts = await redisCounter.count(
    live.map((row) => ({
      tenantId: row.tenant_id,
      requests: requestsByHash.get(row.key_hash)!,
    })),
  );
  if (counts === undefined) return false;
  live.forEach((row, index) => {
    row.requests = String(counts[index]!.requests);
    row.window_ends_in_ms = counts[index]!.windowEndsInMs;
  });
  return true;
}
