// What validation accepts never throws, and comes back unchanged. ACCEPTED_RUNS and ACCEPTED_SEED try more.
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import fc from 'fast-check';
import { unzipSync } from 'fflate';
import ICAL from 'ical.js';
import readWorkbook from 'read-excel-file/universal';
import { Webhook } from 'standardwebhooks';
import { holidayRules } from '../../../core/calendar/visit-plan.ts';
import { plainLetters } from '../../../core/letters.ts';
import { runNow } from '../../../core/pace.ts';
import { findApproximatePosition } from '../../../core/place/postcodes.ts';
import { findMatch, foldText, tokensOf } from '../../../core/search-match.ts';
import { writeList } from '../../../core/table/list-text.ts';
import { asDatabaseOwner } from '../../../server/database/connection.ts';
import { attentionChecksOf } from '../../../server/engine/attention/attention-checks.ts';
import { judgeRow } from '../../../server/engine/attention/attention-findings.ts';
import { columnsOf } from '../../../server/engine/definition/definition.ts';
import { buildLineWriter } from '../../../server/engine/http/export-routes.ts';
import { makeBackup } from '../../../server/features/backup/backup.ts';
import { restoreBackup } from '../../../server/features/backup/restore.ts';
import { writeCalendar } from '../../../server/features/calendar-feeds/feed-calendar.ts';
import type { FeedSite } from '../../../server/features/calendar-feeds/feed-data.ts';
import { checkConsistency } from '../../../server/features/consistency/consistency.ts';
import { rank } from '../../../server/features/search/search-routes.ts';
import { writeCell } from '../../../server/features/tables/table-rows.ts';
import { headersOf, readMessages } from '../../../server/features/webhooks/events.ts';
import { resources } from '../../../server/resources/index.ts';
import type { WarningLog } from '../../../server/telemetry/record-net.ts';
import { nextVisitsOf } from '../../../web/src/visits/site-plan.ts';
import { family, familyWith, type Line, pieces } from '../../helpers/accepted-bodies.ts';
import { bodiesIn } from '../../helpers/csv-reader.ts';
import { createPerson } from '../../helpers/office.ts';
import { listen } from '../../helpers/raw-client.ts';
import { createTestDatabase, startService } from '../../helpers/service.ts';
import { sendImport } from '../import/import-client.ts';

const folder = await mkdtemp(path.join(tmpdir(), 'stamm-test-'));
after(() => rm(folder, { recursive: true }));

const service = await startService();
const { tenantId, key } = await service.createTenant('Grün\u2028 & "Gut"; GmbH');
const headers = { apikey: key };
const person = await createPerson(service, { tenantId });
const port = await listen(service.app);

const runs = Number(process.env.ACCEPTED_RUNS ?? 20);
const seed = Number(process.env.ACCEPTED_SEED ?? Date.now() % 1e9);
console.log(`ACCEPTED_SEED=${seed}`);
const lines = [
  ...pieces.flatMap((piece, place) => familyWith(piece, `p${place}`)),
  ...Array.from({ length: runs }, (_, place) =>
    fc.sample(family(`#${place}`), { seed: seed + place, numRuns: 1 }),
  ).flat(2),
];
const families = lines.length / resources.length;

const toText = (line: Line) => JSON.stringify(line);
const { results } = await sendImport({ port, key }, lines.map(toText));
const stored = results.map(({ id }, place) => ({ id: id as string, ...lines[place]! }));

async function read(url: string) {
  const response = await service.get(url, { headers });
  assert.ok(response.statusCode < 500, `${url} → ${response.statusCode} ${response.body.slice(0, 300)}`);
  return response;
}

async function readWell(url: string) {
  const response = await read(url);
  assert.equal(response.statusCode, 200, `${url} → ${response.body.slice(0, 300)}`);
  return response;
}

const objectsOf = (type: string) => stored.filter((one) => one.type === type);

test('every body that follows a definition is accepted', () => {
  const refused = results.filter(({ status }) => status !== 201);
  assert.deepEqual(refused, [], `${refused.map(({ line }) => toText(lines[line - 1]!))}`);
});

