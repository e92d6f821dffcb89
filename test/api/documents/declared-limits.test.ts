// The limits in openapi.json are those that the service enforces: every parameter and every field of a body accepts what its
// schema accepts, and rejects the rest.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import committed from '../../../generated/openapi.json' with { type: 'json' };
import { formatChecks } from '../../../server/engine/definition/formats.ts';
import { isTimestamp } from '../../../server/engine/read/list-query.ts';
import { resources } from '../../../server/resources/index.ts';
import { listen } from '../../helpers/raw-client.ts';
import { startService } from '../../helpers/service.ts';
import { writeOut } from '../../helpers/written-out.ts';
import { sendImport } from '../import/import-client.ts';
import { probesOf, type Schema } from './probes.ts';

interface Parameter {
  name: string;
  in: 'query' | 'header' | 'path';
  required?: boolean;
  schema: Schema;
  example?: unknown;
  description?: string;
  /** Several values are separated by commas where it is false. */
  explode?: boolean;
}
interface Operation {
  parameters?: Parameter[];
  requestBody?: { content: Record<string, { schema: Schema; examples: Record<string, { value: unknown }> }> };
}
interface Group extends Schema {
  properties?: Record<string, Group>;
  items?: Group;
  anyOf?: Group[];
  $ref?: string;
}
type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

const document = writeOut(
  committed as unknown as { paths: Record<string, Record<string, Operation>>; components: object },
);
const schemas = (document.components as { schemas: Record<string, Group> }).schemas;
const ajv = new Ajv2020({
  strict: false,
  formats: { ...formatChecks, 'date-time': isTimestamp },
});
ajv.addSchema({ components: { schemas } }, 'openapi');
const isDeclared = (schema: object, value: unknown) =>
  ajv.validate(JSON.parse(JSON.stringify(schema).replaceAll('"#/components', '"openapi#/components')), value);

const service = await startService();
const { app, tenant } = service;
/** An object of each collection: the examples, in the order in which they refer to each other. */
const ids = new Map<string, string>();
for (const { path, collection, example } of resources)
  ids.set(collection, (await service.post(path, example)).json().id);
const hook = await service.post('/webhooks', { url: 'https://erp.example/stamm' });
ids.set('webhooks', hook.json().id);
ids.set('personal-data', ids.get('contact-persons')!);

/** Meaning, not limits: it depends on other values. */
const ofMeaning = [
  'reference_not_found',
  'date_order',
  'differs_from_path',
  'required_one_of',
  'too_many_days',
  'private_address',
];
/** Texts that an earlier answer gave. */
const opaque = ['cursor', 'after'];

const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => {
    const { parameters = [] } = operation;
    return { path, method: method.toUpperCase() as Method, ...operation, parameters };
  }),
);
type Called = (typeof operations)[number];

/** A request that succeeds or is a dry run, except for what is replaced. */
function call(
  { path, method, parameters, requestBody }: Called,
  replaced: ReadonlyMap<Parameter, unknown>,
  body?: unknown,
) {
  const [, collection = ''] = path.replace('/api/v1', '').split('/');
  const usual = ({ name, in: place, schema, example }: Parameter) => {
    if (place === 'path') return name === 'id' ? ids.get(collection) : (example ?? 'x');
    if (schema.format === 'date') return '2026-12-24';
    return name === 'dryRun' ? 'true' : 'a';
  };
  const sent = parameters
    .filter((one) => one.required || replaced.has(one) || one.name === 'dryRun')
    .flatMap((one) => textsOf(one, replaced.get(one) ?? usual(one)).map((text) => ({ ...one, text })));
  const ofPlace = (place: string) => sent.filter((one) => one.in === place);
  const query = new URLSearchParams(ofPlace('query').map(({ name, text }) => [name, text]));
  const url = ofPlace('path').reduce(
    (address, { name, text }) => address.replace(`{${name}}`, encodeURIComponent(text)),
    path,
  );
  const [type, media] = Object.entries(requestBody?.content ?? {})[0] ?? [];
  const value = body ?? Object.values(media?.examples ?? {})[0]?.value;
  return app.inject({
    method,
    url: `${url}?${query}`,
    headers: {
      apikey: tenant.key,
      ...Object.fromEntries(ofPlace('header').map(({ name, text }) => [name, text])),
      ...(type && { 'content-type': type }),
    },
    ...(type && { payload: typeof value === 'string' ? value : JSON.stringify(value) }),
  });
}

