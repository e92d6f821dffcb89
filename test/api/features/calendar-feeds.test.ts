// Calendar feeds, as the parser of another project reads them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import ICAL from 'ical.js';
import { createPerson } from '../../helpers/office.ts';
import { startService, validSite } from '../../helpers/service.ts';

const service = await startService();
const { app } = service;
const verwaltung = await createPerson(service);
// Today decides which holidays a feed has. A holiday must not take visits from the days that a test counts.
const kept = await verwaltung.call('PUT', '/visit-settings', { holidayRule: 'KEEP' });
assert.equal(kept.statusCode, 200, kept.body);

async function create(path: string, body: object): Promise<string> {
  const response = await service.post(path, body);
  assert.equal(response.statusCode, 201, response.body);
  return response.json().id;
}

const customerId = await service.createCustomer({ companyName: 'Hotel Alsterblick GmbH' });
const contactPersonId = await create('/customer/contact-person', {
  customerId,
  firstName: 'Maren',
  lastName: 'Janssen',
  phone: '+49 40 5550',
  mobile: '+49 170 99887766',
});
const employeeId = await create('/employee', { firstName: 'Jonas', lastName: 'Harms' });
const monday = { frequency: 'WEEKLY', byDay: ['MONDAY'], timeFrom: '08:00', durationInMinutes: 45 };
const siteId = await create('/customer/site', {
  ...validSite(customerId),
  name: 'Lobby',
  hasKey: true,
  comment: 'Ring twice; ask for Ms. Ode, "please"',
  attendingIntervals: [monday],
  assignedEmployeeId: employeeId,
  contactPersonId,
});
const weekdays = ['MONDAY', 'TUESDAY', 'WEDNESDAY', 'THURSDAY', 'FRIDAY'];
await create('/customer/site', {
  ...validSite(customerId),
  name: 'Kantine',
  attendingIntervals: [{ frequency: 'WEEKLY', byDay: ['SATURDAY'], toleranceInDays: 5 }],
  openingHours: weekdays.map((dayOfWeek) => ({ dayOfWeek, opens: '09:00', closes: '17:00' })),
  assignedEmployeeId: employeeId,
});

async function makeAddress(resource: string, id: string): Promise<string> {
  const made = await verwaltung.call('PUT', `/calendar-feeds/${resource}/${id}`, { language: 'de' });
  assert.equal(made.statusCode, 201, made.body);
  const { address } = made.json();
  assert.match(address, /^http:\/\/localhost(:80)?\/app\/calendar\/[\w-]{36}\/[\w-]{43}\.ics$/);
  return new URL(address).pathname;
}

const read = (url: string, headers: Record<string, string> = {}) =>
  app.inject({ method: 'GET', url, headers });

function parse(text: string) {
  const calendar = new ICAL.Component(ICAL.parse(text));
  const events = calendar.getAllSubcomponents('vevent').map((event) => new ICAL.Event(event));
  return { calendar, events };
}

const clock = new Intl.DateTimeFormat('en-GB', {
  timeZone: 'Europe/Berlin',
  weekday: 'long',
  hour: '2-digit',
  minute: '2-digit',
});

test('a feed holds the visits of an employee, at the right time in summer and winter', async () => {
  const answer = await read(await makeAddress('employee', employeeId));
  assert.equal(answer.statusCode, 200, answer.body);
  assert.equal(answer.headers['content-type'], 'text/calendar; charset=utf-8');
  assert.match(String(answer.headers['cache-control']), /^private, max-age=\d+$/);
  const { calendar, events } = parse(answer.body);
  assert.equal(calendar.getFirstPropertyValue('x-wr-calname'), 'Besuche: Jonas Harms');
  assert.equal(calendar.getFirstSubcomponent('vtimezone')!.getFirstPropertyValue('tzid'), 'Europe/Berlin');
  const mondays = events.filter(({ summary }) => summary.startsWith('Lobby'));
  // Four weeks back, and 26 ahead.
  assert.ok(mondays.length === 30 || mondays.length === 31, String(mondays.length));
  for (const { startDate, endDate, location, description, component } of mondays) {
    assert.equal(clock.format(startDate.toJSDate()), 'Monday 08:00');
    assert.equal(endDate.toUnixTime() - startDate.toUnixTime(), 45 * 60);
    assert.equal(location, 'Ballindamm 17a, 20095 Hamburg');
    assert.match(description, /Schlüssel vorhanden/);
    assert.match(description, /Maren Janssen, \+49 40 5550/);
    assert.ok(description.includes('Ring twice; ask for Ms. Ode, "please"'));
    assert.match(String(component.getFirstPropertyValue('url')), new RegExp(`/data/sites/${siteId}$`));
  }
  assert.ok(!answer.body.includes('99887766'), 'private numbers stay in the office');
  assert.equal(new Set(events.map(({ uid }) => uid)).size, events.length);
  // Outlook needs lines that end with CRLF and hold at most 75 bytes.
  for (const line of answer.body.split('\r\n'))
    assert.ok(Buffer.byteLength(line) <= 75 && !line.includes('\n'));
});