test('objects come back as they were sent', async () => {
  for (const { collection, name } of resources) {
    const found = new Map((await pagesOf(`/${collection}?limit=200`)).map((object) => [object.id, object]));
    for (const { id, data } of objectsOf(name)) {
      const sent = JSON.parse(JSON.stringify(data));
      for (const [member, value] of Object.entries(sent)) {
        // An owner, and a reference whose object exists, are named by their ids.
        if (member.endsWith('ExternalId')) continue;
        assert.deepEqual(withoutEmpty(found.get(id)![member]), withoutEmpty(value), `${name}.${member}`);
      }
    }
  }
});

/** A position without a latitude and a longitude is none. */
function withoutEmpty(value: unknown): unknown {
  const { location, ...address } = value as { location?: object };
  return location && Object.keys(location).length === 0 ? address : value;
}

/** All pages of a list. */
async function pagesOf(url: string) {
  const data: Record<string, unknown>[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const page: { data: Record<string, unknown>[]; nextCursor: string | null } = (
      await readWell(`${url}${cursor && `&cursor=${encodeURIComponent(cursor)}`}`)
    ).json();
    assert.ok(page.data.length > 0 || page.nextCursor === null, `${url}: only the last page is empty`);
    data.push(...page.data);
    cursor = page.nextCursor;
  }
  return data;
}

test('visits, attention, changes, search and lists read all of it', async () => {
  await pagesOf('/visits?from=2026-11-18&until=2027-02-17&limit=500');
  const entries = await pagesOf('/attention?limit=7&count=true');
  assert.ok(entries.length > families / 2);
  const { data: changes } = (await readWell(`/changes?include=data&limit=500`)).json();
  assert.ok(changes.length >= Math.min(stored.length, 500));
  for (const { collection } of resources) {
    assert.equal((await pagesOf(`/${collection}?limit=17`)).length, families);
  }
});

/** Texts anywhere in a body. */
function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

test('the search takes any piece of a stored text', async () => {
  const texts = fc.sample(fc.constantFrom(...pieces, ...stored.flatMap(({ data }) => textsIn(data))), {
    seed,
    numRuns: 40,
  });
  for (const text of texts) {
    const q = encodeURIComponent([...text].slice(0, 60).join(''));
    for (const url of [`/search?q=${q}`, `/customers?q=${q}`, `/sites?q=${q}&sort=-name`]) await read(url);
    const office = await person.call('GET', `/named/customers?q=${q}`);
    assert.ok(office.statusCode < 500, office.body);
  }
});

test('lists filter and sort by any stored value', async () => {
  for (const { name, fields, collection } of resources) {
    const one = objectsOf(name).at(-1);
    for (const { path: steps, field } of columnsOf(fields)) {
      const value = memberAt(one!.data, steps);
      const query = encodeURIComponent(typeof value === 'string' ? value : JSON.stringify(value ?? 'x'));
      await read(`/${collection}?sort=${steps.join('.')}`);
      if (field.filter) await read(`/${collection}?${steps.join('.')}=${query}`);
    }
  }
});

test('files of all formats can be read back, and hold the texts that were sent', async () => {
  for (const definition of resources) {
    const { collection, name } = definition;
    const ndjson = (await readWell(`/${collection}.ndjson`)).body;
    const exported = ndjson.trimEnd().split('\n');
    assert.equal(exported.length, families);
    const textsOf = (object: unknown) =>
      columnsOf(definition.fields)
        .filter(({ field }) => field.kind === 'text')
        .map(({ path: steps }) => memberAt(object, steps) ?? null);
    const sent = exported.map((line) => textsOf(JSON.parse(line)));
    for (const language of ['de', 'en'] as const) {
      const csv = await readWell(`/${collection}.csv?locale=${language}`);
      assert.deepEqual(bodiesIn(csv.body, definition, language).map(textsOf), sent, `${name} ${language}`);
      const xlsx = await readWell(`/${collection}.xlsx?locale=${language}`);
      assertXml(xlsx.rawPayload);
      const [sheet] = await readWorkbook(new Blob([new Uint8Array(xlsx.rawPayload)]), { trim: false });
      assert.equal(sheet!.data.length, families + 1, `${name} ${language}`);
    }
    const table = await person.call('GET', `/tables/${collection}.csv`);
    assert.equal(table.statusCode, 200, table.body.slice(0, 300));
  }
});

