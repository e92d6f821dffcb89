// Webhooks for a developer's machine: signs changes of the feed and sends them to a local address, as Stamm would.
import { type Change, type ChangeQuery, openChanges } from './changes.ts';
import { openHttp, pause, type StammOptions } from './http.ts';
import { isSecret, signWebhook } from './webhooks.ts';

export interface ListenOptions extends Pick<StammOptions, 'baseUrl' | 'apiKey'> {
  forwardTo: string;
  /** `whsec_…`; made and logged if absent. */
  secret?: string;
  /** A cursor of the feed; only what comes next if absent. */
  after?: string;
  resources?: readonly string[];
  excludeOrigin?: string;
  signal: AbortSignal;
  log(line: string): void;
}

/** The service rejects a type that it does not know. */
type ChangedTypes = Extract<ChangeQuery['resource'], readonly unknown[]>;

const longestPauseMs = 10_000;
const receiverTimeoutMs = 15_000;

/** Ends with `signal`. A receiver that fails gets the same message again, and no later one before it. */
export async function listen(options: ListenOptions): Promise<void> {
  const { forwardTo, after = 'now', resources, excludeOrigin, signal, log } = options;
  const secret = options.secret ?? makeSecret();
  if (!isSecret(secret)) throw new Error('The secret is no whsec_… secret.');
  const changes = openChanges(openHttp(options));
  // A wrong key or address ends it here, not in the loop that waits for the service.
  const start = (await changes.page({ after, limit: 1 }, { signal })).nextCursor;
  log(`Changes go to ${forwardTo}. Secret: ${options.secret ? 'yours' : secret}`);
  const following = {
    cursor: { load: () => (after === 'now' ? start : after), save() {} },
    include: 'data' as const,
    pollSeconds: 1,
    signal,
    ...(resources && { resource: resources as ChangedTypes }),
    ...(excludeOrigin && { excludeOrigin }),
  };
  for await (const change of changes.follow(following)) {
    const { type, body } = toMessage(change);
    for (let attempt = 1; ; attempt += 1) {
      const result = await send(forwardTo, `listen_${change.cursor}`, body, secret, signal);
      if (signal.aborted) return;
      log(`${change.cursor} ${type} ${change.externalId ?? change.id}: ${result}`);
      if (/^2\d\d$/.test(result)) break;
      await pause(Math.min(500 * 2 ** attempt, longestPauseMs), signal).catch(() => {});
    }
  }
}

function toMessage({ at, actor, actorId, actorType, requestId, data, ...entry }: Change) {
  const type = `${entry.resource.replaceAll('-', '_')}.${entry.action.toLowerCase()}`;
  const body = JSON.stringify({ type, timestamp: at, data: { ...entry, ...(data && { object: data }) } });
  return { type, body };
}

/** The status of the answer, or why there is none. */
async function send(
  url: string,
  id: string,
  body: string,
  secret: string,
  signal: AbortSignal,
): Promise<string> {
  try {
    const response = await fetch(url, {
      method: 'POST',
      body,
      headers: { 'content-type': 'application/json', ...(await signWebhook(secret, id, body)) },
      redirect: 'manual',
      signal: AbortSignal.any([signal, AbortSignal.timeout(receiverTimeoutMs)]),
    });
    await response.arrayBuffer();
    return String(response.status);
  } catch (error) {
    const { cause, message } = error as Error;
    return cause instanceof Error && cause.message ? cause.message : message;
  }
}

function makeSecret(): string {
  return `whsec_${btoa(String.fromCharCode(...crypto.getRandomValues(new Uint8Array(32))))}`;
}
