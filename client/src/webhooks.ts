// Verification of webhooks by the Standard Webhooks specification, with WebCrypto.
import type { components } from './api-types.ts';

type Schemas = components['schemas'];
/** A change, or the test that has the type `stamm.test` and no data. */
export type WebhookEvent = Schemas['WebhookMessage'] | Schemas['WebhookTest'];

export class WebhookError extends Error {
  override readonly name = 'WebhookError';
}

export interface WebhookRequest {
  /** `whsec_…`; while a secret is being replaced, both. */
  secret: string | readonly string[];
  headers: Headers | Record<string, string | string[] | undefined>;
  /** The bytes or the text of the body as it arrived, not parsed and written again. */
  body: string | Uint8Array;
  /** Seconds by which the clocks can differ, 300 by default. */
  toleranceSeconds?: number;
}

/** The event, if it comes from Stamm and was not delayed or replayed; throws WebhookError otherwise. */
export async function verifyWebhook({
  secret,
  headers,
  body,
  toleranceSeconds = 300,
}: WebhookRequest): Promise<WebhookEvent> {
  const id = headerOf(headers, 'webhook-id');
  const timestamp = headerOf(headers, 'webhook-timestamp');
  const signatures = headerOf(headers, 'webhook-signature');
  if (!/^\d{1,12}$/.test(timestamp)) throw new WebhookError('The header webhook-timestamp is no time.');
  if (Math.abs(Date.now() / 1000 - Number(timestamp)) > toleranceSeconds)
    throw new WebhookError('The webhook is too old, or its clock differs.');
  const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : body;
  const signed = concatenate(new TextEncoder().encode(`${id}.${timestamp}.`), bytes);
  for (const one of typeof secret === 'string' ? [secret] : secret) {
    const key = await importKey(one);
    for (const signature of readSignatures(signatures)) {
      // Compares in constant time.
      if (await crypto.subtle.verify('HMAC', key, signature, signed))
        return JSON.parse(new TextDecoder().decode(bytes));
    }
  }
  throw new WebhookError('No signature matches. Check the secret, and pass the body as it arrived.');
}

function headerOf(headers: WebhookRequest['headers'], name: string): string {
  const value =
    headers instanceof Headers
      ? headers.get(name)
      : Object.entries(headers).find(([other]) => other.toLowerCase() === name)?.[1];
  const text = Array.isArray(value) ? value[0] : value;
  if (!text) throw new WebhookError(`The header ${name} is missing.`);
  return text;
}

/** `v1,BASE64`, several of them separated by spaces; other versions are left to other programs. */
function readSignatures(header: string): Bytes[] {
  return header.split(' ').flatMap((part) => {
    const [version, text] = part.split(',', 2);
    const bytes = version === 'v1' && text ? decodeBase64(text) : undefined;
    return bytes ? [bytes] : [];
  });
}

type Bytes = Uint8Array<ArrayBuffer>;

/** The headers of a message that is sent now. */
export async function signWebhook(secret: string, id: string, body: string): Promise<Record<string, string>> {
  const timestamp = String(Math.floor(Date.now() / 1000));
  const signed = new TextEncoder().encode(`${id}.${timestamp}.${body}`);
  const bytes = new Uint8Array(await crypto.subtle.sign('HMAC', await importKey(secret), signed));
  const signature = `v1,${btoa(String.fromCharCode(...bytes))}`;
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signature };
}

export function isSecret(secret: string): boolean {
  return Boolean(bytesOf(secret)?.length);
}

function bytesOf(secret: string): Bytes | undefined {
  return decodeBase64(secret.replace(/^whsec_/, ''));
}

async function importKey(secret: string): Promise<CryptoKey> {
  const bytes = bytesOf(secret);
  if (!bytes || bytes.length === 0) throw new WebhookError('The secret is no whsec_… secret.');
  const use: KeyUsage[] = ['sign', 'verify'];
  return crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, use);
}

function decodeBase64(text: string): Bytes | undefined {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  } catch {
    return undefined;
  }
}

function concatenate(one: Uint8Array, other: Uint8Array): Bytes {
  const bytes = new Uint8Array(one.length + other.length);
  bytes.set(one);
  bytes.set(other, one.length);
  return bytes;
}