test('a visit to a site that is open around the clock takes its day, not midnight', async () => {
  const id = await create('/customer/site', {
    ...validSite(customerId),
    attendingIntervals: [{ frequency: 'WEEKLY', byDay: ['TUESDAY'], durationInMinutes: 45 }],
    openingHours: [...weekdays, 'SATURDAY', 'SUNDAY'].map((dayOfWeek) => ({
      ...{ dayOfWeek, opens: '00:00', closes: '24:00' },
    })),
  });
  const { events } = parse((await read(await makeAddress('site', id))).body);
  assert.ok(events.length > 20);
  assert.ok(events.every(({ startDate }) => startDate.isDate));
});

test('a moved visit says why, and keeps its identity', async () => {
  const { events } = parse((await read(await makeAddress('employee', employeeId))).body);
  const moved = events.filter(({ summary }) => summary.startsWith('Kantine'));
  assert.ok(moved.length > 20);
  for (const { uid, startDate, description } of moved) {
    const [, named] = /-(\d{4}-\d{2}-\d{2})-0@stamm$/.exec(uid)!;
    assert.equal(new Date(named!).getUTCDay(), 6);
    assert.notEqual(startDate.toString().slice(0, 10), named);
    assert.match(description, /Verschoben vom \d{2}\.\d{2}\.\d{4}: \S/);
  }
});

test('a feed says which visits are agreed, proposed or cancelled, and keeps the preparation free', async () => {
  const [nils, merle] = [
    await create('/employee', { firstName: 'Nils', lastName: 'Oersted' }),
    await create('/employee', { firstName: 'Merle', lastName: 'Dierksen' }),
  ];
  const id = await create('/customer/site', {
    ...validSite(customerId),
    name: 'Atrium',
    attendingIntervals: [{ frequency: 'DAILY', durationInMinutes: 60 }],
    appointmentPreparationTimeInMinutes: 30,
    assignedEmployeeId: nils,
  });
  const dayIn = (count: number) => Temporal.Now.plainDateISO('UTC').add({ days: count }).toString();
  const agree = (planned: number, body: object) =>
    create('/customer/site/appointment', {
      siteId: id,
      date: dayIn(planned),
      plannedDate: dayIn(planned),
      ...body,
    });
  const readAll = async (employee: string) =>
    new Map(
      parse((await read(await makeAddress('employee', employee))).body).events.map((event) => [
        event.uid,
        event,
      ]),
    );
  const uidOf = (count: number) => `${id}-${dayIn(count)}-0@stamm`;
  const before = await readAll(nils);
  await agree(10, { date: dayIn(12), timeFrom: '09:00', comment: 'Pforte' });
  await agree(20, { status: 'CANCELLED' });
  await agree(30, { status: 'PROPOSED', employeeId: merle });
  await create('/employee/absence', {
    employeeId: nils,
    from: dayIn(40),
    until: dayIn(41),
    substituteEmployeeId: merle,
  });
  const after = await readAll(nils);
  const stateOf = ({ component, startDate }: ICAL.Event) => [
    component.getFirstPropertyValue('status'),
    startDate.toString(),
  ];
  assert.deepEqual(stateOf(before.get(uidOf(10))!), [null, dayIn(10)]);
  assert.deepEqual(stateOf(after.get(uidOf(10))!), ['CONFIRMED', `${dayIn(12)}T09:00:00`]);
  assert.match(after.get(uidOf(10))!.description, /Verschoben vom .*: nach Vereinbarung\nPforte/);
  const preparation = after.get(`preparation-${uidOf(10)}`)!;
  assert.deepEqual(
    [preparation.summary, preparation.startDate.toString(), preparation.endDate.toString()],
    ['Vorbereitung: Atrium', `${dayIn(12)}T08:30:00`, `${dayIn(12)}T09:00:00`],
  );
  assert.equal(stateOf(after.get(uidOf(20))!)[0], 'CANCELLED');
  // Others come on these days.
  for (const count of [30, 40, 41]) assert.equal(after.get(uidOf(count)), undefined);
  const covered = await readAll(merle);
  assert.deepEqual([...covered.keys()].sort(), [30, 40, 41].map(uidOf).sort());
  assert.equal(stateOf(covered.get(uidOf(30))!)[0], 'TENTATIVE');
});

