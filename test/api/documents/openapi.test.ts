import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { createConfig, lintFromString, loadConfig } from '@redocly/openapi-core';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { formatChecks } from '../../../server/engine/definition/formats.ts';
import { resources } from '../../../server/resources/index.ts';
import { assertDeclared } from '../../helpers/declared-answers.ts';
import { listen } from '../../helpers/raw-client.ts';
import { startService, validCustomer, validSite } from '../../helpers/service.ts';
import { writeOut } from '../../helpers/written-out.ts';
import { sendImport } from '../import/import-client.ts';

const { app, post } = await startService();
const committed = await readFile(
  path.resolve(import.meta.dirname, '../../../generated/openapi.json'),
  'utf8',
);
const document = writeOut(JSON.parse(committed));

test('the document is served without a key and is the committed one', async () => {
  const response = await app.inject({ url: '/openapi.json' });
  assert.equal(response.statusCode, 200);
  const { servers, ...served } = response.json();
  const { servers: exampleServers, ...expected } = JSON.parse(committed);
  assert.deepEqual(served, expected);
  assert.equal(document.openapi, '3.1.0');
  assert.deepEqual(exampleServers, [{ url: 'https://stamm.example', description: 'This service' }]);
  assert.equal(servers.length, 1);
});

test('the server of the document is the absolute address at which it was read', async () => {
  const addressFor = async (host: string) =>
    (await app.inject({ url: '/openapi.json', headers: { host } })).json().servers[0].url;
  assert.equal(await addressFor('erp.example:8443'), 'http://erp.example:8443');
  assert.equal(await addressFor('[::1]:8080'), 'http://[::1]:8080');
  assert.equal(await addressFor('"}],"x":[{"'), 'https://stamm.example');
  const published = await startService({ PUBLIC_URL: 'https://office.example' });
  const { servers } = (await published.app.inject('/openapi.json')).json();
  assert.equal(servers[0].url, 'https://office.example');
});

async function lint(config: Awaited<ReturnType<typeof createConfig>>): Promise<string[]> {
  const problems = await lintFromString({ source: committed, config });
  return problems.map(({ severity, ruleId, message, location }) => {
    return `${severity} ${ruleId}: ${message} at ${location[0]?.pointer}`;
  });
}

test("Redocly's strict rules find nothing, with the exception that others can take over", async () => {
  const configPath = path.resolve(import.meta.dirname, '../../../docs/guide/redocly.yaml');
  assert.deepEqual(await lint(await loadConfig({ configPath })), []);
  // "by-external-id" is no UUID: these paths never mean the same.
  const excepted =
    /no-ambiguous-paths: .*`(\S+)\/by-external-id\/\{externalId\}` and `\1\/\{id\}\/(restore|merge)`/;
  const found = await lint(await createConfig({ extends: ['recommended-strict'] }));
  assert.deepEqual(
    found.filter((problem) => !excepted.test(problem)),
    [],
  );
});

const published = ['400', '401', '403', '413', '415', '429', '500'];

for (const url of ['/api/v1/customer', '/api/v1/customer/site']) {
  const operation = document.paths[url].post;

  test(`POST ${url} is described with every published status in the meaning that it has here`, () => {
    for (const status of ['201', ...published]) assert.ok(operation.responses[status], status);
    assert.match(operation.responses['403'].description, /not recognised/i);
    assert.match(operation.responses['413'].description, /content type/i);
    assert.match(operation.responses['415'].description, /too large/i);
    assert.ok(operation.responses['429'].headers['Retry-After']);
    assert.ok(operation.summary && operation.description && operation.operationId);
  });

  test(`POST ${url} declares the headers that its answers have`, () => {
    for (const [status, { headers }] of Object.entries<{ headers: Record<string, { schema: object }> }>(
      operation.responses,
    )) {
      for (const name of ['X-Request-Id', 'RateLimit-Policy', 'RateLimit']) {
        assert.ok(headers[name], `${status} ${name}`);
        assert.ok('type' in headers[name].schema, `the schema of ${name} says what it is`);
      }
    }
    for (const status of ['201', '400']) {
      assert.ok(operation.responses[status].headers['Stamm-Ignored-Fields'], status);
    }
  });
}

test('the published fields are described with their constraints', () => {
  const { NewSite, NewCustomer } = document.components.schemas;
  assert.deepEqual(NewSite.required, ['name', 'address', 'needsAppointment', 'hasKey']);
  assert.match(NewSite.properties.customerId.description, /Required unless `customerExternalId` is sent/);
  assert.deepEqual(NewCustomer.required, ['companyName', 'address']);
  const { name, comment, callOutFee, openingHours } = NewSite.properties;
  assert.deepEqual(NewSite.properties.address, { $ref: '#/components/schemas/Address' });
  const address = document.components.schemas.Address;
  assert.deepEqual([name.maxLength, comment.maxLength, callOutFee.minimum], [60, 150, 0]);
  assert.deepEqual(openingHours, { $ref: '#/components/schemas/OpeningHoursList' });
  assert.deepEqual(document.components.schemas.OpeningHoursList.default, []);
  assert.deepEqual(address.required, ['streetName', 'houseNumber', 'zipCode', 'city']);
  const { lat, lng } = address.properties.location.properties;
  assert.deepEqual([lat.minimum, lat.maximum, lng.minimum, lng.maximum], [-90, 90, -180, 180]);
  assert.deepEqual(document.components.securitySchemes.ApiKey.in, 'header');
});