/** As it is written in an address or a header. */
function textsOf({ explode }: Parameter, value: unknown): string[] {
  if (!Array.isArray(value)) return [String(value)];
  return explode === false ? [value.join(',')] : value.map(String);
}

/** Whether the field or parameter, or something in it, is rejected. */
function isRejected({ statusCode, body }: { statusCode: number; body: string }, field: string): boolean {
  if (statusCode !== 400) return false;
  const { errors = [] } = JSON.parse(body) as { errors?: { field: string; code: string }[] };
  return errors.some(
    (error) =>
      (error.field === field || error.field.startsWith(`${field}.`)) && !ofMeaning.includes(error.code),
  );
}

/** Runs some at a time, and names all that differ from the document. */
async function compare<Case>(cases: readonly Case[], differs: (one: Case) => Promise<string | undefined>) {
  const found: string[] = [];
  const waiting = [...cases];
  const work = async () => {
    for (let one = waiting.shift(); one !== undefined; one = waiting.shift()) {
      const difference = await differs(one);
      if (difference) found.push(difference);
    }
  };
  await Promise.all(Array.from({ length: 8 }, work));
  assert.ok(cases.length > 0);
  assert.deepEqual([...new Set(found)], []);
}

function verdict(isValid: boolean, { statusCode, body }: { statusCode: number; body: string }): string {
  return `declared ${isValid}, answered ${statusCode} ${body.slice(0, 500)}`;
}

const shorten = (value: unknown) => {
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length > 60 ? `${text.slice(0, 50)}… (${text.length})` : text;
};

function probesOfParameter({
  schema,
  in: place,
  description = '',
}: Parameter): { value: unknown; isValid: boolean }[] {
  const [, count, length] = /up to (\d+) of at most (\d+) characters/.exec(description) ?? [];
  if (count !== undefined) {
    const own = (ids: number, characters: number) => Array(ids).fill('a'.repeat(characters)).join(',');
    return [
      { value: own(1, Number(length)), isValid: true },
      { value: own(1, Number(length) + 1), isValid: false },
      { value: own(Number(count), 3), isValid: true },
      { value: own(Number(count) + 1, 3), isValid: false },
    ];
  }
  const others = ['integer', 'number', 'boolean'].includes(String(schema.type)) ? ['', 'x'] : [];
  return [...probesOf(resolve(schema)), ...others]
    .filter((value) => place !== 'path' || !['', ' '].includes(String(value)))
    .map((value) => ({ value, isValid: isDeclared(schema, value) as boolean }));
}

const isFile = ({ path }: Called) => /\.\w+$/.test(path);

for (const [kind, isOf] of [
  ['a list or another read', (one: Called) => one.method === 'GET' && !isFile(one)],
  ['a file', isFile],
  ['a write', (one: Called) => one.method !== 'GET'],
] as const) {
  test(`a parameter of ${kind} has the limits that the document declares`, async () => {
    const cases = operations.filter(isOf).flatMap((operation) =>
      operation.parameters
        .filter(({ name }) => !opaque.includes(name))
        // A test message is sent.
        .filter(({ name }) => !(name === 'id' && operation.path.endsWith('/test')))
        .flatMap((parameter) =>
          probesOfParameter(parameter).map((probe) => ({ operation, parameter, ...probe })),
        )
        // A file takes longer, and has the filters of the list.
        .filter(({ isValid }, place) => !isFile(operation) || !isValid || place % 5 === 0),
    );
    await compare(cases, async ({ operation, parameter, value, isValid }) => {
      // A real one would be deleted or erased.
      const sent = parameter.name === 'dryRun' && value === false ? true : value;
      const response = await call(operation, new Map([[parameter, sent]]));
      const { method, path } = operation;
      // An invalid id is that of no object.
      const isUnknown = parameter.in === 'path' && response.statusCode >= 400;
      const isAccepted = !isRejected(response, parameter.name) && !(isUnknown && !isValid);
      if (isAccepted !== isValid)
        return `${method} ${path} ${parameter.name}=${shorten(value)}: ${verdict(isValid, response)}`;
    });
  });
}

