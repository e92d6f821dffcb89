// Parameters and headers that several routes declare.
import { maxOriginLength } from '../../http/conventions.ts';
import type { Definition } from '../definition/definition.ts';

export const etagHeader = { ETag: { type: 'string', description: 'The version, for `If-Match`.' } };
export const originHeader = {
  'Stamm-Origin': {
    type: 'string',
    maxLength: maxOriginLength,
    pattern: '^[ -~]+$',
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
      externalId: { type: 'string', description: 'The id in your own system.', examples: [externalId] },
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

/** For writes that create an unknown external id. */
export const revive = {
  type: 'boolean',
  default: true,
  description: '`false` answers 409 `deleted`, with the `id` to restore, if the external id is in the bin.',
};

/** "a site", "an employee" */
export function withArticle({ title }: Definition): string {
  return `${/^[aeiou]/i.test(title) ? 'an' : 'a'} ${title.toLowerCase()}`;
}
