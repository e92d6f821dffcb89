// Webhooks in the OpenAPI document: one message for all changes, which differ only in the object, and the test.
import type { Definition } from '../../engine/definition/definition.ts';
import type { JsonSchema } from '../../engine/definition/fields.ts';
import { changeActions as actions } from './endpoints.ts';
import { eventType, testType } from './events.ts';

export function webhookSchemas(resources: readonly Definition[]): readonly JsonSchema[] {
  return [
    {
      $id: 'WebhookMessage',
      title: 'Webhook message',
      type: 'object',
      description: 'One change, as an endpoint receives it.',
      properties: {
        type: {
          type: 'string',
          enum: resources.flatMap(({ name }) => actions.map((action) => eventType(name, action))),
          description: 'Type and action.',
        },
        timestamp: { type: 'string', format: 'date-time', description: 'When it happened.' },
        data: {
          type: 'object',
          properties: {
            resource: {
              type: 'string',
              enum: resources.map(({ name }) => name),
              description: 'Type of the object.',
            },
            id: { type: 'string', format: 'uuid', description: 'The object.' },
            externalId: { type: 'string', description: 'Your own id of it, if it has one.' },
            version: {
              type: 'integer',
              description: 'Version that it had afterwards; for a deletion, its last one.',
            },
            action: { type: 'string', enum: actions },
            cursor: { type: 'string', description: 'The same change in `/changes`.' },
            origin: { type: 'string', description: 'What the writer sent as `Stamm-Origin`.' },
            mergedInto: {
              type: 'string',
              format: 'uuid',
              description: 'For a deletion by a merge: the object that answers for this one now.',
            },
            changes: {
              type: 'object',
              description: 'For a change: each field that changed, with `from` and `to`.',
              additionalProperties: { type: 'object', properties: { from: {}, to: {} } },
            },
            object: {
              type: 'object',
              additionalProperties: true,
              description: 'The object as it is when the message is sent; absent once it is deleted.',
            },
          },
          required: ['resource', 'id', 'version', 'action', 'cursor'],
        },
      },
      required: ['type', 'timestamp', 'data'],
    },
    {
      $id: 'WebhookTest',
      title: 'Webhook test',
      type: 'object',
      description: 'A test, which somebody in the office or at the command line sends.',
      properties: {
        type: { type: 'string', enum: [testType] },
        timestamp: { type: 'string', format: 'date-time', description: 'When it was sent.' },
        data: { type: 'object', properties: {}, additionalProperties: false, description: 'Empty.' },
      },
      required: ['type', 'timestamp', 'data'],
    },
  ];
}

const header = (name: string, description: string) => ({
  name,
  in: 'header' as const,
  required: true,
  schema: { type: 'string' as const },
  description,
});

function deliveryOf(schema: string) {
  return {
    tags: ['Changes'],
    security: [],
    parameters: [
      header('webhook-id', 'Names the message; the same when it is sent again.'),
      header('webhook-timestamp', 'When it was sent, in seconds since 1970.'),
      header(
        'webhook-signature',
        'One signature, or two for 24 hours after the secret was replaced, separated by a space.',
      ),
    ],
    requestBody: {
      required: true,
      content: { 'application/json': { schema: { $ref: `#/components/schemas/${schema}` } } },
    },
    responses: { 200: { description: 'Received, as any other 2xx. The body is ignored.' } },
  };
}

export const webhookDocs = {
  change: {
    post: {
      operationId: 'receiveChange',
      summary: 'Receive a change',
      description: `Sent to each endpoint that Verwaltung has added under Settings › API & interfaces, by the [Standard Webhooks](https://www.standardwebhooks.com) specification. Verify the signature with the endpoint's secret before you read the message.

Messages arrive one by one, in the order of \`/changes\`, and each at least once: a repeated one has the same \`webhook-id\`. Answer with any 2xx status within 15 seconds. Everything else, redirects included, is tried again for three days with growing pauses; \`Retry-After\` is obeyed. After that, or after a 410, the endpoint is paused. Nothing is lost while it is paused.`,
      ...deliveryOf('WebhookMessage'),
    },
  },
  test: {
    post: {
      operationId: 'receiveTest',
      summary: 'Receive a test',
      description: 'Signed as a change is, sent once, and never repeated.',
      ...deliveryOf('WebhookTest'),
    },
  },
};