function memberAt(object: unknown, steps: readonly string[]): unknown {
  return steps.reduce<unknown>(
    (member, step) => (member as Record<string, unknown> | undefined)?.[step],
    object,
  );
}

/** Strict: a spreadsheet refuses a file with one character that XML does not allow. */
function assertXml(workbook: Buffer): void {
  for (const [name, bytes] of Object.entries(unzipSync(workbook))) {
    const xml = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    const illegal = /[^\t\n\r\x20-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/u.exec(xml);
    assert.equal(illegal, null, `${name} at ${illegal?.index}`);
  }
}

test('calendars of all employees and sites are sound', async () => {
  for (const { id, type } of stored.filter((one) => ['employee', 'site'].includes(one.type)).slice(0, 40)) {
    const made = await person.call('PUT', `/calendar-feeds/${type}/${id}`, { language: 'de' });
    assert.equal(made.statusCode, 201, made.body);
    const url = new URL(made.json().address).pathname;
    const feed = await service.app.inject({ url });
    assert.equal(feed.statusCode, 200, feed.body.slice(0, 300));
    // biome-ignore lint/suspicious/noControlCharactersInRegex: RFC 5545 allows no control character but the tab
    assert.doesNotMatch(feed.body, /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]/);
    const calendar = new ICAL.Component(ICAL.parse(feed.body));
    assert.equal(calendar.name, 'vcalendar');
    for (const event of calendar.getAllSubcomponents('vevent')) new ICAL.Event(event).summary;
  }
});

test('the map, history, overview, personal data and duplicates read all of it', async () => {
  const urls = [
    '/map?west=-180&south=-90&east=180&north=90&zoom=3',
    '/history',
    '/attention/overview',
    '/attention/counts',
    '/attention/left',
    '/recent-actions',
    ...stored.filter((_, place) => place % 7 === 0).map(({ id, type }) => `/history/${type}/${id}`),
  ];
  for (const url of urls) {
    const response = await person.call('GET', url);
    assert.ok(response.statusCode < 400, `${url} ${response.body.slice(0, 300)}`);
  }
  for (const { id } of [...objectsOf('contact-person'), ...objectsOf('employee')].slice(0, 20)) {
    await readWell(`/personal-data/${id}`);
  }
  for (const { data } of objectsOf('customer').slice(0, 10)) {
    const response = await person.call('POST', '/duplicate-matches', {
      resource: 'customer',
      rows: [{ row: 1, name: data.companyName, email: data.email, phone: data.phone }],
    });
    assert.ok(response.statusCode < 500, response.body);
  }
});

test('the pure functions of the office take all of it', async () => {
  const sites = await pagesOf('/sites?limit=500');
  for (const site of sites) {
    for (const holidayRule of holidayRules) {
      runNow(nextVisitsOf(site, { holidayRule, from: '2026-11-18', count: 10 }));
    }
    const { zipCode, city } = site.address as Record<string, string>;
    findApproximatePosition({ zipCode: zipCode!, city: city! });
    for (const language of ['de', 'en'] as const) {
      writeList('OpeningHours', site.openingHours as object[], '', language);
      writeList('AttendingInterval', (site.attendingIntervals ?? []) as object[], '', language);
    }
    for (const words of textsIn(site)) {
      findMatch(words, [{ kind: 'name', text: words } as never]);
      tokensOf(plainLetters(foldText(words)));
    }
  }
});

