// One POST to an address that a tenant chose. It reaches the public internet only, follows no redirect, and ends in time.
import { Resolver, lookup as systemLookup } from 'node:dns/promises';
import {
  type ClientRequest,
  Agent as HttpAgent,
  request as httpRequest,
  type IncomingMessage,
} from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import type { DeliveryError } from '../../../core/definition/codes.ts';
import type { Config } from '../../config.ts';
import { readRetryAfter } from '../../http/retry-pauses.ts';
import { isPublicAddress } from './public-addresses.ts';

export type OutgoingConfig = Pick<Config, 'WEBHOOK_ALLOW_HTTP' | 'WEBHOOK_ALLOW_PRIVATE'> & {
  /** Tests set this. */
  webhookLimits?: { timeoutMs?: number; dnsServers?: readonly string[] };
};

export interface Result {
  status: number | undefined;
  error: DeliveryError | undefined;
  durationMs: number;
  /** The first kilobyte. */
  answer: string;
  retryAfterSeconds: number | undefined;
}

export interface OutgoingRequest {
  url: string;
  headers: Record<string, string>;
  body: string;
  /** Targets of the real business, if this is its test business. */
  realUrls: readonly string[];
  /** Ends the request early, with the error `interrupted`. */
  signal?: AbortSignal;
  agent?: Agent;
}

export type Agent = HttpAgent | HttpsAgent;

const timeoutMs = 15_000;
const maxHeaderBytes = 8192;
const keptAnswerBytes = 1024;
/** A longer answer is cut off, and the connection with it. */
const readAnswerBytes = 8192;

/** Keeps one connection for deliveries that follow each other. */
export function openAgent(url: string): Agent {
  const options = { keepAlive: true, maxSockets: 1 };
  return url.startsWith('https:') ? new HttpsAgent(options) : new HttpAgent(options);
}

export async function send(config: OutgoingConfig, request: OutgoingRequest): Promise<Result> {
  const startedAt = performance.now();
  const timeout = AbortSignal.timeout(config.webhookLimits?.timeoutMs ?? timeoutMs);
  const signal = AbortSignal.any([timeout, ...(request.signal ? [request.signal] : [])]);
  const finish = (result: Partial<Result>): Result => ({
    status: undefined,
    error: undefined,
    answer: '',
    retryAfterSeconds: undefined,
    ...result,
    durationMs: Math.round(performance.now() - startedAt),
  });
  const urlError = refuseUrl(config, request.url);
  if (urlError) return finish({ error: urlError });
  if (isReceiverAmong(request.url, request.realUrls)) return finish({ error: 'real_business' });
  try {
    return finish(await exchange(config, request, signal));
  } catch (error) {
    if (request.signal?.aborted) return finish({ error: 'interrupted' });
    return finish({ error: timeout.aborted ? 'timeout' : errorOf(error) });
  }
}

/** Checks the URL alone. Each request looks names up, because their addresses change. */
export function refuseUrl(
  { WEBHOOK_ALLOW_HTTP, WEBHOOK_ALLOW_PRIVATE }: OutgoingConfig,
  url: string,
): 'https_required' | 'address_refused' | undefined {
  const { protocol, hostname } = new URL(url);
  if (protocol !== 'https:' && !WEBHOOK_ALLOW_HTTP && !WEBHOOK_ALLOW_PRIVATE) return 'https_required';
  const address = hostname.replace(/^\[|\]$/g, '');
  const isRefused = isIP(address) !== 0 ? !isPublicAddress(address) : isLocalName(hostname);
  return isRefused && !WEBHOOK_ALLOW_PRIVATE ? 'address_refused' : undefined;
}

/** Host and path are compared: a receiver tells test data apart by its path, not by a parameter that it may ignore. */
export function isReceiverAmong(url: string, others: readonly string[]): boolean {
  return others.some((other) => receiverOf(other) === receiverOf(url));
}

function receiverOf(url: string): string {
  const { hostname, port, pathname } = new URL(url);
  return `${hostname.replace(/\.$/, '')}:${port}${pathname.replace(/\/+$/, '')}`.toLowerCase();
}

function isLocalName(hostname: string): boolean {
  return /(^|\.)localhost\.?$/i.test(hostname);
}

