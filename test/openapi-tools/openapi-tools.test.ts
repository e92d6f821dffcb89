// The tools with which others generate code from the document and lint it. Each runs as its users run it, and what it writes
// is compiled with a program that uses it.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, describe, test } from 'node:test';
import { promisify } from 'node:util';

const run = promisify(execFile);
const folder = import.meta.dirname;
const programs = {
  spectral: '@stoplight/spectral-cli/dist/index.js',
  'openapi-typescript': 'openapi-typescript/bin/cli.js',
  orval: 'orval/dist/bin/orval.mjs',
  'hey-api': '@hey-api/openapi-ts/bin/run.js',
  tsc: 'typescript/bin/tsc',
};
const document = path.resolve(folder, '../../generated/openapi.json');
const isInstalled = Object.values(programs).every((file) =>
  existsSync(path.join(folder, 'node_modules', file)),
);
const skip = !isInstalled && 'Generators and linters are missing: npm ci --prefix test/openapi-tools';

describe('the tools of others', { skip }, () => {
  const places: string[] = [];
  after(() => Promise.all(places.map((place) => rm(place, { recursive: true }))));

  /** What the program prints; a failure shows all of it. */
  async function use(name: keyof typeof programs, args: readonly string[], cwd = folder): Promise<string> {
    const file = path.join(folder, 'node_modules', programs[name]);
    const { stdout, stderr } = await run(process.execPath, [file, ...args], { cwd }).catch(
      ({ stdout, stderr }) => assert.fail(`${name}: ${stdout}${stderr}`),
    );
    return stdout + stderr;
  }

  /** An empty project with the strict checks of the compiler. */
  async function openProject(): Promise<string> {
    const place = await mkdtemp(path.join(tmpdir(), 'stamm-openapi-'));
    places.push(place);
    await writeFile(path.join(place, 'package.json'), '{"private":true}');
    const compilerOptions = {
      ...{ target: 'es2022', module: 'commonjs', lib: ['es2022', 'dom', 'dom.iterable'], types: [] },
      ...{ strict: true, outDir: 'built' },
    };
    await writeFile(path.join(place, 'tsconfig.json'), JSON.stringify({ compilerOptions }));
    return place;
  }

  /** Returns what the program prints. */
  async function compileAndRun(place: string, program: string): Promise<string> {
    await writeFile(path.join(place, 'program.ts'), program);
    await use('tsc', ['-p', place]);
    return (await run(process.execPath, [path.join(place, 'built/program.js')])).stdout;
  }

  test('Spectral has no remark', async () => {
    const printed = await use('spectral', [
      'lint',
      document,
      '--ruleset',
      'spectral.yaml',
      '--fail-severity',
      'hint',
    ]);
    assert.match(printed, /No results/);
  });

  test('openapi-typescript writes types that compile and find a misspelt field', async () => {
    const place = await openProject();
    await use('openapi-typescript', [document, '--output', path.join(place, 'stamm.ts')]);
    await compileAndRun(place, usingTypes);
  });

  test('orval writes a client that compiles and finds a misspelt field', async () => {
    const place = await openProject();
    const output = path.join(place, 'stamm.ts');
    await use('orval', ['--input', document, '--output', output, '--client', 'fetch'], place);
    assert.match(await compileAndRun(place, usingOrval), requested);
  });

  test('hey-api writes a client that compiles and finds a misspelt field', async () => {
    const place = await openProject();
    const output = path.join(place, 'stamm');
    await use(
      'hey-api',
      ['--input', document, '--output', output, '--client', '@hey-api/client-fetch'],
      place,
    );
    assert.match(await compileAndRun(place, usingHeyApi), requested);
  });
});

/** The service takes several values with commas. */
const requested = /^\S*\/api\/v1\/customers\?status=ACTIVE(,|%2C)INACTIVE$/m;

const usingTypes = `
import type { components, operations } from './stamm';
const address = { streetName: 'Am Markt', houseNumber: '1', zipCode: '28195', city: 'Bremen' };
type NewCustomer = components['schemas']['NewCustomer'];
export const customer: NewCustomer = { companyName: 'Rathaus Café', address };
// @ts-expect-error
export const misspelt: NewCustomer = { compnyName: 'Rathaus Café', address };
export const query: operations['listCustomers']['parameters']['query'] = { status: ['ACTIVE'], limit: 10 };
export const answer: operations['createCustomer']['responses'][201]['content']['application/json'] = { id: '' };
export const line: components['schemas']['ImportLine'] = { type: 'customer', data: customer };
`;

/** Prints the address of each request instead of sending it. */
const printing = `
globalThis.fetch = async (input) => {
  console.log(input instanceof Request ? input.url : String(input));
  return new Response('{"data":[],"nextCursor":null}', { headers: { 'content-type': 'application/json' } });
};
const address = { streetName: 'Am Markt', houseNumber: '1', zipCode: '28195', city: 'Bremen' };
`;

const usingOrval = `
import { createCustomer, listCustomers } from './stamm';
${printing}
export async function create(): Promise<string | undefined> {
  // @ts-expect-error
  await createCustomer({ compnyName: 'Rathaus Café', address });
  const created = await createCustomer({ companyName: 'Rathaus Café', address });
  return created.status === 201 ? created.data.id : undefined;
}
void listCustomers({ status: ['ACTIVE', 'INACTIVE'] });
`;

const usingHeyApi = `
import { createCustomer, listCustomers } from './stamm';
${printing}
export async function create(): Promise<string | undefined> {
  // @ts-expect-error
  await createCustomer({ body: { compnyName: 'Rathaus Café', address } });
  const created = await createCustomer({ body: { companyName: 'Rathaus Café', address } });
  return created.data?.id;
}
void listCustomers({ query: { status: ['ACTIVE', 'INACTIVE'] } });
`;