test('a backup of it is restored unchanged and consistent', async () => {
  const file = path.join(folder, 'accepted.backup');
  await makeBackup(service.owner, { passphrase: undefined, path: file });
  const connection = await createTestDatabase('template0');
  await restoreBackup(connection, { passphrase: undefined, path: file });
  const restored = await startService({ connection });
  for (const { collection } of resources) {
    const url = `/${collection}.ndjson`;
    assert.equal((await restored.get(url, { headers })).body, (await readWell(url)).body);
  }
  const found = await asDatabaseOwner(connection, (client) => checkConsistency(client, resources));
  assert.deepEqual(
    found.filter(({ count }) => count > 0),
    [],
  );
});

test('everything can be changed, merged, deleted and restored', async () => {
  for (const { name, collection } of resources) {
    const [kept, duplicate, gone] = objectsOf(name);
    const same = (await readWell(`/${collection}/${kept!.id}`)).json();
    const patched = await service.patch(`/${collection}/${kept!.id}`, same, { headers });
    assert.deepEqual([patched.statusCode, patched.json()], [200, same]);
    const merged = await service.post(
      `/${collection}/${kept!.id}/merge`,
      { ids: [duplicate!.id] },
      { headers },
    );
    assert.ok(merged.statusCode < 500, merged.body);
    const before = (await read(`/${collection}/${gone!.id}`)).json();
    const deleted = await service.delete(`/${collection}/${gone!.id}?cascade=true`, { headers });
    assert.ok(deleted.statusCode < 300, deleted.body);
    const restored = await service.post(`/${collection}/${gone!.id}/restore`, {}, { headers });
    assert.ok(restored.statusCode < 300, restored.body);
    const { updatedAt: _a, version: _b, ...now } = (await readWell(`/${collection}/${gone!.id}`)).json();
    assert.deepEqual({ ...before, ...now }, before);
  }
});

test('an import of it is undone', async () => {
  const begun = await person.call('POST', '/imports', { fileName: 'a\u202eb.csv', resource: 'customer' });
  const origin = `http://127.0.0.1:${port}`;
  const sent = await fetch(`${origin}/app/import`, {
    method: 'POST',
    headers: {
      ...{ origin, cookie: person.cookie, 'stamm-import': begun.json().id },
      'content-type': 'application/x-ndjson',
    },
    body: pieces
      .slice(0, 30)
      .flatMap((piece, place) => familyWith(piece, `undo${place}`).map(toText))
      .join('\n'),
  });
  assert.match(await sent.text(), /"failed":0/);
  for (let isOpen = true; isOpen; ) {
    const undone = await person.call('POST', `/imports/${begun.json().id}/undo`);
    assert.equal(undone.statusCode, 200, undone.body);
    isOpen = undone.json().isOpen;
  }
  const left = await readWell(`/customers?externalId=${encodeURIComponent('customer undo0')}`);
  assert.deepEqual(left.json().data, []);
});

test('webhooks carry every object, signed', async () => {
  const wanted = { resources: null, actions: null, excludeOrigin: null };
  const secret = `whsec_${Buffer.from('0123456789abcdef01234567').toString('base64')}`;
  const sent = new Map<string, unknown>();
  for (let after = '0'; ; ) {
    const reading = { tenantId, webhookId: 'test', after, wanted };
    const { messages, scannedUpTo, hasMore } = await readMessages(service.database, resources, reading);
    for (const message of messages) {
      const signed = headersOf(message, { secret, previousSecret: null });
      const { type, data } = new Webhook(secret).verify(message.body, signed) as {
        type: string;
        data: { id: string; object?: unknown };
      };
      assert.equal(type, message.type);
      sent.set(data.id, data.object);
    }
    if (messages.length === 0 && !hasMore) break;
    after = messages.at(-1)?.position ?? scannedUpTo;
  }
  for (const { name, collection } of resources) {
    const { id } = objectsOf(name).at(-1)!;
    assert.deepEqual(sent.get(id), (await readWell(`/${collection}/${id}`)).json());
  }
});

