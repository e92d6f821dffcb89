// Declarations of the API routes that manage endpoints.
import type { Definition } from '../../engine/definition/definition.ts';
import type { JsonSchema } from '../../engine/definition/fields.ts';
import {
  answer,
  commonHeaders,
  errorResponses,
  ignoredFieldsHeader,
  orDryRun,
  reference,
  requestBody,
} from '../../engine/openapi/answers.ts';
import { exampleId } from '../../engine/openapi/examples.ts';
import { dryRun, idParameter, keyOfWrite, replayedHeader } from '../../engine/openapi/parameters.ts';
import { maxOriginLength } from '../../http/conventions.ts';
import { changeActions, maxEndpoints, maxUrlLength } from './endpoints.ts';

const example = { url: 'https://erp.example/stamm', resources: ['site'], excludeOrigin: 'erp' };
const moment = (description: string) => ({ type: ['string', 'null'], format: 'date-time', description });

function wantedProperties(resources: readonly Definition[]) {
  const names = resources.map(({ name }) => name);
  return {
    url: {
      type: 'string',
      maxLength: maxUrlLength,
      pattern: '^https?://',
      description:
        'Receives a signed POST for each change. Must begin with `https://` unless the operator allows `http://`.',
    },
    resources: {
      type: ['array', 'null'],
      items: { type: 'string', enum: names },
      description: 'Only changes of these types; null for all.',
    },
    actions: {
      type: ['array', 'null'],
      items: { type: 'string', enum: changeActions },
      description: 'Only these changes; null for all.',
    },
    excludeOrigin: {
      type: ['string', 'null'],
      maxLength: maxOriginLength,
      pattern: '^[ -~]*$',
      description: 'Leaves out what was written with this `Stamm-Origin`: your own writes.',
    },
  };
}

export function endpointSchemas(resources: readonly Definition[]): readonly JsonSchema[] {
  const wanted = wantedProperties(resources);
  const id = { type: 'string', format: 'uuid', description: 'Identifier of the webhook.' };
  return [
    {
      $id: 'NewWebhook',
      title: 'New webhook',
      type: 'object',
      properties: wanted,
      required: ['url'],
      examples: [example],
    },
    { $id: 'WebhookPatch', title: 'Changes of a webhook', type: 'object', properties: wanted },
    {
      $id: 'Webhook',
      title: 'Webhook',
      type: 'object',
      properties: {
        id,
        ...wanted,
        createdAt: { type: 'string', format: 'date-time' },
        pausedAt: moment('When it was paused.'),
        pausedBecause: { type: ['string', 'null'], enum: ['ASKED', 'GONE', 'FAILED', null] },
        failingSince: moment('Since when deliveries have failed.'),
        nextAttemptAt: moment('When the next attempt follows, while deliveries fail.'),
        waitingEntries: { type: 'integer', description: 'Changes that it has not passed yet.' },
        previousSecretEndsAt: moment('Until when the replaced secret signs, too.'),
        lastDelivery: {
          type: ['object', 'null'],
          properties: {
            at: { type: 'string', format: 'date-time' },
            status: { type: ['integer', 'null'] },
            error: { type: ['string', 'null'] },
          },
          required: ['at', 'status', 'error'],
        },
      },
      required: ['id', 'url', 'resources', 'actions', 'excludeOrigin', 'createdAt', 'waitingEntries'],
    },
    {
      $id: 'WebhookSecret',
      title: 'Webhook secret',
      type: 'object',
      properties: {
        id,
        secret: { type: 'string', description: 'Verifies messages. Shown once: store it safely.' },
      },
      required: ['id', 'secret'],
    },
    {
      $id: 'WebhookTestResult',
      title: 'Result of a test',
      type: 'object',
      properties: {
        status: { type: 'integer', description: 'The receiver’s answer; absent if none came.' },
        error: { type: 'string', description: 'Why no answer came, such as `timeout`.' },
        durationMs: { type: 'integer' },
        answer: { type: 'string', description: 'The first kilobyte of the answer.' },
      },
      required: ['durationMs'],
    },
  ];
}

const tags = ['Webhooks'];

export const endpointDocs = {
  list: {
    operationId: 'listWebhooks',
    summary: 'List webhooks',
    description: 'All addresses that receive changes, those added in the office included.',
    tags,
    response: {
      200: answer('All webhooks.', {
        type: 'object',
        properties: { data: { type: 'array', items: { $ref: 'Webhook#' } } },
        required: ['data'],
      }),
      ...errorResponses(400, 401, 403, 429, 500),
    },
  },
  get: {
    operationId: 'getWebhook',
    summary: 'Read a webhook',
    description: 'How far it is, and whether deliveries fail.',
    tags,
    params: idParameter,
    response: {
      200: answer('The webhook.', { $ref: 'Webhook#' }),
      ...errorResponses(400, 401, 403, 404, 429, 500),
    },
  },
  create: {
    operationId: 'createWebhook',
    summary: 'Create a webhook',
    description: `Sends every later change to your address, at most ${maxEndpoints} addresses per business. A private address needs the operator's setting \`WEBHOOK_ALLOW_PRIVATE\`.`,
    tags,
    querystring: dryRun,
    headers: { type: 'object', properties: keyOfWrite },
    body: requestBody(reference('NewWebhook'), { webhook: example }),
    response: {
      200: answer('Dry run: it would be created.', { $ref: 'DryRun#' }, ignoredFieldsHeader),
      201: answer(
        'Created.',
        { $ref: 'WebhookSecret#' },
        { ...ignoredFieldsHeader, ...replayedHeader },
        {
          created: { id: exampleId, secret: 'whsec_…' },
        },
      ),
      ...errorResponses(400, 401, 403, 409, 413, 415, 422, 429, 500),
    },
  },
  change: {
    operationId: 'patchWebhook',
    summary: 'Change a webhook',
    description: 'Fields that are not sent stay. The secret stays, too.',
    tags,
    params: idParameter,
    querystring: dryRun,
    body: requestBody(reference('WebhookPatch'), { change: { actions: ['CREATED', 'DELETED'] } }, [
      'application/merge-patch+json',
      'application/json',
    ]),
    response: {
      200: answer('As it is now; in a dry run, as it would be.', orDryRun('Webhook'), ignoredFieldsHeader),
      ...errorResponses(400, 401, 403, 404, 413, 415, 429, 500),
    },
  },
  delete: {
    operationId: 'deleteWebhook',
    summary: 'Delete a webhook',
    description: 'Deletes its delivery log, too.',
    tags,
    params: idParameter,
    querystring: dryRun,
    response: {
      200: answer('Dry run: it would be deleted.', { $ref: 'DryRun#' }),
      204: { description: 'Deleted.', headers: commonHeaders, type: 'null' },
      ...errorResponses(400, 401, 403, 404, 429, 500),
    },
  },
  test: {
    operationId: 'testWebhook',
    summary: 'Send a test',
    description:
      'Sends a message of type `stamm.test` now, and answers what the receiver answered. It stores nothing, so it has no dry run.',
    tags,
    params: idParameter,
    response: {
      200: answer('Sent.', { $ref: 'WebhookTestResult#' }),
      ...errorResponses(400, 401, 403, 404, 413, 415, 429, 500),
    },
  },
};
