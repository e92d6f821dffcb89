// A Postman collection (v2.1) from the OpenAPI document. Its requests stand in an order in which all succeed: owners
// first, deletions last. Nothing is left at the end.
import type { Definition } from '../../engine/definition/definition.ts';

type Method = 'get' | 'put' | 'post' | 'patch' | 'delete';

interface Parameter {
  name: string;
  in: 'query' | 'path' | 'header';
  required?: boolean;
  description?: string;
  example?: unknown;
}

interface Operation {
  summary: string;
  description?: string;
  tags: string[];
  parameters?: Parameter[];
  requestBody?: { content: Record<string, { examples?: Record<string, { value: unknown }> }> };
  responses: Record<string, unknown>;
}

export interface Document {
  info: { title: string; version: string };
  paths: Record<string, Partial<Record<Method, Operation>>>;
}

interface Call {
  path: string;
  method: Method;
  operation: Operation;
}

const description = `All calls of the Stamm API, with bodies that succeed.

1. Set the variables \`baseUrl\` and \`apiKey\` of this collection. The key is equivalent to a password: set it as *current value* only, which Postman does not share.
2. Send single requests, or run the whole collection from top to bottom. Use a business for tests: the run creates one object of each type and deletes it again.`;

export function buildPostmanCollection(
  document: Document,
  resources: readonly Definition[],
  baseUrl: string,
): object {
  const folders = arrange(document, resources);
  return {
    info: {
      name: document.info.title,
      version: document.info.version,
      description,
      schema: 'https://schema.getpostman.com/json/collection/v2.1.0/collection.json',
    },
    auth: {
      type: 'apikey',
      apikey: [
        { key: 'key', value: 'ApiKey', type: 'string' },
        { key: 'value', value: '{{apiKey}}', type: 'string' },
        { key: 'in', value: 'header', type: 'string' },
      ],
    },
    variable: [
      { key: 'baseUrl', value: baseUrl },
      { key: 'apiKey', value: '', type: 'secret' },
      ...[...resources, webhook].map(({ name }) => ({ key: idVariable(name), value: '' })),
    ],
    item: folders.map(({ name, calls }) => ({
      name,
      item: calls.map((call) => writeItem(call, resources)),
    })),
  };
}

function arrange(document: Document, resources: readonly Definition[]): { name: string; calls: Call[] }[] {
  const calls = Object.entries(document.paths).flatMap(([path, operations]) =>
    (Object.entries(operations) as [Method, Operation][]).map(([method, operation]) => ({
      path,
      method,
      operation,
    })),
  );
  const ends = {
    byId: calls.filter(({ path, method }) => method === 'delete' && /^\/api\/v1\/[\w-]+\/\{id\}$/.test(path)),
    byExternalId: calls.filter(({ path, method }) => method === 'delete' && path.endsWith('{externalId}')),
    restore: calls.filter(({ path }) => path.endsWith('/restore')),
    imports: calls.filter(({ path }) => path === '/api/v1/import'),
  };
  const erasure = ends.byId.filter(({ path }) => path.startsWith(personalData));
  const deletions = ends.byId.filter((call) => !erasure.includes(call));
  const last = new Set<Call>([...ends.byId, ...ends.byExternalId, ...ends.restore, ...ends.imports]);
  const order: Method[] = ['post', 'get', 'patch', 'put', 'delete'];
  const ofTag = (tag: string) =>
    calls
      .filter((call) => !last.has(call) && call.operation.tags[0] === tag)
      .sort((a, b) => order.indexOf(a.method) - order.indexOf(b.method));
  const resourceTags = resources.map(({ title }) => title);
  const otherTags = [...new Set(calls.flatMap(({ operation }) => operation.tags[0]!))].filter(
    (tag) => !resourceTags.includes(tag),
  );
  const employee = calls.filter(({ path, method }) => path === '/api/v1/employee' && method === 'post');
  return [
    ...resourceTags.map((tag) => ({ name: tag, calls: ofTag(tag).filter(isOwnCall) })),
    ...otherTags.map((tag) => ({ name: tag, calls: ofTag(tag) })),
    { name: 'Personal data', calls: calls.filter((call) => !last.has(call) && !isOwnCall(call)) },
    { name: 'Delete', calls: [...deletions].reverse() },
    { name: 'Restore', calls: ends.restore },
    { name: 'Import', calls: ends.imports },
    { name: 'Delete by external id', calls: [...ends.byExternalId].reverse() },
    { name: 'Erase', calls: [...employee, ...erasure] },
  ].filter(({ calls }) => calls.length > 0);
}