test('people are erased with any text that was accepted', async () => {
  const people = ['contact-person', 'employee', 'customer'].flatMap((type) => objectsOf(type).slice(-15));
  let erased = 0;
  for (const { id, data } of people) {
    const texts = textsIn(data).filter((text) => [...text.trim()].length >= 4);
    const query = new URLSearchParams(
      texts.slice(0, 10).map((text) => ['text', [...text].slice(0, 200).join('')]),
    );
    const tried = await service.delete(`/personal-data/${id}?dryRun=true&${query}`, { headers });
    assert.ok([200, 400, 409].includes(tried.statusCode), tried.body);
    const response = await service.delete(`/personal-data/${id}?${query}`, { headers });
    assert.ok([204, 400, 409].includes(response.statusCode), response.body);
    assert.equal(response.statusCode === 204, tried.statusCode === 200, response.body);
    if (response.statusCode === 204) erased++;
  }
  assert.ok(erased > 0);
  await readWell('/changes?include=data&limit=500');
  for (const { collection } of resources) await pagesOf(`/${collection}?limit=200`);
});

test('a record on which any work fails is an entry, JSON or a mark, logged, and ends no list', () => {
  const warned: Record<string, unknown>[] = [];
  const log = { warn: (details: object) => void warned.push({ ...details }) };
  const fail = () => {
    throw new Error('no plan');
  };
  const check = {
    ...attentionChecksOf(resources[0]!)[0]!,
    judge: { columns: {}, lists: [], judge: fail },
  };
  const business = { holidayRule: 'MOVE', today: '2026-11-18' } as const;
  assert.equal(runNow(judgeRow(check, { id: 'a', judged: {} }, business, log)).needsAttention, true);
  const column = { path: 'address.city', toCell: fail };
  const entity = { id: 'a', address: { city: 'Hamburg' } };
  const cell = writeCell(column, entity, { names: new Map(), language: 'de', log });
  assert.deepEqual(cell, { kind: 'text', text: '"Hamburg"' });
  const id = '019a0000-0000-7000-8000-000000000001';
  const line = buildLineWriter([{ kind: 'uuid' }], 'en', log)(`["${id}"`);
  assert.equal(line, `"[""${id}"""\r\n`);
  const row = {
    ...{ type: 'customer', id: 'a', names: [] },
    get texts() {
      return fail();
    },
  };
  const asked = { q: 'x', language: 'de', isCarer: false, log, definitionOf: () => resources[0]! } as const;
  assert.deepEqual(
    runNow(rank([row], asked)).map(({ result }) => result.id),
    ['a'],
  );
  assert.deepEqual(writeBrokenCalendar(log), [
    'DTSTART;VALUE=DATE:20261118',
    'DTSTART;TZID=Europe/Berlin:20261118T080000',
  ]);
  assert.deepEqual(
    warned.map(({ work, recordId, error }) => [work, recordId, error]),
    [
      ['attention', 'a', 'Error'],
      ['table', 'a', 'Error'],
      ['csv', id, 'SyntaxError'],
      ['search', 'a', 'Error'],
      ['calendar', 'Mars/Olympus', 'RangeError'],
      ['calendar', 'a', 'RangeError'],
    ],
  );
  assert.doesNotMatch(JSON.stringify(warned), /no plan/, 'a message can quote the record');
});

/** Two visits, one of them in a zone that nobody knows. Returns when they begin. */
function writeBrokenCalendar(log: WarningLog): string[] {
  const site = (id: string, time_zone: string) =>
    ({ id, time_zone, updated_at: new Date(0), name: 'Foyer', lat: null, lng: null }) as FeedSite;
  const visit = {
    ...{ date: '2026-11-18', rule: 0, interval: {} },
    windows: [{ from: '08:00', until: '10:00' }],
  } as never;
  const visits = [site('a', 'Mars/Olympus'), site('b', 'Europe/Berlin')].map((one) => ({ site: one, visit }));
  const range = { from: '2026-11-01', until: '2026-11-30', isShortened: false, includedSites: null };
  const feed = { resource: 'employee', id: 'e', language: 'de', name: 'Ida', holidayRule: 'MOVE' } as const;
  const text = runNow(
    writeCalendar({ ...feed, sequence: 1 }, { visits, ...range }, 'https://stamm.example', log),
  );
  return text.split('\r\n').filter((line) => /^DTSTART;/.test(line));
}
