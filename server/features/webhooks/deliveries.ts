// The log of deliveries, and sending by hand: a test, or one delivery again.
import { randomUUIDv7 } from 'node:crypto';
import type pg from 'pg';
import type { Database } from '../../database/database.ts';
import type { Definition } from '../../engine/definition/definition.ts';
import { ApiError } from '../../errors.ts';
import { everything, readTarget } from './endpoints.ts';
import { headersOf, type Message, readMessages, testMessage } from './events.ts';
import { type OutgoingConfig, type Result, send } from './outgoing-request.ts';

export interface Delivery {
  id: string;
  at: Date;
  type: string;
  position: string | null;
  status: number | null;
  error: string | null;
  durationMs: number;
  answer: string | null;
}

const keptDays = 30;
/** Most deliveries of an endpoint. Older ones go before their 30 days are over. */
const keptRows = 100_000;
const keptAnswers = 1000;
const dayMs = 24 * 3_600_000;

export async function trimDeliveries(database: Database): Promise<void> {
  const oldest = new Date(Date.now() - keptDays * dayMs);
  await database.pool.query('SELECT trim_webhook_deliveries($1, $2, $3)', [oldest, keptRows, keptAnswers]);
}

/** An answer may repeat what was sent. The log keeps no message itself. */
export async function eraseAnswers(client: pg.ClientBase, tenantId: string): Promise<void> {
  await client.query(
    'UPDATE webhook_delivery SET answer = NULL WHERE tenant_id = $1 AND answer IS NOT NULL',
    [tenantId],
  );
}

/** The newest first; `before` is the id of the last one that is known. */
export async function listDeliveries(
  client: pg.ClientBase,
  tenantId: string,
  webhookId: string,
  { before, limit }: { before: string | undefined; limit: number },
): Promise<Delivery[]> {
  await readTarget(client, tenantId, webhookId);
  const { rows } = await client.query<Delivery>(
    `SELECT id, at, type, position, status, error, duration_ms AS "durationMs", answer FROM webhook_delivery
     WHERE tenant_id = $1 AND webhook_id = $2 AND id < $3 ORDER BY id DESC LIMIT $4`,
    [tenantId, webhookId, before ?? 'ffffffff-ffff-ffff-ffff-ffffffffffff', limit],
  );
  return rows;
}

/** The columns of a delivery after tenant and webhook, in the order of `deliveryValues`. */
export const deliveryColumns = 'id, type, position, status, error, duration_ms, answer';

export function deliveryValues(
  { type, position }: Pick<Message, 'type' | 'position'>,
  result: Result,
): unknown[] {
  const { status, error, durationMs, answer } = result;
  return [randomUUIDv7(), type, position, status, error, durationMs, answer === '' ? null : answer];
}

export interface ManualSending {
  config: OutgoingConfig;
  database: Database;
  tenantId: string;
  webhookId: string;
}

export async function sendTest(sending: ManualSending): Promise<Result> {
  return sendByHand(sending, testMessage());
}

/** Sends what a delivery sent, with the object as it is now; the cursor of the endpoint stays. */
export async function resendDelivery(
  sending: ManualSending,
  definitions: readonly Definition[],
  deliveryId: string,
): Promise<Result> {
  const { database, tenantId, webhookId } = sending;
  const { rows } = await database.queryInTenants<{ position: string | null }>([tenantId], {
    text: 'SELECT position FROM webhook_delivery WHERE tenant_id = $1 AND webhook_id = $2 AND id = $3',
    values: [tenantId, webhookId, deliveryId],
  });
  if (!rows[0]) throw new ApiError('not_found');
  const { position } = rows[0];
  if (position === null) return sendTest(sending);
  const after = String(BigInt(position) - 1n);
  const { messages } = await readMessages(database, definitions, {
    tenantId,
    webhookId,
    after,
    wanted: everything,
  });
  const message = messages.find((one) => one.position === position);
  if (!message) throw new ApiError('not_found');
  return sendByHand(sending, message);
}

async function sendByHand(
  { config, database, tenantId, webhookId }: ManualSending,
  message: Message,
): Promise<Result> {
  const target = await database.inTenants([tenantId], (client) => readTarget(client, tenantId, webhookId));
  const result = await send(config, {
    url: target.url,
    realUrls: target.realUrls,
    headers: headersOf(message, target),
    body: message.body,
  });
  await database.queryInTenants([tenantId], {
    text: `INSERT INTO webhook_delivery (tenant_id, webhook_id, ${deliveryColumns})
      SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9 FROM webhook WHERE tenant_id = $1 AND id = $2`,
    values: [tenantId, webhookId, ...deliveryValues(message, result)],
  });
  return result;
}