test('no step with appointments and sites takes the sequence of an entry back', async () => {
  const id = await create('/customer/site', {
    ...validSite(customerId),
    attendingIntervals: [{ frequency: 'DAILY', durationInMinutes: 60 }],
    appointmentPreparationTimeInMinutes: 30,
  });
  const day = (count: number) => Temporal.Now.plainDateISO('UTC').add({ days: count }).toString();
  const planned = day(10);
  const url = await makeAddress('site', id);
  const known = new Map<string, { sequence: number; content: string }>();
  /** What a calendar program would not take: a change without a higher sequence. */
  const readOn = async (step: string) => {
    const answer = await read(url);
    assert.equal(answer.statusCode, 200, step);
    for (const { uid, sequence, component } of parse(answer.body).events) {
      const content = component.toString().replace(/SEQUENCE:\d+/, '');
      const before = known.get(uid) ?? { sequence: 0, content: '' };
      assert.ok(sequence >= before.sequence, `${step}: ${before.sequence} to ${sequence}`);
      assert.ok(content === before.content || sequence > before.sequence, `${step}: changed content`);
      known.set(uid, { sequence, content });
    }
  };
  const post = async (path: string, body: object) => (await service.post(path, body)).json().id as string;
  const agreed = { siteId: id, date: day(12), timeFrom: '09:00' };
  let made = '';
  let extra = '';
  const erase = () =>
    service.owner.query('DELETE FROM deleted_object WHERE tenant_id = $1', [service.tenant.tenantId]);
  const patch = (body: object) => service.patch(`/appointments/${made}`, body);
  const remove = (one: string) => service.delete(`/appointments/${one}`);
  const restore = (path: string) => verwaltung.call('POST', `${path}/restore`);
  const steps: Record<string, () => Promise<unknown>> = {
    planned: async () => {},
    agreed: async () => {
      made = await post('/customer/site/appointment', { ...agreed, plannedDate: planned });
    },
    moved: () => patch({ date: day(13), timeFrom: '10:00' }),
    cancelled: () => patch({ status: 'CANCELLED' }),
    deleted: () => remove(made),
    restored: () => restore(`/appointments/${made}`),
    'in place of another visit': () => patch({ plannedDate: day(11), status: 'CONFIRMED' }),
    'deleted again': () => remove(made),
    'gone from the bin': erase,
    'agreed once more': async () => {
      made = await post('/customer/site/appointment', { ...agreed, plannedDate: planned });
    },
    'an extra visit': async () => {
      extra = await post('/customer/site/appointment', agreed);
    },
    'no longer extra': () => service.patch(`/appointments/${extra}`, { plannedDate: day(14) }),
    'extra again': () => service.patch(`/appointments/${extra}`, { plannedDate: null }),
    'site changed': () => service.patch(`/sites/${id}`, { comment: 'Pforte' }),
    'site deleted and restored': async () => {
      await service.delete(`/sites/${id}`);
      await restore(`/sites/${id}`);
    },
    'all deleted': () => Promise.all([remove(made), remove(extra)]),
    'all gone': erase,
  };
  for (const [name, step] of Object.entries(steps)) {
    const answer = (await step()) as { statusCode?: number; body?: string } | undefined;
    assert.ok((answer?.statusCode ?? 200) < 300, `${name}: ${answer?.body}`);
    await readOn(name);
  }
});