const personalData = '/api/v1/personal-data/';
const webhooks = '/api/v1/webhooks';
/** Created and deleted as resources are. */
const webhook = { name: 'webhook', path: webhooks };

/** The calls of personal data carry the tags of several resources. */
function isOwnCall({ path }: Call): boolean {
  return !path.startsWith(personalData);
}

/** A merge names the object itself, which changes nothing: the run has no duplicates. */
function writeItem(call: Call, resources: readonly Definition[]): object {
  const { path, method, operation } = call;
  const parameters = operation.parameters ?? [];
  const given = (where: Parameter['in']) =>
    parameters
      .filter((parameter) => parameter.in === where)
      .map(({ name, required, description, example }) => ({
        key: name,
        // A search has no example, and needs some text.
        value: example === undefined ? (required ? 'Hamburg' : '') : String(example),
        description,
        ...(!required && { disabled: true }),
      }));
  const query = given('query');
  const steps = path
    .slice(1)
    .split('/')
    .map((step) => fillIn(step, call, resources));
  const shown = query.filter((one) => !('disabled' in one)).map(({ key, value }) => `${key}=${value}`);
  const raw = `{{baseUrl}}/${steps.join('/')}${shown.length > 0 ? `?${shown.join('&')}` : ''}`;
  const [type, media] = Object.entries(operation.requestBody?.content ?? {})[0] ?? [];
  const example = path.endsWith('/merge')
    ? { ids: [`{{${idVariable(resourceOf(path, operation, resources))}}}`] }
    : Object.values(media?.examples ?? {})[0]?.value;
  return {
    name: operation.summary,
    event: [{ listen: 'test', script: { type: 'text/javascript', exec: writeChecks(call, resources) } }],
    request: {
      method: method.toUpperCase(),
      description: operation.description,
      header: [...(type ? [{ key: 'Content-Type', value: type }] : []), ...given('header')],
      url: { raw, host: ['{{baseUrl}}'], path: steps, ...(query.length > 0 && { query }) },
      ...(type && {
        body: {
          mode: 'raw',
          raw: typeof example === 'string' ? example : JSON.stringify(example, undefined, 2),
          options: { raw: { language: 'json' } },
        },
      }),
    },
  };
}

function fillIn(step: string, { path, operation }: Call, resources: readonly Definition[]): string {
  if (step === '{id}') return `{{${idVariable(resourceOf(path, operation, resources))}}}`;
  const name = /^\{(\w+)\}$/.exec(step)?.[1];
  if (!name) return step;
  const example = operation.parameters?.find((one) => one.in === 'path' && one.name === name)?.example;
  return encodeURIComponent(String(example));
}

function resourceOf(path: string, operation: Operation, resources: readonly Definition[]): string {
  if (path.startsWith(personalData)) return 'employee';
  if (path.startsWith(`${webhooks}/`)) return 'webhook';
  const owner = resources.find(({ title }) => title === operation.tags[0]);
  if (!owner) throw new Error(`${path} has an id of no resource`);
  return owner.name;
}

/** A creation remembers its id for the requests below it. */
function writeChecks({ path, method, operation }: Call, resources: readonly Definition[]): string[] {
  const status = expectedStatus(method, operation);
  const creations = [...resources.map((one) => ({ ...one, path: `/api/v1${one.path}` })), webhook];
  const created = method === 'post' && creations.find((one) => one.path === path);
  return [
    `pm.test('Status ${status}', () => pm.response.to.have.status(${status}));`,
    ...(created ? [`pm.collectionVariables.set('${idVariable(created.name)}', pm.response.json().id);`] : []),
  ];
}

/** Picks one of several successes: a creation creates, and everything else finds what was created before it. */
function expectedStatus(method: Method, { responses }: Operation): number {
  const successes = Object.keys(responses).filter((status) => /^2\d\d$/.test(status));
  const wanted = { post: '201', delete: '204', get: '200', put: '200', patch: '200' }[method];
  return Number(successes.includes(wanted) ? wanted : successes[0]);
}

function idVariable(resource: string): string {
  return `${resource.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase())}Id`;
}
