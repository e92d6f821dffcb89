// Parameters and headers that several routes declare.
import { maxOriginLength } from '../../http/conventions.ts';
import type { Definition } from '../definition/definition.ts';
import { externalIdSchema, type JsonSchema } from '../definition/fields.ts';
import { maxKeyLength } from '../write/idempotency.ts';

export const etagHeader = {
  ETag: {
    type: 'string',
    description: 'The version, for `If-Match`. With `include`, it also changes with what is included.',
  },
};
/** Printable ASCII that is not blank. */
export const originSchema = {
  type: 'string',
  maxLength: maxOriginLength,
  pattern: '^[ -~]*[!-~][ -~]*$',
};

export const originHeader = {
  'Stamm-Origin': {
    ...originSchema,
    description:
      'Name of the system that writes, in printable ASCII. The journal keeps it; readers of `/changes` can leave it out.',
    examples: ['erp'],
  },
};

export const ifMatch = {
  type: 'object',
  properties: {
    ...originHeader,
    'If-Match': { type: 'string', description: 'Change only this version: an ETag that was read.' },
  },
};

export const idParameter = {
  type: 'object',
  properties: { id: { type: 'string', format: 'uuid', description: 'Identifier.' } },
  required: ['id'],
};

export function externalIdParameter({ example }: Definition) {
  const { externalId } = example as { externalId?: string };
  return {
    type: 'object',
    properties: {
      externalId: { ...externalIdSchema, description: 'The id in your own system.', examples: [externalId] },
    },
    required: ['externalId'],
  };
}

export function pageParameters(maximum: number, fallback: number) {
  return {
    limit: { type: 'integer', minimum: 1, maximum, default: fallback, description: 'Page size.' },
    cursor: { type: 'string', description: '`nextCursor` from the previous page.' },
  };
}

export const dryRun = {
  type: 'object',
  properties: {
    dryRun: {
      type: 'boolean',
      default: false,
      description: 'Check everything, answer alike, and store nothing.',
    },
  },
};

export const keyOfWrite = idempotencyKey(
  'Makes a retry safe: for 24 hours, the same key and body write nothing again. A creation gets the first answer, a change the object as it is now.',
);
export const replayedHeader = {
  'Idempotency-Replayed': {
    type: 'string',
    description: '`true` if an earlier request with this key has written the object.',
  },
};

export function idempotencyKey(description: string) {
  return { 'Idempotency-Key': { type: 'string', maxLength: maxKeyLength, pattern: '\\S', description } };
}

/** Several values in one parameter, separated by commas. */
export function severalOf(items: JsonSchema, maxItems?: number): JsonSchema {
  const most = maxItems === undefined ? {} : { maxItems };
  return { type: 'array', items, minItems: 1, ...most, style: 'form', explode: false };
}

/** Parameters of writes that create an unknown external id. */
export const revive = {
  type: 'boolean',
  default: true,
  description: '`false` answers 409 `deleted`, with the `id` to restore, if the external id is in the bin.',
};

/** "a site", "an employee" */
export function withArticle({ title }: Definition): string {
  return `${/^[aeiou]/i.test(title) ? 'an' : 'a'} ${title.toLowerCase()}`;
}