class AddressRefusedError extends Error {}
class NameUnknownError extends Error {}

function errorOf(error: unknown): DeliveryError {
  if (error instanceof AddressRefusedError) return 'address_refused';
  if (error instanceof NameUnknownError) return 'name_unknown';
  const { code = '' } = error as { code?: string };
  return /CERT|SELF_SIGNED|^ERR_TLS|UNABLE_TO/.test(code) ? 'certificate' : 'connection_failed';
}

/** A kept connection may have been closed by the other side just now: then a new one is tried, once. */
async function exchange(
  config: OutgoingConfig,
  request: OutgoingRequest,
  signal: AbortSignal,
): Promise<Partial<Result>> {
  for (;;) {
    const outgoing = open(config, request, signal);
    try {
      return await readAnswer(outgoing);
    } catch (error) {
      const isStale = outgoing.reusedSocket && (error as { code?: string }).code === 'ECONNRESET';
      if (!isStale || signal.aborted) throw error;
    }
  }
}

function open(config: OutgoingConfig, request: OutgoingRequest, signal: AbortSignal): ClientRequest {
  const { url, headers, body, agent } = request;
  const open = url.startsWith('https:') ? httpsRequest : httpRequest;
  const outgoing = open(url, {
    method: 'POST',
    headers: { ...headers, 'content-length': Buffer.byteLength(body) },
    agent: agent ?? false,
    lookup: buildLookup(config),
    maxHeaderSize: maxHeaderBytes,
    signal,
  });
  outgoing.end(body);
  return outgoing;
}

function readAnswer(outgoing: ClientRequest): Promise<Partial<Result>> {
  const { promise, resolve, reject } = Promise.withResolvers<Partial<Result>>();
  let hasStatus = false;
  outgoing.on('error', (error) => (hasStatus ? undefined : reject(error)));
  outgoing.once('response', (response: IncomingMessage) => {
    hasStatus = true;
    const chunks: Buffer[] = [];
    let bytes = 0;
    response.on('data', (chunk: Buffer) => {
      if (bytes < keptAnswerBytes) chunks.push(chunk);
      bytes += chunk.length;
      if (bytes > readAnswerBytes) response.destroy();
    });
    response.on('error', () => {});
    // The status has come: how the rest of the answer ends changes nothing.
    response.once('close', () =>
      resolve({
        status: response.statusCode,
        answer: toText(Buffer.concat(chunks).subarray(0, keptAnswerBytes)),
        retryAfterSeconds: readRetryAfter(response.headers['retry-after']),
      }),
    );
  });
  return promise;
}

function toText(bytes: Buffer): string {
  return bytes.toString('utf8').replaceAll('\0', '\ufffd');
}

/** The connection goes to an address that was checked: a second look-up could answer another one. */
function buildLookup(config: OutgoingConfig): LookupFunction {
  return (hostname, options, callback) => {
    resolveName(config, hostname).then(
      (found) => {
        const allowed = found.filter(
          ({ address }) => config.WEBHOOK_ALLOW_PRIVATE || isPublicAddress(address),
        );
        const [first] = allowed;
        if (!first) callback(new AddressRefusedError(), []);
        else if (options.all) callback(null, allowed);
        else callback(null, first.address, first.family);
      },
      (error) => callback(error, []),
    );
  };
}

interface Address {
  address: string;
  family: number;
}

/** Asks DNS without the system's look-up, which would let a slow name server take all threads of the process. */
async function resolveName(config: OutgoingConfig, hostname: string): Promise<Address[]> {
  const resolver = new Resolver({ timeout: 3000, tries: 2 });
  const { dnsServers } = config.webhookLimits ?? {};
  if (dnsServers) resolver.setServers(dnsServers);
  const [four, six] = isLocalName(hostname)
    ? []
    : await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
  const found = [
    ...(four?.status === 'fulfilled' ? four.value.map((address) => ({ address, family: 4 })) : []),
    ...(six?.status === 'fulfilled' ? six.value.map((address) => ({ address, family: 6 })) : []),
  ];
  if (found.length > 0) return found;
  // Names of the operator's own network may stand in the hosts file.
  if (config.WEBHOOK_ALLOW_PRIVATE) return systemLookup(hostname, { all: true });
  throw new NameUnknownError();
}
