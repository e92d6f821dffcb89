// The addresses that receive webhooks.
import type { components } from './api-types.ts';
import type { CreateOptions } from './collection.ts';
import { type CallOptions, type Http, makeIdempotencyKey } from './http.ts';

type Schemas = components['schemas'];
export type Webhook = Schemas['Webhook'];
export type NewWebhook = Schemas['NewWebhook'];
export type WebhookPatch = Schemas['WebhookPatch'];

export interface Webhooks {
  list(options?: CallOptions): Promise<Webhook[]>;
  get(id: string, options?: CallOptions): Promise<Webhook>;
  /** Returns the secret, which is shown only here: store it safely. Retries send the same Idempotency-Key. */
  create(webhook: NewWebhook, options?: Omit<CreateOptions, 'dryRun'>): Promise<Schemas['WebhookSecret']>;
  change(id: string, patch: WebhookPatch, options?: CallOptions): Promise<Webhook>;
  delete(id: string, options?: CallOptions): Promise<void>;
  /** Sends a message of type `stamm.test` now, and returns the receiver's answer. */
  test(id: string, options?: CallOptions): Promise<Schemas['WebhookTestResult']>;
}

export function openWebhooks(http: Http): Webhooks {
  const pathOf = (id: string) => `/webhooks/${encodeURIComponent(id)}`;
  return {
    async list({ signal } = {}) {
      return (await http.read<{ data: Webhook[] }>({ method: 'GET', path: '/webhooks', signal })).data;
    },
    get: (id, { signal } = {}) => http.read({ method: 'GET', path: pathOf(id), signal }),
    create(body, { idempotencyKey, signal } = {}) {
      const headers = { 'Idempotency-Key': idempotencyKey ?? makeIdempotencyKey() };
      return http.read({ method: 'POST', path: '/webhooks', headers, body, signal });
    },
    change: (id, body, { signal } = {}) => http.read({ method: 'PATCH', path: pathOf(id), body, signal }),
    async delete(id, { signal } = {}) {
      await http.send({ method: 'DELETE', path: pathOf(id), signal });
    },
    test: (id, { signal } = {}) =>
      http.read({ method: 'POST', path: `${pathOf(id)}/test`, isUnsafe: true, signal }),
  };
}