test('the same data gives the same bytes and a 304; a change of the site raises the sequence', async () => {
  const url = await makeAddress('site', siteId);
  const first = await read(url);
  const again = await read(url);
  assert.equal(again.body, first.body);
  const unchanged = await read(url, { 'if-none-match': String(first.headers.etag) });
  assert.equal(unchanged.statusCode, 304);
  assert.equal(unchanged.body, '');
  await service.createCustomer({ companyName: 'Elsewhere' });
  const elsewhere = await read(url, { 'if-none-match': String(first.headers.etag) });
  assert.equal(elsewhere.statusCode, 304, 'a write elsewhere changes no entry');
  const changed = await service.patch(`/sites/${siteId}`, { comment: 'New code: 4711' });
  assert.equal(changed.statusCode, 200, changed.body);
  const after = await read(url, { 'if-none-match': String(first.headers.etag) });
  assert.equal(after.statusCode, 200);
  const [before, now] = [first, after].map(({ body }) => parse(body).events[0]!);
  assert.equal(now!.uid, before!.uid);
  assert.ok(now!.sequence > before!.sequence);
});

/** Sites with daily visits, as an import would store them. */
async function createSites(
  assignedEmployeeId: string,
  count: number,
  interval: object,
  comment: string | null = null,
): Promise<void> {
  await service.owner.query(
    `INSERT INTO site (tenant_id, id, customer_id, name, address_street_name, address_house_number, address_zip_code, address_city,
       needs_appointment, has_key, opening_hours, opening_hours_is_known, attending_intervals, attending_intervals_is_known,
       time_zone, assigned_employee_id, comment)
     SELECT $1, gen_random_uuid(), $2, 'Halle ' || number, 'Weg', '1', '20095', 'Hamburg', false, false, '[]', true, $3::json, true,
       'Europe/Berlin', $4, $6 FROM generate_series(1, $5::integer) AS number`,
    [service.tenant.tenantId, customerId, JSON.stringify([interval]), assignedEmployeeId, count, comment],
  );
}

test('a calendar that is too full ends early, and says so in its last entry and in the office', async () => {
  const busyId = await create('/employee', { firstName: 'Tom', lastName: 'Busch' });
  await createSites(busyId, 40, { frequency: 'DAILY' });
  const { calendar, events } = parse((await read(await makeAddress('employee', busyId))).body);
  const { feed } = (await verwaltung.call('GET', `/calendar-feeds/employee/${busyId}`)).json();
  const visits = events.filter(({ summary }) => summary.startsWith('Halle'));
  assert.ok(visits.length > 4900 && visits.length <= 5000, String(visits.length));
  const days = visits.map(({ startDate }) => startDate.toString());
  assert.equal(days.filter((day) => day === feed.completeUntil).length, 40, 'its last day is complete');
  const last = events.filter(({ startDate }) => startDate.toString() >= feed.completeUntil);
  const [note] = last.filter(({ summary }) => !summary.startsWith('Halle'));
  assert.equal(note!.summary, 'Kalender unvollständig');
  assert.match(note!.description, /^Spätere Besuche fehlen: Der Kalender reicht bis \d{2}\.\d{2}\.\d{4}\.$/);
  assert.equal(calendar.getFirstPropertyValue('x-wr-caldesc'), note!.description);
  assert.deepEqual([feed.includedSites, last.length], [null, 41]);
});

test('a calendar of more sites than it takes says how many it has', async () => {
  const busyId = await create('/employee', { firstName: 'Ute', lastName: 'Busch' });
  await createSites(busyId, 2001, { frequency: 'YEARLY', startDate: '2000-01-01' });
  const { events } = parse((await read(await makeAddress('employee', busyId))).body);
  const notes = events.filter(({ summary }) => !summary.startsWith('Halle'));
  assert.deepEqual(
    notes.map(({ description }) => description),
    ['Nur 2.000 Standorte sind enthalten.'],
  );
  const { feed } = (await verwaltung.call('GET', `/calendar-feeds/employee/${busyId}`)).json();
  assert.deepEqual([feed.completeUntil, feed.includedSites], [null, 2000]);
  const few = (await verwaltung.call('GET', `/calendar-feeds/employee/${employeeId}`)).json().feed;
  assert.deepEqual([few.completeUntil, few.includedSites], [null, null]);
});

