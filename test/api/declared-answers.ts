// Holds answers to the committed OpenAPI document. An undeclared status or media type, or a body of another shape,
// fails the test that received it. Every answer of `app.inject` in tests passes through here.
import assert from 'node:assert/strict';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import committed from '../../generated/openapi.json' with { type: 'json' };
import { formatChecks } from '../../server/engine/definition/formats.ts';
import { writeOut } from './written-out.ts';

export interface Answer {
  status: number;
  /** Names in lower case. */
  headers: Record<string, unknown>;
  body: string;
}

const document = writeOut(committed);

type Responses = Record<string, { content?: Record<string, unknown> }>;

const timestamp = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?Z$/;
const ajv = new Ajv2020({ strict: false, formats: { ...formatChecks, 'date-time': timestamp } });
ajv.addSchema(document, 'openapi');

const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods as unknown as Record<string, { responses: Responses }>).map(
    ([method, { responses }]) => ({
      method: method.toUpperCase(),
      path: new RegExp(`^${path.replaceAll('.', '\\.').replace(/\{\w+\}/g, '[^/]+')}$`),
      responses,
      pointer: `/paths/${escapePointer(path)}/${method}/responses`,
    }),
  ),
);

function escapePointer(step: string): string {
  return step.replaceAll('~', '~0').replaceAll('/', '~1');
}

/** Paths outside the API are rejected with one of these. */
const unknownPathStatuses = [401, 403, 429, 500];

export function assertDeclared(method: string, url: string, answer: Answer): void {
  const path = url.split('?', 1)[0]!;
  if (!path.startsWith('/api/v1/')) return;
  const asked = method === 'HEAD' ? 'GET' : method;
  const operation = operations.find((one) => one.method === asked && one.path.test(path));
  const { status } = answer;
  const isDeclared = operation ? status in operation.responses : unknownPathStatuses.includes(status);
  assert.ok(isDeclared, `${method} ${path} answered ${answer.status}, which is not declared: ${answer.body}`);
  if (method === 'HEAD') return;
  if (!operation) assertErrorShape(answer);
  else assertBody(operation.responses[status]!, `${operation.pointer}/${status}`, answer);
}

/** For answers to bytes that are no request, which no operation declares: the shape of any other error. */
export function assertErrorShape(answer: Answer): void {
  const name = answer.status === 400 ? 'ValidationError' : 'Problem';
  assertShape(`/components/schemas/${name}`, answer);
}

function assertBody({ content }: Responses[string], pointer: string, answer: Answer): void {
  assert.match(String(answer.headers['x-request-id']), uuid);
  if (!content) {
    assert.equal(answer.body, '', 'a body where none is declared');
    return;
  }
  const mediaType = String(answer.headers['content-type']).split(';', 1)[0]!;
  assert.ok(mediaType in content, `${mediaType} is not declared: ${answer.body.slice(0, 200)}`);
  if (mediaType === 'application/json') assertShape(`${pointer}/content/application~1json/schema`, answer);
}

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

function assertShape(pointer: string, answer: Answer): void {
  assert.equal(answer.headers['content-type'], 'application/json; charset=utf-8');
  assert.match(String(answer.headers['x-request-id']), uuid);
  const body = JSON.parse(answer.body);
  const validate = ajv.getSchema(`openapi#${encodeURI(pointer)}`) as ValidateFunction;
  assert.ok(validate, pointer);
  const isValid: boolean = validate(body);
  assert.ok(isValid, `${ajv.errorsText(validate.errors)}: ${answer.body}`);
  // The document allows members to be added later; until then nothing undocumented is sent.
  const declared = declaredMembers(validate.schema as Schema);
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
  if (schema.$ref) {
    const name = schema.$ref.split('/').at(-1) as keyof typeof document.components.schemas;
    return declaredMembers(document.components.schemas[name] as Schema);
  }
  const parts = [...(schema.anyOf ?? []), ...(schema.allOf ?? [])];
  const members = parts.flatMap((part) => [...declaredMembers(part)]);
  return new Set([...members, ...Object.keys(schema.properties ?? {})]);
}
