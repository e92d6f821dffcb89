// Holds answers to the committed OpenAPI document: a status that it does not declare, or a body of another shape,
// fails the test that received it. Every answer of `app.inject` in tests passes through here.
import assert from 'node:assert/strict';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import document from '../../generated/openapi.json' with { type: 'json' };

export interface Answer {
  status: number;
  /** Names in lower case. */
  headers: Record<string, unknown>;
  body: string;
}

interface DeclaredResponse {
  content: { 'application/json': { schema: { $ref: string } } };
}

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const ajv = new Ajv2020({ strict: false, formats: { uuid, date: true, email: true, 'time-zone': true } });
ajv.addSchema(document, 'openapi');

const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods as Record<string, { responses: Record<string, DeclaredResponse> }>).map(
    ([method, { responses }]) => ({
      method: method.toUpperCase(),
      path: new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]+')}$`),
      responses,
    }),
  ),
);

/** What is not part of the API is refused with one of these. */
const unknownPath: Record<string, DeclaredResponse> = Object.fromEntries(
  [401, 403, 429, 500].map((status) => [
    status,
    { content: { 'application/json': { schema: { $ref: '#/components/schemas/Problem' } } } },
  ]),
);

export function assertDeclared(method: string, url: string, answer: Answer): void {
  const path = url.split('?', 1)[0]!;
  if (!path.startsWith('/api/v1/')) return;
  const operation = operations.find((one) => one.method === method && one.path.test(path));
  const declared = (operation?.responses ?? unknownPath)[answer.status];
  assert.ok(declared, `${method} ${path} answered ${answer.status}, which is not declared: ${answer.body}`);
  if (method !== 'HEAD') assertShape(declared.content['application/json'].schema.$ref, answer);
}

/** For answers to what is no request, which no operation declares: the shape of any other error. */
export function assertErrorShape(answer: Answer): void {
  assertShape(`#/components/schemas/${answer.status === 400 ? 'ValidationError' : 'Problem'}`, answer);
}

function assertShape(reference: string, answer: Answer): void {
  assert.equal(answer.headers['content-type'], 'application/json; charset=utf-8');
  assert.match(String(answer.headers['x-request-id']), uuid);
  const body = JSON.parse(answer.body);
  const validate = ajv.getSchema(`openapi${reference}`) as ValidateFunction;
  const isValid: boolean = validate(body);
  assert.ok(isValid, `${ajv.errorsText(validate.errors)}: ${answer.body}`);
  const { properties } = validate.schema as { properties: object };
  // The document allows members to be added later; until then nothing undocumented is sent.
  assert.deepEqual(
    Object.keys(body).filter((name) => !(name in properties)),
    [],
    'members that are not declared',
  );
  if (answer.status >= 400) assert.equal(body.requestId, answer.headers['x-request-id']);
}