test('a calendar of long texts stays below some megabytes, and says where it ends', async () => {
  const busyId = await create('/employee', { firstName: 'Ida', lastName: 'Busch' });
  await createSites(busyId, 20, { frequency: 'DAILY' }, 'Ü'.repeat(20_000));
  const { body } = await read(await makeAddress('employee', busyId));
  assert.ok(body.length < 8e6, String(body.length));
  const { feed } = (await verwaltung.call('GET', `/calendar-feeds/employee/${busyId}`)).json();
  const { events } = parse(body);
  assert.ok(feed.completeUntil < new Date().toISOString().slice(0, 10));
  const onLastDay = events.filter(({ startDate }) => startDate.toString() === feed.completeUntil);
  assert.equal(onLastDay.filter(({ summary }) => summary.startsWith('Halle')).length, 20);
  assert.equal(onLastDay.at(0)!.summary, 'Kalender unvollständig');

  const busierId = await create('/employee', { firstName: 'Eva', lastName: 'Busch' });
  await createSites(busierId, 60, { frequency: 'DAILY' }, 'x'.repeat(100_000));
  const full = await read(await makeAddress('employee', busierId));
  assert.ok(full.body.length < 8e6, String(full.body.length));
  const { includedSites } = (await verwaltung.call('GET', `/calendar-feeds/employee/${busierId}`)).json()
    .feed;
  assert.ok(includedSites > 30 && includedSites < 50, String(includedSites));
});

test('a replaced address, a removed one, and those of ended employees and sites are not found', async () => {
  const old = await makeAddress('site', siteId);
  const current = await makeAddress('site', siteId);
  assert.equal((await read(old)).statusCode, 404);
  assert.equal((await read(current)).statusCode, 200);
  assert.equal((await verwaltung.call('DELETE', `/calendar-feeds/site/${siteId}`)).statusCode, 204);
  assert.equal((await read(current)).statusCode, 404);
  assert.equal((await verwaltung.call('DELETE', `/calendar-feeds/site/${siteId}`)).statusCode, 404);

  const leaverId = await create('/employee', { firstName: 'Lea', lastName: 'Weg' });
  const ofLeaver = await makeAddress('employee', leaverId);
  assert.equal((await read(ofLeaver)).statusCode, 200);
  await service.patch(`/employees/${leaverId}`, { active: false });
  assert.equal((await read(ofLeaver)).statusCode, 404);

  const closedId = await create('/customer/site', validSite(customerId));
  const ofClosed = await makeAddress('site', closedId);
  await service.patch(`/sites/${closedId}`, { validUntil: '2020-01-01' });
  assert.equal((await read(ofClosed)).statusCode, 404);
  assert.equal(
    (await verwaltung.call('PUT', `/calendar-feeds/site/${closedId}`, { language: 'de' })).statusCode,
    404,
  );
});

test('another business neither makes, reads nor removes a feed', async () => {
  const other = await service.createTenant('Andere GmbH');
  const stranger = await createPerson(service, { tenantId: other.tenantId });
  const url = await makeAddress('employee', employeeId);
  const path = `/calendar-feeds/employee/${employeeId}`;
  assert.equal((await stranger.call('PUT', path, { language: 'de' })).statusCode, 404);
  assert.deepEqual((await stranger.call('GET', path)).json(), { feed: null });
  assert.equal((await stranger.call('DELETE', path)).statusCode, 404);
  assert.equal((await read(url.replace(service.tenant.tenantId, other.tenantId))).statusCode, 404);
  assert.equal((await read(url)).statusCode, 200);
});