const otherTypes = [null, true, 5, 'x', {}, []];

/** Every field of a body, those of groups included. */
function* fieldsOf(group: Group, parents: string[] = []): Generator<{ path: string[]; schema: Group }> {
  for (const [name, schema] of Object.entries(resolve(group).properties ?? {})) {
    const path = [...parents, name];
    yield { path, schema };
    yield* fieldsOf(schema, path);
  }
}

/** With what its references stand for; of alternatives the first, since the others are null. */
function resolve({ $ref, anyOf, items, ...schema }: Group): Group {
  if ($ref) return resolve(schemas[$ref.split('/').at(-1)!]!);
  if (anyOf) return resolve(anyOf[0]!);
  return { ...schema, ...(items && { items: resolve(items) }) };
}

function withField(body: unknown, [first, ...rest]: readonly string[], value: unknown): object {
  const group = (body ?? {}) as Record<string, unknown>;
  return { ...group, [first!]: rest.length === 0 ? value : withField(group[first!], rest, value) };
}

for (const method of ['POST', 'PUT', 'PATCH'] as const) {
  test(`a field of a ${method} body has the limits that the document declares`, async () => {
    const bodies = operations.filter(
      ({ method: own, requestBody }) => own === method && requestBody?.content['application/json'],
    );
    const cases = bodies.flatMap((operation) => {
      const { schema, examples } = operation.requestBody!.content['application/json']!;
      const [{ value: example } = { value: {} }] = Object.values(examples);
      return [...fieldsOf(schema as Group)].flatMap(({ path, schema }) =>
        [...probesOf(resolve(schema)), ...otherTypes].map((value) => ({
          operation,
          field: path.join('.'),
          value,
          body: withField(example, path, value),
          isValid: isDeclared(schema, value) as boolean,
        })),
      );
    });
    const limited = cases.filter(({ operation, field, value, isValid }) => {
      if (field === 'externalId') return !operation.path.includes('{externalId}');
      // Null takes one of the two names of an owner back.
      return isValid || value !== null || !field.endsWith('Id');
    });
    await compare(limited, async ({ operation, field, value, body, isValid }) => {
      const response = await call(operation, new Map(), body);
      if (isRejected(response, field) === isValid)
        return `${method} ${operation.path} ${field} = ${shorten(value)}: ${verdict(isValid, response)}`;
    });
  });
}

test('a member of an import line has the limits that the document declares', async () => {
  const members = schemas.LineOptions!.properties!;
  const data = { externalId: randomUUID(), firstName: 'Mia', lastName: 'Harms' };
  const cases = Object.entries(members).flatMap(([name, schema]) =>
    [...probesOf(schema), ...otherTypes].map((value) => ({
      name,
      value,
      isValid: isDeclared(schema, value),
    })),
  );
  // A version is read with a merge by id only.
  const merge = { action: 'merge', data: { id: ids.get('employees'), lastName: 'Harms' } };
  const lines = cases.map(({ name, value }) => ({
    ...{ type: 'employee', data, ...(name === 'version' && merge) },
    [name]: value,
  }));
  const target = { port: await listen(app), key: tenant.key, query: '?dryRun=true' };
  const { results } = await sendImport(target, lines);
  assert.equal(results.length, cases.length);
  for (const [place, { name, value, isValid }] of cases.entries()) {
    const { errors = [] } = results.find(({ line }) => line === place + 1)!;
    const isNamed = errors.some(({ field }: { field: string }) => field === name);
    assert.equal(isNamed, !isValid, `${name} = ${shorten(value)}`);
  }
});