interface Schema {
  [keyword: string]: unknown;
}

/** Every schema of the document with the place where it stands, those inside other schemas included. */
function* walk(value: unknown, place: string[] = []): Generator<{ place: string[]; value: Schema }> {
  if (typeof value !== 'object' || value === null) return;
  if (!Array.isArray(value)) yield { place, value: value as Schema };
  for (const [name, member] of Object.entries(value)) {
    if (!['example', 'examples', 'default'].includes(name)) yield* walk(member, [...place, name]);
  }
}

test('no schema is one that code generators stumble over', () => {
  for (const { place, value } of walk(document)) {
    const at = place.join('/');
    const alternatives = [value.anyOf, value.oneOf, value.allOf].flatMap((list) => (list as Schema[]) ?? []);
    const isCondition = (one: Schema) => Object.keys(one).join() === 'required';
    assert.ok(!alternatives.some(isCondition), `${at} has an alternative that is only a condition`);
    if (typeof value.$ref === 'string')
      assert.match(value.$ref, /^#\/components\/schemas\/\w+$/, `${at} refers to a component`);
    if (value.type === 'object' && !place.includes('headers'))
      assert.ok(value.properties ?? value.additionalProperties, `${at} says what it holds`);
    assert.notEqual(value.format, 'email', `${at} excludes addresses that the service accepts`);
    assert.ok(!('style' in value && 'type' in value), `${at} has the style of its parameter`);
  }
});

test('a field with a default is not made required by generators', () => {
  for (const { name } of resources) {
    const title = name.replace(/(?:^|-)(\w)/g, (_, letter) => letter.toUpperCase());
    for (const [field, schema] of Object.entries<Schema>(
      document.components.schemas[`New${title}`].properties,
    ))
      assert.ok(!('default' in schema), `${name} ${field}`);
  }
});

test('every code is in an enum with its description, and those of the office are not', () => {
  for (const name of ['ErrorCode', 'FieldErrorCode', 'AttentionCode']) {
    const { enum: codes, 'x-enumDescriptions': texts } = document.components.schemas[name];
    assert.deepEqual(Object.keys(texts), codes);
    for (const code of codes) assert.match(texts[code], /^[A-Z].{5}/, code);
  }
  const { enum: codes } = document.components.schemas.ErrorCode;
  for (const code of ['key_missing', 'not_recognised', 'has_dependants', 'too_many_imports'])
    assert.ok(codes.includes(code), code);
  assert.doesNotMatch(committed, /passkey|sign_in|session_missing|last_administrator/);
});

test('a creation declares 201, and 200 for a dry run', () => {
  for (const { path } of resources) {
    const { responses } = document.paths[`/api/v1${path}`].post;
    assert.deepEqual(
      Object.keys(responses).filter((status) => status.startsWith('2')),
      ['200', '201'],
    );
    assert.equal(responses['200'].content['application/json'].examples.dryRun.value.dryRun, true);
  }
});

test('summaries have the right article and plural', () => {
  const summaries = Object.values<Record<string, { summary: string }>>(document.paths)
    .flatMap((methods) => Object.values(methods))
    .map(({ summary }) => summary);
  for (const expected of ['Create an employee', 'Create a site', 'List contact persons'])
    assert.ok(summaries.includes(expected), expected);
  for (const summary of summaries) assert.doesNotMatch(summary, /\ba [aeiou]|-person/i);
});

interface Media {
  schema: Schema;
  examples?: Record<string, { value: unknown }>;
}

/** The operations in the order in which their examples make sense: owners first, deletions last. */
function operationsOf(method: string, path: (resource: (typeof resources)[number]) => string) {
  return resources.map((resource) => ({
    resource,
    operation: document.paths[`/api/v1${path(resource)}`][method],
  }));
}

test('every example of a body is accepted as it is, with the answer that the document declares', async () => {
  const service = await startService();
  const send = (method: 'POST' | 'PUT' | 'PATCH', url: string, type: string, value: unknown) =>
    service.app.inject({
      method,
      url: `/api/v1${url}`,
      headers: { apikey: service.tenant.key, 'content-type': type },
      payload: typeof value === 'string' ? value : JSON.stringify(value),
    });
  const examplesOf = ({ requestBody }: { requestBody: { content: Record<string, Media> } }) =>
    Object.entries(requestBody.content).flatMap(([type, { examples }]) => {
      assert.ok(examples, 'every body has examples');
      return Object.values(examples).map(({ value }) => ({ type, value }));
    });

  const ids = new Map<string, string>();
  for (const { resource, operation } of operationsOf('post', ({ path }) => path)) {
    for (const { type, value } of examplesOf(operation)) {
      const dryRun = await send('POST', `${resource.path}?dryRun=true`, type, value);
      assert.equal(dryRun.statusCode, 200, dryRun.body);
      assert.deepEqual(dryRun.json().ignoredFields, []);
      const response = await send('POST', resource.path, type, value);
      assert.equal(response.statusCode, 201, response.body);
      ids.set(resource.name, response.json().id);
    }
  }
  const byExternalId = operationsOf('put', ({ collection }) => `/${collection}/by-external-id/{externalId}`);
  for (const { resource, operation } of byExternalId) {
    const { example } = operation.parameters.find(({ name }: { name: string }) => name === 'externalId');
    const url = `/${resource.collection}/by-external-id/${example}`;
    for (const { type, value } of examplesOf(operation)) {
      const dryRun = await send('PUT', `${url}?dryRun=true`, type, value);
      assert.equal(dryRun.json().id, ids.get(resource.name));
      const response = await send('PUT', url, type, value);
      assert.deepEqual([response.statusCode, response.json().id], [200, ids.get(resource.name)]);
    }
  }
  for (const { resource, operation } of operationsOf('patch', ({ collection }) => `/${collection}/{id}`)) {
    const types = Object.keys(operation.requestBody.content);
    assert.deepEqual(types, ['application/merge-patch+json', 'application/json']);
    for (const { type, value } of examplesOf(operation)) {
      const response = await send('PATCH', `/${resource.collection}/${ids.get(resource.name)}`, type, value);
      assert.equal(response.statusCode, 200, response.body);
      assert.equal(response.headers['stamm-ignored-fields'], undefined);
      for (const [name, member] of Object.entries(value as object))
        assert.deepEqual(response.json()[name], member ?? undefined);
    }
  }
  const port = await listen(service.app);
  for (const { value } of examplesOf(document.paths['/api/v1/import'].post)) {
    const lines = (value as string).trimEnd().split('\n');
    const { results, summary } = await sendImport({ port, key: service.tenant.key }, lines);
    assert.deepEqual([summary.lines, summary.failed], [resources.length, 0], JSON.stringify(results));
  }
});

test('every example of an answer has the shape of its schema', () => {
  const ajv = new Ajv2020({ strict: false, formats: formatChecks, validateFormats: true });
  ajv.addFormat('date-time', true);
  ajv.addSchema(document, 'openapi');
  let count = 0;
  for (const { place, value } of walk(document)) {
    const media = (value as unknown as Media).examples;
    const examples: unknown[] = Array.isArray(media)
      ? media
      : Object.values(media ?? {}).map(({ value }) => value);
    const target = Array.isArray(media) ? place : [...place, 'schema'];
    const hasNoSchema = place.includes('headers') || place.join() === 'components';
    if (examples.length === 0 || hasNoSchema) continue;
    const pointer = target.map((step) => `/${step.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
    const validate = ajv.getSchema(`openapi#${encodeURI(pointer)}`)!;
    for (const example of examples) {
      assert.ok(validate(example), `${pointer}: ${ajv.errorsText(validate.errors)}`);
      count += 1;
    }
  }
  assert.ok(count > 100, String(count));
});

test('an answer that the document does not declare fails the test that receives it', async () => {
  const response = await post('/customer', validCustomer);
  const { statusCode: status, headers, body } = response;
  const check = (changes: object) => () =>
    assertDeclared('POST', '/api/v1/customer', { status, headers, body, ...changes });
  check({})();
  assert.throws(check({ status: 204 }), /not declared/);
  assert.throws(check({ body: '{"id":5}' }), /must be string/);
  assert.throws(check({ body: body.replace('{', '{"more":1,') }), /not declared/);
  assert.throws(check({ headers: { ...headers, 'x-request-id': undefined } }));
  assert.equal((await post('/customer/site', validSite('x'))).statusCode, 400);
});

test('an operation that repeats a part of another refers to a component', () => {
  const { paths, components } = JSON.parse(committed);
  const parts = Object.values<Record<string, Operation>>(paths)
    .flatMap((operations) => Object.values(operations))
    .flatMap(({ parameters = [], responses }) => [
      ...parameters,
      ...Object.values(responses),
      ...Object.values(responses).flatMap(({ headers = {} }) => Object.values(headers)),
    ])
    .map((part) => JSON.stringify(part))
    .filter((part) => !part.startsWith('{"$ref":'));
  assert.deepEqual(
    parts.filter((part, place) => parts.indexOf(part) < place),
    [],
  );
  for (const kind of ['responses', 'headers', 'parameters', 'examples'])
    for (const name of Object.keys(components[kind])) assert.match(name, /^[A-Z][A-Za-z0-9]*$/);
});

test('the document is small enough for generators and readers', () => {
  const served = Buffer.byteLength(JSON.stringify(JSON.parse(committed)));
  assert.ok(served <= 400_000, `${served} bytes served`);
  assert.ok(Buffer.byteLength(committed) <= 650_000, `${committed.length} bytes indented`);
});

interface Operation {
  parameters?: object[];
  responses: Record<string, { headers?: object }>;
}