test('Pflege makes no feeds, and what Verwaltung does is on record without the secret', async () => {
  const pflege = await createPerson(service, { role: 'PFLEGE', name: 'Paul Pflege' });
  const path = `/calendar-feeds/employee/${employeeId}`;
  assert.equal((await pflege.call('PUT', path, { language: 'de' })).json().code, 'role_insufficient');
  const url = await makeAddress('employee', employeeId);
  await read(url);
  const token = /[\w-]{43}/.exec(url)![0];
  const audit = (await verwaltung.call('GET', '/audit?event=CALENDAR_CREATED')).json();
  assert.equal(audit.data[0].subjectId, employeeId);
  assert.ok(!JSON.stringify(audit).includes(token));
  assert.ok(!service.logLines.join('').includes(token), 'the log hides the secret');
  const { rows } = await service.owner.query(
    'SELECT row_to_json(feed)::text AS row FROM calendar_feed AS feed',
  );
  assert.ok(!JSON.stringify(rows).includes(token));
});

const hostile =
  'a\r\nX-EVIL:1\nBEGIN:VEVENT\rEND:VEVENT\u2028X-EVIL:2\u2029\u0001\u001b\u007f\u0085b;c,d\\n"e"';

test('no text of a record adds a line to a calendar', async () => {
  const hostileId = await create('/customer', {
    companyName: hostile,
    phone: '1\r\nX-EVIL:3',
    address: validSite(customerId).address,
  });
  const contactId = await create('/customer/contact-person', {
    customerId: hostileId,
    firstName: hostile.slice(0, 40),
    lastName: 'y\nX-EVIL:4',
  });
  const evilId = await create('/employee', { firstName: 'Ka\r\nX-EVIL:1', lastName: 'Len\nBEGIN:VEVENT' });
  const place = await create('/customer/site', {
    ...validSite(hostileId),
    name: hostile.slice(0, 60),
    comment: hostile,
    address: {
      streetName: hostile,
      houseNumber: '1\n',
      zipCode: '20095\r\nX',
      city: hostile,
      location: { lat: 1.5, lng: 2.5 },
    },
    attendingIntervals: [monday],
    assignedEmployeeId: evilId,
    contactPersonId: contactId,
  });
  const known = new Set(
    'calscale method name prodid refresh-interval version x-published-ttl x-wr-calname'
      .split(' ')
      .concat('description dtend dtstamp dtstart geo location sequence summary uid url'.split(' ')),
  );
  for (const [resource, id] of [
    ['employee', evilId],
    ['site', place],
  ] as const) {
    const { body } = await read(await makeAddress(resource, id));
    const { calendar, events } = parse(body);
    assert.match(body, /^(?:[^\p{Cc}\u2028\u2029]|\r\n)+$/u);
    assert.deepEqual(
      [...new Set(calendar.getAllSubcomponents().map(({ name }) => name))],
      ['vtimezone', 'vevent'],
    );
    assert.ok(events.length > 20, String(events.length));
    const components = [calendar, ...calendar.getAllSubcomponents('vevent')];
    const foreign = components
      .flatMap((one) => one.getAllProperties())
      .filter(({ name }) => !known.has(name));
    assert.deepEqual(
      foreign.map(({ name }) => name),
      [],
    );
    assert.ok(events.every(({ summary }) => summary === events[0]!.summary));
    assert.ok(
      events[0]!.description.includes('\nX-EVIL:1\nBEGIN:VEVENT\n'),
      'lines of a comment stay lines of a text',
    );
  }
});

test('wrong addresses wait, and right ones behind the same proxy do not', async () => {
  const url = await makeAddress('employee', employeeId);
  const guess = (index: number) =>
    read(`/app/calendar/${service.tenant.tenantId}/${String(index).padStart(43, 'x')}.ics`);
  let missed = await guess(0);
  // More than two minutes allow: one of them may end meanwhile.
  for (let tries = 1; tries < 130 && missed.statusCode === 404; tries += 1) missed = await guess(tries);
  assert.equal(missed.statusCode, 429);
  assert.ok(Number(missed.headers['retry-after']) >= 1);
  assert.equal((await read(url)).statusCode, 200);
});

test('an address that is read too often waits', async () => {
  const url = await makeAddress('employee', employeeId);
  let last = await read(url);
  // More than two minutes allow: one of them may end meanwhile.
  for (let reads = 0; reads < 65 && last.statusCode === 200; reads += 1) last = await read(url);
  assert.equal(last.statusCode, 429);
  assert.ok(Number(last.headers['retry-after']) >= 1);
});
