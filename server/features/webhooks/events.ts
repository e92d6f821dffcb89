// The messages that endpoints receive: built from the journal, signed as the Standard Webhooks specification says.
import { randomUUIDv7 } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import type { Database } from '../../database/database.ts';
import type { Definition } from '../../engine/definition/definition.ts';
import { buildObjectQuery, type CurrentObject } from '../../engine/read/current-objects.ts';
import { jsonBytes, selectWithinPage } from '../../engine/read/page-size.ts';
import { timestamp } from '../../engine/read/representation.ts';
import { mergedInto } from '../../engine/write/journal.ts';
import { version } from '../../version.ts';
import type { Wanted } from './endpoints.ts';

export interface Message {
  /** Stays the same when the message is sent again. */
  id: string;
  type: string;
  /** Undefined for a test. */
  position: string | undefined;
  /** When the change happened. */
  at: string;
  body: string;
}

export interface Signer {
  secret: string;
  previousSecret: string | null;
}

/** A filter that matches little reads no more of the journal than this in one statement. */
export const scannedEntries = 10_000;
const entriesPerRead = 20;

const entryJson = `'{' || concat_ws(',',
  '"resource":' || to_json(entry.resource),
  '"id":' || to_json(entry.resource_id),
  '"externalId":' || to_json(entry.external_id),
  '"version":' || entry.version,
  '"action":' || to_json(entry.action),
  '"cursor":"' || entry.position || '"',
  '"origin":' || to_json(entry.origin),
  ${mergedInto},
  '"changes":' || entry.changes::text) || '}'`;

const order = 'entry.position';

/** $1 tenant, $2 position after which to read, then types, actions and an origin, or NULL. The head comes from the same snapshot as the entries. */
const entriesQuery = `
  SELECT least(head.last_position, $2 + ${scannedEntries}) AS scanned_up_to,
    head.last_position > $2 + ${scannedEntries} AS has_more, page.*
  FROM journal_head AS head LEFT JOIN (
    SELECT entry.position, entry.resource, entry.resource_id, entry.action, ${timestamp('entry.at')} AS at,
      ${selectWithinPage(entryJson, { sizes: [jsonBytes('entry.changes')], order })} AS json
    FROM (
      SELECT * FROM journal AS entry WHERE entry.tenant_id = $1
        AND entry.position > $2 AND entry.position <= $2 + ${scannedEntries}
        AND ($3::text[] IS NULL OR entry.resource = ANY ($3))
        AND ($4::text[] IS NULL OR entry.action = ANY ($4))
        AND ($5::text IS NULL OR entry.origin IS DISTINCT FROM $5)
      ORDER BY ${order} LIMIT ${entriesPerRead}
    ) AS entry
  ) AS page ON true
  WHERE head.tenant_id = $1 ORDER BY page.position`;

interface EntryRow {
  scanned_up_to: string;
  has_more: boolean;
  position: string | null;
  resource: string;
  resource_id: string;
  action: string;
  /** With quotes. */
  at: string;
  json: string | null;
}

export interface Batch {
  messages: Message[];
  /** Nothing up to here is wanted but the messages; meaningless while there are any. */
  scannedUpTo: string;
  hasMore: boolean;
}

export interface Reading {
  tenantId: string;
  webhookId: string;
  after: string;
  wanted: Wanted;
}

/** The next messages of an endpoint, with the objects as they are now. */
export async function readMessages(
  database: Database,
  definitions: readonly Definition[],
  { tenantId, webhookId, after, wanted: { resources, actions, excludeOrigin } }: Reading,
): Promise<Batch> {
  const { rows } = await database.queryInTenants<EntryRow>([tenantId], {
    name: 'webhook entries',
    text: entriesQuery,
    values: [tenantId, after, resources, actions, excludeOrigin],
  });
  // The first entry always has its JSON, so those beyond the bound of a page come with the next read.
  const entries = rows.filter((row) => row.position !== null && row.json !== null);
  const query = buildObjectQuery(definitions, tenantId, entries);
  const objects = query ? (await database.queryInTenants<CurrentObject>([tenantId], query)).rows : [];
  const jsonOf = new Map(objects.map((object) => [`${object.resource} ${object.resource_id}`, object.json]));
  const messages: Message[] = [];
  for (const entry of entries) {
    const object = jsonOf.get(`${entry.resource} ${entry.resource_id}`);
    if (object === null) break;
    messages.push(toMessage(entry, webhookId, object));
  }
  return { messages, scannedUpTo: rows[0]?.scanned_up_to ?? after, hasMore: rows[0]?.has_more ?? false };
}

/** Standard Webhooks allows letters, digits and underscores in the parts of a type. */
export function eventType(resource: string, action: string): string {
  return `${resource.replaceAll('-', '_')}.${action.toLowerCase()}`;
}

function toMessage(entry: EntryRow, webhookId: string, object: string | undefined): Message {
  const { resource, action, at, position, json } = entry;
  const type = eventType(resource, action);
  const data = object === undefined ? json! : `${json!.slice(0, -1)},"object":${object}}`;
  return {
    id: `${webhookId}_${position}`,
    type,
    position: position!,
    at: JSON.parse(at),
    body: `{"type":"${type}","timestamp":${at},"data":${data}}`,
  };
}

export const testType = 'stamm.test';

export function testMessage(): Message {
  const type = testType;
  const at = new Date().toISOString();
  return {
    id: `test_${randomUUIDv7()}`,
    type,
    position: undefined,
    at,
    body: JSON.stringify({ type, timestamp: at, data: {} }),
  };
}

/** While a secret is being replaced, receivers may check either signature. */
export function headersOf({ id, body }: Message, { secret, previousSecret }: Signer): Record<string, string> {
  const now = new Date();
  const secrets = previousSecret === null ? [secret] : [secret, previousSecret];
  return {
    'content-type': 'application/json',
    'user-agent': `Stamm/${version}`,
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(now.getTime() / 1000)),
    'webhook-signature': secrets.map((one) => new Webhook(one).sign(id, now, body)).join(' '),
  };
}
