// Webhooks at the command line: what Settings › API & interfaces offers, for the operator.
import type pg from 'pg';
import { type AuditEvent, recordCommand } from '../access/audit-log.ts';
import type { Config } from '../config.ts';
import { openDatabase } from '../database/database.ts';
import { beginFor } from '../database/transactions.ts';
import { isUuid } from '../engine/definition/formats.ts';
import { isTimestamp } from '../engine/read/list-query.ts';
import { ApiError, UsageError } from '../errors.ts';
import { resendDelivery, sendTest } from '../features/webhooks/deliveries.ts';
import {
  changeActions,
  createEndpoint,
  deleteEndpoint,
  type Endpoint,
  listEndpoints,
  maxEndpoints,
  pauseEndpoint,
  readTarget,
  replaceSecret,
  resendSince,
  resumeEndpoint,
  urlError,
} from '../features/webhooks/endpoints.ts';
import type { Result } from '../features/webhooks/outgoing-request.ts';
import { originError } from '../http/conventions.ts';
import { text } from '../messages.ts';
import { resources } from '../resources/index.ts';
import { asOperator, type Command, type Outcome, tenantIdFrom } from './command.ts';

const tenantOption = { tenant: 'Id of the tenant, as "tenant list" shows it.' };
const endpointOptions = { ...tenantOption, id: 'Id of the webhook, as "webhook list" shows it.' };
const secretAdvice = 'Store the secret safely now: it cannot be shown again.';

const webhookCreate: Command = {
  name: 'webhook create',
  summary: `Send a tenant's changes to an address, ${maxEndpoints} at most. Shows the secret once.`,
  options: { ...tenantOption, url: 'Address that receives a POST for each change.' },
  optionalOptions: {
    resources: 'Types to send, such as "site,customer"; all without it.',
    actions: 'Changes to send: "CREATED,CHANGED,DELETED" or some of them; all without it.',
    'exclude-origin': 'Leaves out what was written with this Stamm-Origin.',
  },
  async run({ config, options }) {
    const tenantId = tenantIdFrom(options);
    const url = options.url!.trim();
    const fieldError = urlError(config, url);
    if (fieldError) throw new UsageError(`--url: ${text(fieldError.code, 'en', fieldError.params)}`);
    const origin = options['exclude-origin'];
    const fault = origin === undefined ? undefined : originError(origin);
    if (fault) throw new UsageError(`--exclude-origin: ${text(fault.code, 'en', fault.params)}`);
    const wanted = {
      resources: choicesFrom(
        options.resources,
        'type',
        resources.map(({ name }) => name),
      ),
      actions: choicesFrom(options.actions, 'action', changeActions),
      excludeOrigin: origin ?? null,
    };
    const made = await inTenant(config, tenantId, async (client) => {
      const endpoint = await createEndpoint(client, tenantId, { url, ...wanted });
      await record(client, tenantId, 'WEBHOOK_CREATED', endpoint.id);
      return endpoint;
    });
    return { text: `Webhook ${made.id}\nSecret: ${made.secret}\n${secretAdvice}`, json: made };
  },
};

const webhookList: Command = {
  name: 'webhook list',
  summary: "Show a tenant's webhooks and how far they are.",
  options: tenantOption,
  async run({ config, options }) {
    const tenantId = tenantIdFrom(options);
    const webhooks = await inTenant(config, tenantId, (client) => listEndpoints(client, tenantId));
    const lines = webhooks.map(describe).join('\n');
    return { text: lines || 'This tenant has no webhooks.', json: { webhooks } };
  },
};

const webhookTest: Command = {
  name: 'webhook test',
  summary: 'Send a test message now and show what the receiver answers.',
  options: endpointOptions,
  run: ({ config, options }) =>
    withSending(config, options, async (sending) => describeResult(await sendTest(sending))),
};

const webhookResend: Command = {
  name: 'webhook resend',
  summary: 'Send one delivery again, or everything since a moment.',
  options: endpointOptions,
  optionalOptions: {
    delivery: 'Id of the delivery.',
    since: 'A moment such as 2026-11-17T08:00:00Z; the service sends all deliveries since then again.',
  },
  async run({ config, options }) {
    const { delivery, since } = options;
    if ((delivery === undefined) === (since === undefined))
      throw new UsageError('Name either --delivery or --since.');
    if (delivery !== undefined) {
      if (!isUuid(delivery)) throw new UsageError(`"${delivery}" is not the id of a delivery.`);
      return withSending(config, options, async (sending) =>
        describeResult(await resendDelivery(sending, resources, delivery)),
      );
    }
    if (!isTimestamp(since!))
      throw new UsageError(`"${since}" is not a moment such as 2026-11-17T08:00:00Z.`);
    const resent = await changeNamed(config, options, { resentSince: since }, (client, tenantId, id) =>
      resendSince(client, tenantId, id, new Date(since!)),
    );
    return {
      text: resent.from
        ? `The service sends everything since ${resent.from.toISOString()} again: ${resent.entries} entries of the journal.`
        : 'Nothing was delivered since then.',
      json: resent,
    };
  },
};

const webhookPause: Command = {
  name: 'webhook pause',
  summary: 'Stop sending. What happens meanwhile is sent after "webhook resume".',
  options: endpointOptions,
  async run({ config, options }) {
    await changeNamed(config, options, { paused: true }, pauseEndpoint);
    return { text: 'The webhook is paused.', json: { paused: true } };
  },
};

