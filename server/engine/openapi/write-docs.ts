// Declarations of the routes that write a resource.
import type { Definition } from '../definition/definition.ts';
import {
  answer,
  commonHeaders,
  errorResponses,
  ignoredFieldsHeader,
  orDryRun,
  reference,
  requestBody,
} from './answers.ts';
import { exampleId, patchExamples } from './examples.ts';
import {
  dryRun,
  etagHeader,
  externalIdParameter,
  idParameter,
  ifMatch,
  keyOfWrite,
  originHeader,
  replayedHeader,
  revive,
  withArticle,
} from './parameters.ts';
import { schemaName } from './resource-schemas.ts';

const changeHeaders = {
  ...etagHeader,
  'Stamm-Changed': { type: 'string', enum: ['true', 'false'], description: 'Whether anything changed.' },
  ...ignoredFieldsHeader,
  ...replayedHeader,
};
const changePreconditions = { type: 'object', properties: { ...ifMatch.properties, ...keyOfWrite } };
const preconditions = {
  type: 'object',
  properties: {
    ...changePreconditions.properties,
    'If-None-Match': { type: 'string', description: '`*` creates only, and never replaces.' },
  },
};

const mergePatchTypes = ['application/merge-patch+json', 'application/json'];
const dryRunExample = { dryRun: { dryRun: true, attention: [], ignoredFields: ['adress'] } };

export function writeDocs(definition: Definition) {
  return {
    create: creation(definition),
    upsert: upsert(definition),
    patch: patch(definition),
    merge: merge(definition),
    ...deletions(definition),
  };
}

function creation(definition: Definition) {
  const name = schemaName(definition);
  return {
    operationId: `create${name}`,
    summary: `Create ${withArticle(definition)}`,
    description: definition.description,
    tags: [definition.title],
    body: requestBody(reference(`New${name}`), { [definition.name]: definition.example }),
    querystring: dryRun,
    headers: {
      type: 'object',
      properties: {
        ...keyOfWrite,
        ...originHeader,
      },
    },
    response: {
      201: answer(
        'Created, and durable when this is answered.',
        { $ref: 'IdResponse#' },
        { ...ignoredFieldsHeader, ...replayedHeader },
        { created: { id: exampleId } },
      ),
      200: answer('Dry run: it would be created.', { $ref: 'DryRun#' }, ignoredFieldsHeader, dryRunExample),
      ...errorResponses(400, 401, 403, 409, 413, 415, 422, 429, 500),
    },
  };
}

function upsert(definition: Definition) {
  const name = schemaName(definition);
  return {
    operationId: `put${name}ByExternalId`,
    summary: `Create or replace ${withArticle(definition)} by your own id`,
    description: 'Fields that are not sent are cleared.',
    tags: [definition.title],
    body: requestBody(reference(`New${name}`), { [definition.name]: withoutExternalId(definition) }),
    querystring: { ...dryRun, properties: { ...dryRun.properties, revive } },
    params: externalIdParameter(definition),
    headers: preconditions,
    response: {
      200: answer(
        'Replaced, or unchanged. A dry run that would create answers only what would be attended to.',
        { anyOf: [...(orDryRun('UpsertResponse').anyOf as object[]), { $ref: 'DryRun#' }] },
        changeHeaders,
        { replaced: { id: exampleId, version: 2, changed: true }, ...dryRunExample },
      ),
      201: answer('Created.', { $ref: 'UpsertResponse#' }, changeHeaders, {
        created: { id: exampleId, version: 1, changed: true },
      }),
      ...errorResponses(400, 401, 403, 404, 409, 412, 413, 415, 422, 429, 500),
    },
  };
}

function patch(definition: Definition) {
  const name = schemaName(definition);
  return {
    operationId: `patch${name}`,
    summary: `Change ${withArticle(definition)}`,
    description: 'JSON Merge Patch (RFC 7396).',
    tags: [definition.title],
    params: idParameter,
    headers: changePreconditions,
    querystring: dryRun,
    body: requestBody(reference(`${name}Patch`), patchExamples(definition), mergePatchTypes),
    response: {
      200: changed(name),
      ...errorResponses(400, 401, 403, 404, 409, 412, 413, 415, 422, 429, 500),
    },
  };
}

function merge(definition: Definition) {
  const name = schemaName(definition);
  return {
    operationId: `merge${name}ByExternalId`,
    summary: `Create or merge ${withArticle(definition)} by your own id`,
    description: 'JSON Merge Patch (RFC 7396). A complete body of an unknown id creates.',
    tags: [definition.title],
    params: externalIdParameter(definition),
    headers: preconditions,
    querystring: {
      ...dryRun,
      properties: {
        ...dryRun.properties,
        create: {
          type: 'boolean',
          default: true,
          description: '`false` answers 404 for an unknown id.',
        },
        revive,
      },
    },
    body: requestBody(
      reference(`${name}Patch`),
      { [definition.name]: withoutExternalId(definition), ...patchExamples(definition) },
      mergePatchTypes,
    ),
    response: {
      200: changed(name),
      201: answer('Created.', { $ref: `${name}#` }, changeHeaders),
      ...errorResponses(400, 401, 403, 404, 409, 412, 413, 415, 422, 429, 500),
    },
  };
}

/** Both ways to name the object have the same answer, so the document holds it once. */
function changed(name: string) {
  return answer(
    'As it is now; in a dry run, as it would be. A dry run that would create returns only what needs attention.',
    { anyOf: [...(orDryRun(name).anyOf as object[]), { $ref: 'DryRun#' }] },
    changeHeaders,
  );
}

/** The body of a route whose path names the object. */
function withoutExternalId({ example: { externalId, ...rest } }: Definition) {
  return rest;
}

function deletions(definition: Definition) {
  const name = schemaName(definition);
  return {
    delete: deletion(definition, {
      operationId: `delete${name}`,
      summary: `Delete ${withArticle(definition)}`,
      params: idParameter,
    }),
    deleteByExternalId: deletion(definition, {
      operationId: `delete${name}ByExternalId`,
      summary: `Delete ${withArticle(definition)} by your own id`,
      params: externalIdParameter(definition),
    }),
  };
}

function deletion({ title }: Definition, own: object) {
  return {
    ...own,
    tags: [title],
    description: 'Rejected while other objects belong to it.',
    headers: ifMatch,
    querystring: {
      ...dryRun,
      properties: {
        ...dryRun.properties,
        cascade: {
          type: 'boolean',
          default: false,
          description:
            'Also delete everything that belongs to it, up to 10,000 objects, together or not at all.',
        },
      },
    },
    response: {
      200: answer(
        'Deleted with everything that belonged to it; in a dry run, what would be deleted.',
        orDryRun('Deletion'),
      ),
      204: { description: 'Deleted.', headers: commonHeaders, type: 'null' },
      ...errorResponses(400, 401, 403, 404, 409, 412, 429, 500),
    },
  };
}
