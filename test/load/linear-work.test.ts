// Four times the input takes about four times the processor time, however hostile it is. A quadratic step would take
// sixteen times as long. Limits bound what reaches PostgreSQL, so only this thread's time counts.
import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import { toFieldValue } from '../../core/table/cells.ts';
import { matchTitles } from '../../core/table/columns.ts';
import { toCsvLine } from '../../core/table/csv/csv.ts';
import { describeDefinition } from '../../server/engine/definition/description.ts';
import { text } from '../../server/engine/definition/fields.ts';
import { toCell } from '../../server/engine/http/csv.ts';
import { readLines } from '../../server/features/import/lines.ts';
import { parseJson } from '../../server/http/json-body.ts';
import { customer } from '../../server/resources/customer.ts';
import { product } from '../../server/resources/product.ts';
import { callOffice } from '../helpers/office.ts';
import { listen } from '../helpers/raw-client.ts';
import { startService } from '../helpers/service.ts';

const { app, tenant } = await startService({ BODY_LIMIT_BYTES: 4 * 1024 * 1024, TRUST_PROXY: ['loopback'] });

const port = await listen(app);

type Work = () => unknown;

const maxGrowth = 8;
/** Shorter work is repeated: clocks are not exact enough for it. */
const minRoundMs = 0.5;
const minRounds = 3;
const maxRounds = 20;
/** Some kernels count processor time in steps of 10 ms. */
const minProcessorMs = 100;

async function timeOf(work: Work, repetitions: number, now: () => number): Promise<number> {
  const startedAt = now();
  for (let count = 0; count < repetitions; count++) await work();
  return now() - startedAt;
}

const clockMs = () => performance.now();

function processorMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

async function repetitionsFor(work: Work, minMs: number, now: () => number): Promise<number> {
  let repetitions = 1;
  while ((await timeOf(work, repetitions, now)) < minMs) repetitions *= 2;
  return repetitions;
}

/**
 * The best of several short rounds is quick to measure, and right unless other programs interrupt every round. Only then
 * the processor time decides, which takes longer.
 */
async function assertLinear(workOf: (length: number) => Work, length: number): Promise<void> {
  const [work, longerWork] = [workOf(length), workOf(4 * length)];
  await longerWork();
  const repetitions = await repetitionsFor(work, minRoundMs, clockMs);
  let [best, bestOfLonger] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  for (let round = 1; round <= maxRounds; round++) {
    best = Math.min(best, await timeOf(work, repetitions, clockMs));
    bestOfLonger = Math.min(bestOfLonger, await timeOf(longerWork, repetitions, clockMs));
    if (round >= minRounds && bestOfLonger < maxGrowth * best) return;
  }
  const many = await repetitionsFor(work, minProcessorMs, processorMs);
  const growth = (await timeOf(longerWork, many, processorMs)) / (await timeOf(work, many, processorMs));
  assert.ok(growth < maxGrowth, `four times the length takes ${growth.toFixed(1)} times as long`);
}

const repeat = (part: string, length: number) => part.repeat(Math.ceil(length / part.length));
const list = (length: number, item: (index: number) => string) =>
  Array.from({ length: Math.ceil(length / item(99_999).length) }, (_, index) => item(index)).join(',');

/** JSON texts of about a length, each the worst of its kind. */
const bodies: Record<string, (length: number) => string> = {
  'a number with digits only': (length) => `{"x":0.${repeat('7', length)}}`,
  'a number with zeros between two digits': (length) => `{"x":0.1${repeat('0', length)}1}`,
  'a number with zeros before its digits': (length) => `{"x":0.${repeat('0', length)}1}`,
  'a number with a long exponent': (length) => `{"x":1e-${repeat('9', length)}}`,
  'numbers that no double holds': (length) => `{"x":[${list(length, () => '0.12345678901234567890')}]}`,
  'escaped characters': (length) => `{"x":"${repeat('\\u0041\\n\\\\', length)}"}`,
  'escaped characters that cannot be stored': (length) => `{"x":[${list(length, () => '"\\ud800"')}]}`,
  'nested lists': (length) => `{"x":${'['.repeat(length / 2)}${']'.repeat(length / 2)}}`,
  'nested objects': (length) => `${repeat('{"\\u0061":', length)}1${'}'.repeat(Math.ceil(length / 10))}`,
  'names that cannot be stored, nested': (length) => {
    const depth = Math.min(900, length / 100);
    const names = list(length, (index) => `"\\ud800${index}":1`);
    return `${'{"a":'.repeat(depth)}{${names}}${'}'.repeat(depth)}`;
  },
  'a long name': (length) => `{"${repeat('x', length)}":"\\ud800"}`,
  names: (length) => `{${list(length, (index) => `"name${index}":1`)}}`,
  'names that are numbers': (length) => `{${list(length, (index) => `"${7919 * index}":1`)}}`,
  'names below a known one': (length) => `{"address":{${list(length, (index) => `"name${index}":1`)}}}`,
  'duplicate names': (length) => `{${list(length, () => '"x":0.12345678901234567890')}}`,
  'duplicate known names': (length) => `{${list(length, () => '"companyName":"\\u0041"')}}`,
  'items of a list': (length) => `{"openingHours":[${list(length, () => '{}')}]}`,
  'white space': (length) => `{"x":${repeat(' \n', length)}"\\u0041"}`,
  'what looks like a number in a text': (length) => `{"x":"${repeat(':  1.1.1,  2e1', length)}"}`,
};

