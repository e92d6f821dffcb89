// The head of the OpenAPI document, whose paths come from the routes' schemas, and the Postman collection from it.
import type { SwaggerOptions } from '@fastify/swagger';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { finishDocument } from '../../engine/openapi/answers.ts';
import { type DocumentParts, shareParts } from '../../engine/openapi/shared-parts.ts';
import { resources } from '../../resources/index.ts';
import { version } from '../../version.ts';
import { buildPostmanCollection, type Document } from './postman-collection.ts';

const description = `Master data of plant-care businesses: other systems create and keep customers and their sites here.

**Authentication.** Send your key in the header \`ApiKey\` with every request. The key is equivalent to a password: keep it on your server, never in code that a browser loads.

**Trying requests on the reference page.** The page keeps your key in the memory of its tab, and sends it to this server only. It stores the key nowhere; reloading the page forgets it.

**Guide.** [/docs](/docs) explains the first call, own ids, retries, errors, changes, webhooks and imports, with examples in five languages.

**Statuses.** Three differ from HTTP. **403** is an unknown path or method, **413** a wrong content type, **415** a large body. The checks run in the order 401, 403, 429, 413, 415, 400.

**Errors.** A 400 lists every invalid field. Codes never change; messages are in English, or in German where \`Accept-Language\` prefers it.

**Unknown fields** are ignored, and named in the header \`Stamm-Ignored-Fields\`.

**Compression.** Bodies may be compressed: send \`Content-Encoding: gzip\`, \`br\`, \`zstd\` or \`deflate\`. The size limit counts decoded bytes. Answers come in \`gzip\`, \`br\` or \`zstd\` where \`Accept-Encoding\` asks for it.

**Caching.** Every answer is \`private, no-cache\`: shared caches must not keep it. Your own cache asks again with its \`ETag\`.`;

/** Stands for the address of the service wherever the document names it. */
const exampleOrigin = 'https://stamm.example';

export const openapiInfo = {
  openapi: {
    openapi: '3.1.0',
    info: {
      title: 'Stamm API',
      version,
      description,
      contact: { name: 'Stamm' },
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: exampleOrigin, description: 'This service' }],
    tags: [
      ...resources.map(({ title, description }) => ({ name: title, description })),
      { name: 'Import', description: 'Many objects in one request.' },
      { name: 'Changes', description: 'Every change, in order.' },
      { name: 'Webhooks', description: 'Addresses that receive every change.' },
      { name: 'Search', description: 'One search over all resources.' },
      { name: 'Bin', description: 'Deleted objects that can be restored.' },
      { name: 'Attention', description: 'Entries that need attention.' },
      { name: 'Visits', description: 'Visits that follow from the master data.' },
    ],
    security: [{ ApiKey: [] }],
    components: {
      securitySchemes: {
        ApiKey: {
          type: 'apiKey',
          in: 'header',
          name: 'ApiKey',
          description: 'Made by the office, one per business. A new key ends the old one immediately.',
        },
      },
    },
  },
  transformObject: (made) =>
    'openapiObject' in made ? finishDocument(made.openapiObject) : made.swaggerObject,
  refResolver: {
    buildLocalReference: (
      json: { $id?: unknown; title?: unknown },
      _base: unknown,
      _fragment: string,
      index: number,
    ) => String(json.$id ?? json.title ?? `schema-${index}`),
  },
} satisfies SwaggerOptions;

export async function openapiRoutes(
  app: FastifyInstance,
  { publicUrl }: { publicUrl: string | undefined },
): Promise<void> {
  let document: string | undefined;
  app.get('/openapi.json', { schema: { hide: true } }, async (request, reply) => {
    document ??= JSON.stringify(openapiDocument(app));
    reply.header('Cache-Control', 'no-cache').type('application/json; charset=utf-8');
    return document.replaceAll(exampleOrigin, () => publicUrl ?? originOf(request));
  });

  let collection: string | undefined;
  app.get('/docs/postman.json', { schema: { hide: true } }, async (request, reply) => {
    collection ??= JSON.stringify(postmanCollection(app));
    reply.header('Cache-Control', 'no-cache').type('application/json; charset=utf-8');
    return collection.replaceAll(exampleOrigin, () => publicUrl ?? originOf(request));
  });
}

export function openapiDocument(app: FastifyInstance): object {
  return shareParts(structuredClone(app.swagger()) as unknown as DocumentParts);
}

function postmanCollection(app: FastifyInstance): object {
  return buildPostmanCollection(app.swagger() as unknown as Document, resources, exampleOrigin);
}

/** Generators and mock servers need an absolute address. A host that could break out of the JSON text is none. */
function originOf({ protocol, host }: FastifyRequest): string {
  return /^[\w.:[\]-]+$/.test(host) ? `${protocol}://${host}` : exampleOrigin;
}
