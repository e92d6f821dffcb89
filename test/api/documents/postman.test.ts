import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runInNewContext } from 'node:vm';
import { listen } from '../../helpers/raw-client.ts';
import { startService } from '../../helpers/service.ts';

const service = await startService();
const baseUrl = `http://127.0.0.1:${await listen(service.app)}`;

interface Item {
  name: string;
  event: { script: { exec: string[] } }[];
  request: {
    method: string;
    header: { key: string; value: string; disabled?: boolean }[];
    url: { raw: string; host: string[]; path: string[]; query?: { key: string; disabled?: boolean }[] };
    body?: { raw: string };
  };
}

interface Collection {
  info: { schema: string };
  auth: { type: string; apikey: { key: string; value: string }[] };
  variable: { key: string; value: string }[];
  item: { name: string; item: Item[] }[];
}

const readCollection = async (): Promise<Collection> =>
  (await fetch(`${baseUrl}/docs/postman.json`)).json() as Promise<Collection>;

/** Sends a request as Postman does, and runs its script. Answers with what the script finds wrong. */
async function send(collection: Collection, { request, event }: Item, variables: Map<string, string>) {
  const fill = (text: string) =>
    text.replace(/\{\{(\w+)\}\}/g, (_, name) => {
      assert.ok(variables.get(name), `the variable ${name} has a value`);
      return variables.get(name)!;
    });
  const auth = Object.fromEntries(collection.auth.apikey.map(({ key, value }) => [key, value]));
  const headers: Record<string, string> = { [auth.key!]: fill(auth.value!) };
  for (const { key, value, disabled } of request.header) if (!disabled) headers[key] = fill(value);
  const body = request.body && fill(request.body.raw);
  const response = await fetch(fill(request.url.raw), {
    method: request.method,
    headers,
    ...(body && { body }),
  });
  const text = await response.text();
  const failures: string[] = [];
  const pm = {
    test: (name: string, check: () => void) => {
      try {
        check();
      } catch {
        failures.push(`${name}, but ${response.status}: ${text.slice(0, 500)}`);
      }
    },
    response: {
      json: () => JSON.parse(text),
      to: { have: { status: (status: number) => assert.equal(response.status, status) } },
    },
    collectionVariables: { set: (name: string, value: string) => variables.set(name, value) },
  };
  for (const { script } of event) runInNewContext(script.exec.join('\n'), { pm });
  return failures;
}

test('the collection works from top to bottom after setting address and key, and again', async () => {
  const collection = await readCollection();
  const variables = new Map(collection.variable.map(({ key, value }) => [key, value]));
  assert.equal(variables.get('baseUrl'), baseUrl);
  assert.equal(variables.get('apiKey'), '');
  variables.set('apiKey', service.tenant.key);
  for (let round = 0; round < 2; round += 1) {
    for (const folder of collection.item) {
      for (const item of folder.item)
        assert.deepEqual(await send(collection, item, variables), [], `${folder.name}: ${item.name}`);
    }
  }
  for (const collectionName of ['customers', 'sites', 'employees', 'products'])
    assert.deepEqual((await service.get(`/${collectionName}`)).json().data, [], 'nothing is left');
});

test('the collection has every operation of the document, with its own name and a declared status', async () => {
  const collection = await readCollection();
  assert.match(collection.info.schema, /v2\.1\.0/);
  const items = collection.item.flatMap((folder) => folder.item);
  const document = (await service.app.inject('/openapi.json')).json();
  type Operation = { summary: string; responses: Record<string, object> };
  for (const operation of Object.values<Record<string, Operation>>(document.paths).flatMap(Object.values)) {
    const item = items.find(({ name }) => name === operation.summary);
    assert.ok(item, operation.summary);
    const [, status] = /have\.status\((\d+)\)/.exec(item.event[0]!.script.exec.join('\n'))!;
    assert.ok(operation.responses[status!], operation.summary);
  }
  for (const { request, name } of items) {
    assert.equal(`{{baseUrl}}/${request.url.path.join('/')}`, request.url.raw.split('?')[0], name);
    assert.doesNotMatch(JSON.stringify(request), /undefined|stamm_\w{36}/, name);
  }
});
