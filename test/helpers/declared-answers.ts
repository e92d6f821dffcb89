// Holds answers to the committed OpenAPI document. An undeclared status or media type, or a body of another shape,
// fails the test that received it. Every answer of `app.inject` in tests passes through here.
import assert from 'node:assert/strict';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import committed from '../../generated/openapi.json' with { type: 'json' };
import { formatChecks } from '../../server/engine/definition/formats.ts';

export interface Answer {
  status: number;
  /** Names in lower case. */
  headers: Record<string, unknown>;
  body: string;
}

interface Response {
  content?: Record<string, { schema: Schema }>;
}
type Responses = Record<string, Response | { $ref: string }>;

const components = committed.components as unknown as {
  schemas: Record<string, Schema>;
  responses: Record<string, Response>;
};

const timestamp = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?Z$/;
// Every test file starts with this. openapi.test.ts checks the document itself; a schema is compiled when an answer needs it.
const ajv = new Ajv2020({
  strict: false,
  validateSchema: false,
  formats: { ...formatChecks, 'date-time': timestamp },
});
ajv.addSchema({ components: { schemas: components.schemas } }, 'openapi');

const operations = Object.entries(committed.paths).flatMap(([path, methods]) =>
  Object.entries(methods as unknown as Record<string, { responses: Responses }>).map(
    ([method, { responses }]) => ({
      method: method.toUpperCase(),
      path: new RegExp(`^${path.replaceAll('.', '\\.').replace(/\{\w+\}/g, '[^/]+')}$`),
      responses,
    }),
  ),
);

/** Paths outside the API are rejected with one of these. */
const unknownPathStatuses = [401, 403, 429, 500];

export function assertDeclared(method: string, url: string, answer: Answer): void {
  const [path = '', query = ''] = url.split('?', 2);
  if (!path.startsWith('/api/v1/')) return;
  const asked = method === 'HEAD' ? 'GET' : method;
  const operation = operations.find((one) => one.method === asked && one.path.test(path));
  const { status } = answer;
  const isDeclared = operation ? status in operation.responses : unknownPathStatuses.includes(status);
  assert.ok(isDeclared, `${method} ${path} answered ${answer.status}, which is not declared: ${answer.body}`);
  if (method === 'HEAD') return;
  if (!operation) assertErrorShape(answer);
  else
    assertBody(
      operation.responses[status]!,
      answer,
      new URLSearchParams(query).has('fields') && status === 200,
    );
}

/** For answers to bytes that are no request, which no operation declares: the shape of any other error. */
export function assertErrorShape(answer: Answer): void {
  const name = answer.status === 400 ? 'ValidationError' : 'Problem';
  assertShape(components.schemas[name]!, answer);
}

function assertBody(declared: Responses[string], answer: Answer, isPart: boolean): void {
  const { content } = '$ref' in declared ? components.responses[nameIn(declared.$ref)]! : declared;
  assert.match(String(answer.headers['x-request-id']), uuid);
  if (!content) {
    assert.equal(answer.body, '', 'a body where none is declared');
    return;
  }
  const mediaType = String(answer.headers['content-type']).split(';', 1)[0]!;
  assert.ok(mediaType in content, `${mediaType} is not declared: ${answer.body.slice(0, 200)}`);
  if (mediaType === 'application/json') assertShape(content[mediaType]!.schema, answer, isPart);
}

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

const validators = new Map<Schema, ValidateFunction>();
const partValidators = new Map<Schema, ValidateFunction>();

function compile(schema: Schema): ValidateFunction {
  return ajv.compile(referTo('openapi', schema));
}

/** With `fields`, required members that are not chosen are absent. */
function compilePart(schema: Schema): ValidateFunction {
  const withoutRequired = (name: string, value: unknown) =>
    name === 'required' && Array.isArray(value) ? undefined : value;
  if (!ajv.getSchema('parts'))
    ajv.addSchema(
      JSON.parse(JSON.stringify({ components: { schemas: components.schemas } }, withoutRequired)),
      'parts',
    );
  return ajv.compile(referTo('parts', schema));
}

function referTo(document: string, schema: Schema): Schema {
  return JSON.parse(JSON.stringify(schema).replaceAll('"#/components/', `"${document}#/components/`));
}

function nameIn(reference: string): string {
  return reference.split('/').at(-1)!;
}

function assertShape(schema: Schema, answer: Answer, isPart = false): void {
  assert.equal(answer.headers['content-type'], 'application/json; charset=utf-8');
  assert.match(String(answer.headers['x-request-id']), uuid);
  const body = JSON.parse(answer.body);
  const validate = isPart
    ? partValidators.getOrInsertComputed(schema, compilePart)
    : validators.getOrInsertComputed(schema, compile);
  const isValid: boolean = validate(body);
  assert.ok(isValid, `${ajv.errorsText(validate.errors)}: ${answer.body}`);
  // The document allows members to be added later; until then nothing undocumented is sent.
  const declared = declaredMembers(schema);
  assert.deepEqual(
    Object.keys(body).filter((name) => !declared.has(name)),
    [],
    'members that are not declared',
  );
  if (answer.status >= 400) assert.equal(body.requestId, answer.headers['x-request-id']);
}

interface Schema {
  $ref?: string;
  anyOf?: Schema[];
  allOf?: Schema[];
  properties?: object;
}

function declaredMembers(schema: Schema): Set<string> {
  if (schema.$ref) return declaredMembers(components.schemas[nameIn(schema.$ref)]!);
  const parts = [...(schema.anyOf ?? []), ...(schema.allOf ?? [])];
  const members = parts.flatMap((part) => [...declaredMembers(part)]);
  return new Set([...members, ...Object.keys(schema.properties ?? {})]);
}
