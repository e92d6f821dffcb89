import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { resources } from '../../server/resources/index.ts';
import { startService, validCustomer, validSite } from '../service.ts';
import { assertDeclared } from './declared-answers.ts';

const { app, post, createCustomer } = await startService();
const committed = await readFile(path.resolve(import.meta.dirname, '../../generated/openapi.json'), 'utf8');
const document = JSON.parse(committed);

test('the document is served without a key and is the committed one', async () => {
  const response = await app.inject({ url: '/openapi.json' });
  assert.equal(response.statusCode, 200);
  assert.deepEqual(response.json(), document);
  assert.equal(document.openapi, '3.1.0');
});

test("Redocly's recommended rules find nothing", async () => {
  const config = await createConfig({ extends: ['recommended'] });
  const problems = await lintFromString({ source: committed, config });
  const found = problems.map(({ severity, ruleId, message, location }) => {
    return `${severity} ${ruleId}: ${message} at ${location[0]?.pointer}`;
  });
  assert.deepEqual(found, []);
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
  assert.deepEqual(NewSite.anyOf, [{ required: ['customerId'] }, { required: ['customerExternalId'] }]);
  assert.deepEqual(NewCustomer.required, ['companyName', 'address']);
  const { name, comment, callOutFee, openingHours, address } = NewSite.properties;
  assert.deepEqual([name.maxLength, comment.maxLength, callOutFee.minimum], [60, 150, 0]);
  assert.deepEqual(openingHours.default, []);
  assert.deepEqual(address.required, ['streetName', 'houseNumber', 'zipCode', 'city']);
  const { lat, lng } = address.properties.location.properties;
  assert.deepEqual([lat.minimum, lat.maximum, lng.minimum, lng.maximum], [-90, 90, -180, 180]);
  assert.deepEqual(document.components.securitySchemes.ApiKey.in, 'header');
});

test('the examples can be sent as they are, but for the ids of owners', async () => {
  const customerId = await createCustomer();
  const siteId = (await post('/customer/site', validSite(customerId))).json().id;
  for (const { path, example } of resources) {
    const owners = Object.fromEntries(
      Object.entries({ customerId, siteId }).filter(([name]) => name in example),
    );
    const response = await post(path, { ...example, ...owners });
    assert.equal(response.statusCode, 201, response.body);
  }
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