for (const [name, bodyOf] of Object.entries(bodies)) {
  test(`a body of ${name} is parsed in linear time`, () =>
    assertLinear((length) => {
      const bytes = Buffer.from(bodyOf(length));
      return () => refusable(() => parseJson(bytes));
    }, 25_000));

  test(`a body of ${name} is answered in linear time, without a key and with one`, async () => {
    await assertLinear((length) => {
      const body = bodyOf(length);
      return () => callOffice(app, 'POST', '/session', body);
    }, 100_000);
    await assertLinear((length) => {
      const payload = bodyOf(length);
      return () => send('POST', '/customer/site', { 'content-type': 'application/json' }, payload);
    }, 100_000);
  });
}

/** Longer ones are refused before anybody looks at their digits. */
for (const name of Object.keys(bodies).filter((known) => known.startsWith('a number'))) {
  test(`${name} that is short enough is looked at in linear time`, () =>
    assertLinear((length) => {
      const bytes = Buffer.from(bodies[name]!(length));
      return () => refusable(() => parseJson(bytes));
    }, 340));
}

/** The values of a header; all of them reach the service, which looks at some before it knows the sender. */
const headers: Record<string, (length: number) => string> = {
  accept: (length) => repeat('text/html;q=0.1,', length),
  'accept-encoding': (length) => repeat('gzip;q=0.000,', length),
  'accept-language': (length) => repeat('de-a-;q=0.1 , ', length),
  'content-type': (length) => `application/json;${repeat(' ', length)};charset${repeat(' ', length)}=x`,
  cookie: (length) => repeat('stamm_session=x; ', length),
  expect: (length) => repeat('1', length),
  host: (length) => repeat('a.', length),
  'idempotency-key': (length) => repeat(' ', length),
  'if-match': (length) => repeat('W/"1" , ', length),
  'if-none-match': (length) => repeat('W/W/"1"', length),
  origin: (length) => `http://${repeat('a.', length)}`,
  'user-agent': (length) => repeat('stamm_', length),
  'x-forwarded-for': (length) => repeat('127.0.0.1, ', length),
  'x-forwarded-host': (length) => repeat('a, ', length),
  'x-forwarded-proto': (length) => repeat('https, ', length),
};

for (const [name, headerOf] of Object.entries(headers)) {
  test(`a long ${name} is handled in linear time, with a key, without one and in the web app`, async () => {
    const id = '01a1dd84-7ca4-70df-b44b-56805297c424';
    const type = { 'content-type': 'application/json' };
    for (const request of [
      (header: Headers) => send('GET', `/customers/${id}`, header),
      (header: Headers) => send('POST', '/customer', { ...type, ...header }, '{}'),
      (header: Headers) => send('GET', '/customers', { apikey: 'stamm_', ...header }),
      (header: Headers) => callOffice(app, 'POST', '/session', '{}', { headers: { ...type, ...header } }),
      (header: Headers) => app.inject({ url: '/assets/none.js', headers: header }),
    ])
      await assertLinear((length) => {
        const header = { [name]: headerOf(length) };
        return () => request(header);
      }, 20_000);
  });
}

test('a long key is refused in linear time', () =>
  assertLinear((length) => {
    const apikey = repeat('stamm_', length);
    return () => send('GET', '/customers', { apikey });
  }, 100_000));