const webhookResume: Command = {
  name: 'webhook resume',
  summary: 'Send again, from where it stopped.',
  options: endpointOptions,
  async run({ config, options }) {
    await changeNamed(config, options, { paused: false }, resumeEndpoint);
    return { text: 'The webhook goes on.', json: { paused: false } };
  },
};

const webhookSecret: Command = {
  name: 'webhook secret',
  summary: 'Replace the secret and show the new one once. Both sign for 24 hours.',
  options: endpointOptions,
  async run({ config, options }) {
    const secret = await changeNamed(config, options, { secret: 'replaced' }, replaceSecret);
    return { text: `Secret: ${secret}\n${secretAdvice}`, json: { secret } };
  },
};

const webhookDelete: Command = {
  name: 'webhook delete',
  summary: 'Delete a webhook and its log.',
  options: endpointOptions,
  async run({ config, options }) {
    const [tenantId, id] = [tenantIdFrom(options), webhookIdFrom(options)];
    await inTenant(config, tenantId, async (client) => {
      await record(client, tenantId, 'WEBHOOK_DELETED', id);
      await deleteEndpoint(client, tenantId, id);
    });
    return { text: 'The webhook is deleted.', json: { deleted: true } };
  },
};

export const commands: readonly Command[] = [
  webhookCreate,
  webhookList,
  webhookTest,
  webhookPause,
  webhookResume,
  webhookResend,
  webhookSecret,
  webhookDelete,
];

type Change<Value> = (client: pg.ClientBase, tenantId: string, id: string) => Promise<Value>;

async function changeNamed<Value>(
  config: Config,
  options: Record<string, string>,
  details: Record<string, unknown>,
  change: Change<Value>,
): Promise<Value> {
  const [tenantId, id] = [tenantIdFrom(options), webhookIdFrom(options)];
  return inTenant(config, tenantId, async (client) => {
    const value = await change(client, tenantId, id);
    await record(client, tenantId, 'WEBHOOK_CHANGED', id, details);
    return value;
  });
}

async function record(
  client: pg.ClientBase,
  tenantId: string,
  event: AuditEvent,
  id: string,
  details?: Record<string, unknown>,
): Promise<void> {
  const { url } = await readTarget(client, tenantId, id);
  const subject = { id, name: new URL(url).host };
  await recordCommand(client, tenantId, { event, subject, ...(details && { details }) });
}

async function inTenant<Value>(
  config: Config,
  tenantId: string,
  work: (client: pg.ClientBase) => Promise<Value>,
): Promise<Value> {
  return asOperator(config, async (client) => {
    await client.query(beginFor([tenantId]));
    const value = await work(client).catch(explain);
    await client.query('COMMIT');
    return value;
  });
}

/** Sends from here: the operator sees the answer even while no service runs. */
async function withSending(
  config: Config,
  options: Record<string, string>,
  work: (sending: Parameters<typeof sendTest>[0]) => Promise<Outcome>,
): Promise<Outcome> {
  const [tenantId, webhookId] = [tenantIdFrom(options), webhookIdFrom(options)];
  return asOperator(config, async (_client, connection) => {
    const database = openDatabase(connection, { maxConnections: 2 });
    try {
      return await work({ config, database, tenantId, webhookId }).catch(explain);
    } finally {
      await database.close();
    }
  });
}

function describeResult({ status, error, durationMs, answer }: Result): Outcome {
  const isFine = status !== undefined && status >= 200 && status < 300;
  const first = status === undefined ? `No answer: ${error}` : `Status ${status}`;
  return {
    text: [`${first}, ${durationMs} ms`, ...(answer === '' ? [] : [answer])].join('\n'),
    json: { status, error, durationMs, answer },
    exitCode: isFine ? 0 : 1,
  };
}

function describe({
  id,
  url,
  resources: wanted,
  actions,
  excludeOrigin,
  pausedBecause,
  failingSince,
  waitingEntries,
}: Endpoint): string {
  const state = pausedBecause
    ? 'paused'
    : failingSince
      ? `failing since ${failingSince.toISOString()}`
      : 'active';
  const types = wanted?.join(',') ?? 'all';
  const chosen = [actions?.join(','), excludeOrigin && `without ${excludeOrigin}`].filter(Boolean);
  return [id, url, types, ...chosen, state, `${waitingEntries} waiting`].join('  ');
}

function webhookIdFrom({ id }: Record<string, string>): string {
  if (!isUuid(id!))
    throw new UsageError(`"${id}" is not the id of a webhook. "webhook list" shows all of them.`);
  return id!.toLowerCase();
}

function choicesFrom(option: string | undefined, kind: string, known: readonly string[]): string[] | null {
  if (option === undefined) return null;
  const wanted = option.split(',').map((name) => name.trim());
  const unknown = wanted.find((name) => !known.includes(name));
  if (unknown !== undefined)
    throw new UsageError(`"${unknown}" is no ${kind}. There are: ${known.join(', ')}.`);
  return [...new Set(wanted)];
}

function explain(error: unknown): never {
  if (error instanceof ApiError && error.code === 'not_found')
    throw new UsageError('There is no such tenant or webhook. "tenant list" and "webhook list" show them.');
  if (error instanceof ApiError && error.fieldErrors[0])
    throw new UsageError(`--url: ${text(error.fieldErrors[0].code, 'en')}`);
  if (error instanceof ApiError) throw new UsageError(text(error.code, 'en'));
  throw error;
}
