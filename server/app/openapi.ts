// The OpenAPI document: its head, and every named schema. Paths come from the routes.
import swagger from '@fastify/swagger';
import type { FastifyInstance } from 'fastify';
import type { JsonSchema } from '../engine/definition/fields.ts';
import { groupSchemas, knownItemSchemas, resourceSchemas } from '../engine/openapi/resource-schemas.ts';
import { sharedSchemas } from '../engine/openapi/schemas.ts';
import { attentionSchemas } from '../features/attention/attention-routes.ts';
import { binSchemas } from '../features/bin/bin-docs.ts';
import { journalSchemas } from '../features/changes/changes-routes.ts';
import { importSchemas } from '../features/import/import-docs.ts';
import { mergeSchemas } from '../features/merging/merge-docs.ts';
import { personalDataSchemas } from '../features/personal-data/personal-data-docs.ts';
import { openapiInfo } from '../features/reference/openapi-document.ts';
import { searchSchemas } from '../features/search/search-routes.ts';
import { visitSchemas } from '../features/visits/visit-docs.ts';
import { endpointSchemas } from '../features/webhooks/endpoint-docs.ts';
import { webhookDocs, webhookSchemas } from '../features/webhooks/openapi-webhooks.ts';
import { resources } from '../resources/index.ts';

export async function addOpenapi(app: FastifyInstance): Promise<void> {
  await app.register(swagger, {
    ...openapiInfo,
    openapi: { ...openapiInfo.openapi, webhooks: webhookDocs },
  });
  for (const schema of listSchemas()) app.addSchema(schema);
}

function listSchemas(): JsonSchema[] {
  return [
    ...sharedSchemas,
    ...knownItemSchemas(resources),
    ...groupSchemas(resources),
    ...resources.flatMap(resourceSchemas),
    ...journalSchemas,
    ...binSchemas(resources),
    ...mergeSchemas,
    ...attentionSchemas,
    ...searchSchemas(resources),
    ...visitSchemas,
    ...personalDataSchemas(resources),
    ...importSchemas(resources),
    ...endpointSchemas(resources),
    ...webhookSchemas(resources),
  ];
}