/** Paths below the API. The router takes steps of up to 100,000 characters. */
const paths: Record<string, (length: number) => string> = {
  'a cursor': (length) => `/customers?cursor=${base64(`["createdAt","${repeat('a', length)}","x"]`)}`,
  'a cursor of nested lists': (length) => `/customers?cursor=${base64('['.repeat(length))}`,
  'a cursor of another order': (length) =>
    `/customers?sort=updatedAt&cursor=${base64(`["updatedAt","2026-01-01T00:00:00.${repeat('0', length)}","x"]`)}`,
  'a cursor of the attention list': (length) => `/attention?cursor=${base64(`[${repeat('1', length)}]`)}`,
  'a cursor of the feed': (length) => `/changes?after=${repeat('9', length)}`,
  'search words': (length) => `/customers?q=${repeat('ab+', length)}`,
  'one search word': (length) => `/customers?q=${repeat('a', length)}`,
  'white space to search for': (length) => `/customers?q=${repeat('%20', length)}`,
  'a filter': (length) => `/customers?city=${repeat('a%20', length)}`,
  'unknown parameters': (length) => `/customers?${list(length, (index) => `a${index}`).replaceAll(',', '&')}`,
  'a repeated parameter': (length) => `/customers?${repeat('q=1&', length)}`,
  'a moment': (length) => `/customers?updatedSince=2026-01-01T00:00:00.${repeat('0', length)}`,
  'a number of rows': (length) => `/customers?limit=${repeat('9', length)}`,
  'an id': (length) => `/customers/${repeat('a', length)}`,
  'steps of a path': (length) => `/${repeat('customers/', length)}`,
  'escapes in a path': (length) => `/customers/${repeat('%41', length)}`,
  'broken escapes in a path': (length) => `/customers/${repeat('%41', length)}%zz`,
  'keys in a path': (length) => `/customers/${repeat('stamm_', length)}`,
};

for (const [name, pathOf] of Object.entries(paths)) {
  test(`${name} of any length is read in linear time`, () =>
    assertLinear((length) => {
      const path = pathOf(length);
      return () => send('GET', path);
    }, 20_000));
}

/** Cells, with which kinds of fields look at them. */
const cells: Record<string, (length: number) => string> = {
  digits: (length) => repeat('7', length),
  'digits and a letter': (length) => `${repeat('7', length)}x`,
  zeros: (length) => `0,${repeat('0', length)}1${repeat('0', length)}`,
  'groups of digits': (length) => `1${repeat('.234', length)}x`,
  apostrophes: (length) => `${repeat("'", length)}=`,
  quotes: (length) => repeat('"', length),
  'line breaks': (length) => repeat('\r\n', length),
  blanks: (length) => `${repeat(' ', length)}x`,
  separators: (length) => `${repeat(';=,', length)}`,
  'opening brackets': (length) => '['.repeat(length),
};
const { fields } = describeDefinition(product);

for (const [name, cellOf] of Object.entries(cells)) {
  test(`a CSV cell of ${name} is read and written in linear time`, () =>
    assertLinear((length) => {
      const cell = cellOf(length);
      return () => {
        for (const field of fields) toFieldValue(field, cell, '.');
        toCsvLine([toCell(text({ de: '', description: '' }).kind, cell, 'de')], ';');
      };
    }, 25_000));
}

test('a CSV with many columns is understood in linear time', () =>
  assertLinear((length) => {
    const titles = repeat('Ort;Unbekannt;', length).split(';');
    const definition = describeDefinition(customer);
    return () => matchTitles(definition, titles);
  }, 10_000));

test('lines of an import are split in linear time, however their bytes arrive', async () => {
  for (const [line, pieceLength] of [
    ['{}\n', 65_536],
    ['\n', 65_536],
    ['x', 65_536],
    ['x', 7],
    ['\n', 7],
  ] as const) {
    await assertLinear((length) => {
      const bytes = Buffer.from(repeat(line, length));
      const pieces = Array.from({ length: Math.ceil(length / pieceLength) }, (_, index) =>
        bytes.subarray(index * pieceLength, (index + 1) * pieceLength),
      );
      return async () => {
        for await (const _lines of readLines(Readable.from(pieces), 102_400));
      };
    }, 5000);
  }
});

test('lines of an import are answered in linear time, whether they are many or long', async () => {
  for (const lineOf of [
    (length: number) => repeat('{"type":"none"}\n', length),
    (length: number) => repeat('{"type":"customer","data":{"x":1e-99999}}\n', length),
    (length: number) => `{"type":"customer","data":{"x":0.1${repeat('0', length)}1}}\n`,
    (length: number) => `{"type":"customer","data":{${list(length, (index) => `"name${index}":1`)}}}\n`,
  ])
    await assertLinear((length) => {
      const payload = lineOf(length);
      return async () => {
        const response = await fetch(`http://127.0.0.1:${port}/api/v1/import?dryRun=true`, {
          method: 'POST',
          headers: { apikey: tenant.key, 'content-type': 'application/x-ndjson' },
          body: payload,
        });
        assert.equal(response.status, 200, await response.text());
      };
    }, 10_000);
});

type Headers = Record<string, string>;

function send(method: 'GET' | 'POST', path: string, more: Headers = {}, payload?: string) {
  return app.inject({ method, url: `/api/v1${path}`, headers: { apikey: tenant.key, ...more }, payload });
}

function base64(value: string): string {
  return Buffer.from(value).toString('base64url');
}

function refusable(work: () => unknown): void {
  try {
    work();
  } catch {
    // A refusal has its price too, and that is what counts here.
  }
}
