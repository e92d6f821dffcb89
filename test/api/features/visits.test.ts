import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { createPerson } from '../../helpers/office.ts';
import { startService, validAddress, validSite } from '../../helpers/service.ts';

const service = await startService();
const position = { lat: 53.5, lng: 10 };
const weekdays = ['MONDAY', 'TUESDAY', 'WEDNESDAY', 'THURSDAY', 'FRIDAY'];
const openingHours = weekdays.map((dayOfWeek) => ({ dayOfWeek, opens: '08:00', closes: '17:00' }));
const fridays = { frequency: 'WEEKLY', byDay: ['FRIDAY'], durationInMinutes: 60, toleranceInDays: 3 };

interface Visit {
  date: string;
  siteId: string;
  status: string;
  conflicts: string[];
  [name: string]: unknown;
}

async function startTenant() {
  const { key, tenantId } = await service.createTenant();
  const headers = { apikey: key };
  const create = async (path: string, body: object): Promise<string> => {
    const response = await service.post(path, body, { headers });
    assert.equal(response.statusCode, 201, response.body);
    return response.json().id;
  };
  const customerId = await service.createCustomer(
    { companyName: 'Hotel Hafen', phone: '040 1' },
    { headers },
  );
  const employeeId = await create('/employee', {
    firstName: 'Jonas',
    lastName: 'Harms',
    externalId: 'HR-12',
  });
  const createSite = (changes: object = {}) =>
    create('/customer/site', {
      ...validSite(customerId),
      address: { ...validAddress, zipCode: '20095', city: 'Hamburg', location: position },
      attendingIntervals: [fridays],
      openingHours,
      assignedEmployeeId: employeeId,
      ...changes,
    });
  const read = async (query: string): Promise<{ data: Visit[]; nextCursor: string | null }> => {
    const response = await service.get(`/visits?${query}`, { headers });
    assert.equal(response.statusCode, 200, response.body);
    return response.json();
  };
  return { headers, tenantId, customerId, employeeId, create, createSite, read };
}

test('a visit says its day, times, people, and why it moves', async () => {
  const { customerId, employeeId, createSite, read } = await startTenant();
  const siteId = await createSite({ appointmentPreparationTimeInMinutes: 15 });
  const { data, nextCursor } = await read('from=2026-12-21&until=2026-12-30');
  assert.deepEqual(data, [
    {
      date: '2026-12-24',
      siteId,
      customerId,
      employeeId,
      status: 'MOVED',
      movedFrom: '2026-12-25',
      reason: 'HOLIDAY',
      holiday: 'Christmas Day',
      windows: [{ from: '08:00', until: '17:00' }],
      timeZone: 'Europe/Berlin',
      durationInMinutes: 60,
      preparationInMinutes: 15,
      conflicts: [],
    },
  ]);
  assert.equal(nextCursor, null);
});

test('the holiday has its German name for those who read German', async () => {
  const { headers, createSite } = await startTenant();
  await createSite();
  const german = { headers: { ...headers, 'accept-language': 'de' } };
  const response = await service.get('/visits?from=2026-12-24&until=2026-12-24', german);
  assert.equal(response.json().data[0].holiday, '1. Weihnachtstag');
});

test('conflicts are flagged: closed, too short, nobody assigned or active, no position', async () => {
  const { create, createSite, read } = await startTenant();
  const resigned = await create('/employee', { firstName: 'Ida', lastName: 'Voss', active: false });
  const saturdays = { frequency: 'WEEKLY', byDay: ['SATURDAY'] };
  const closed = await createSite({ attendingIntervals: [saturdays] });
  const busy = await create('/employee', { firstName: 'Ole', lastName: 'Kamp' });
  const long = { ...fridays, durationInMinutes: 600 };
  const short = await createSite({ attendingIntervals: [long], assignedEmployeeId: busy });
  const nobody = await createSite({ assignedEmployeeId: undefined });
  const inactive = await createSite({ assignedEmployeeId: resigned });
  const nowhere = { ...validAddress, zipCode: '99999', city: 'Nirgendheim' };
  const unknown = await createSite({ assignedEmployeeId: randomUUID(), address: nowhere });
  const approximate = await createSite({ address: validAddress });
  const { data } = await read('from=2026-11-20&until=2026-11-21');
  const conflicts = Object.fromEntries(data.map((visit) => [visit.siteId, visit.conflicts]));
  assert.deepEqual(conflicts, {
    [closed]: ['closed'],
    [short]: ['window_too_short'],
    [nobody]: ['no_employee'],
    [inactive]: ['no_employee'],
    [unknown]: ['no_position', 'no_employee'],
    [approximate]: [],
  });
  const skipped = data.find(({ siteId }) => siteId === closed)!;
  assert.deepEqual([skipped.status, skipped.reason, skipped.windows], ['SKIPPED', 'CLOSED', []]);
});

test('filters narrow the list by site, customer, employee and city', async () => {
  const { customerId, employeeId, create, createSite, read } = await startTenant();
  const other = await create('/employee', { firstName: 'Ida', lastName: 'Voss' });
  const first = await createSite({ externalId: 'S1' });
  const second = await createSite({
    assignedEmployeeId: other,
    address: { ...validAddress, city: 'Kiel', location: position },
  });
  const day = 'from=2026-11-20&until=2026-11-20';
  const sitesOf = async (filter: string) => (await read(`${day}&${filter}`)).data.map(({ siteId }) => siteId);
  assert.deepEqual(await sitesOf(`siteId=${second}`), [second]);
  assert.deepEqual(await sitesOf(`siteId=${first},${second}`), [first, second]);
  assert.deepEqual(await sitesOf('siteExternalId=S1'), [first]);
  assert.deepEqual(await sitesOf(`customerId=${customerId}`), [first, second]);
  assert.deepEqual(await sitesOf(`customerId=${randomUUID()}`), []);
  assert.deepEqual(await sitesOf(`employeeId=${employeeId}`), [first]);
  assert.deepEqual(await sitesOf('employeeExternalId=HR-12'), [first]);
  assert.deepEqual(await sitesOf('city=Kiel'), [second]);
});

test('include adds names, addresses and own ids', async () => {
  const { customerId, create, createSite, read } = await startTenant();
  const contactPersonId = await create('/customer/contact-person', {
    customerId,
    lastName: 'Petersen',
    phone: '040 2',
  });
  await createSite({ externalId: 'S1', contactPersonId, comment: 'Side entrance' });
  const include = 'site,customer,employee,contactPerson,externalIds';
  const { data } = await read(`from=2026-11-20&until=2026-11-20&include=${include}`);
  const { site, customer, employee, contactPerson, siteExternalId, employeeExternalId } = data[0]!;
  const { name, hasKey, needsAppointment } = validSite(customerId);
  assert.deepEqual(site, {
    name,
    address: { ...validAddress, zipCode: '20095', city: 'Hamburg', location: position },
    hasKey,
    needsAppointment,
    comment: 'Side entrance',
  });
  assert.deepEqual(customer, { companyName: 'Hotel Hafen', phone: '040 1' });
  assert.deepEqual(employee, { firstName: 'Jonas', lastName: 'Harms' });
  assert.deepEqual(contactPerson, { lastName: 'Petersen', phone: '040 2' });
  assert.deepEqual([siteExternalId, employeeExternalId], ['S1', 'HR-12']);
});

test('a site without a position has the approximate one of its postcode or town, and says which', async () => {
  const { createSite, read } = await startTenant();
  const places = [
    { ...validAddress, zipCode: '20095', city: 'Hamburg' },
    { ...validAddress, zipCode: '?', city: 'Hamburg' },
    { ...validAddress, zipCode: '99999', city: 'Nirgendheim' },
    { ...validAddress, location: position },
  ];
  for (const address of places) await createSite({ address });
  const { data } = await read('from=2026-11-20&until=2026-11-20&include=site');
  const found = data.map(({ site }) => (site as { approximateLocation?: object }).approximateLocation);
  assert.deepEqual(
    found.map((place) => place && Object.keys(place).sort().join()),
    ['lat,lng,source', 'lat,lng,source', undefined, undefined],
  );
  const [byPostcode, byTown] = found as { lat: number; lng: number; source: string }[];
  assert.deepEqual([byPostcode!.source, byTown!.source], ['postcode', 'town']);
  for (const { lat, lng } of [byPostcode!, byTown!])
    assert.ok(Math.abs(lat - 53.55) < 0.2 && Math.abs(lng - 10) < 0.3, `${lat} ${lng}`);
});

test('pages of any size hold every visit once, in the order of days and sites', async () => {
  const { createSite, read } = await startTenant();
  const twice = { frequency: 'DAILY', timeFrom: '08:00' };
  for (let index = 0; index < 7; index += 1)
    await createSite({
      attendingIntervals: index % 2 ? [fridays] : [twice, { ...twice, timeFrom: '12:00' }],
    });
  const range = 'from=2026-11-16&until=2026-11-22';
  const key = ({ date, siteId, windows }: Visit) => JSON.stringify([date, siteId, windows]);
  const whole = (await read(`${range}&limit=500`)).data.map(key);
  assert.equal(whole.length, 4 * 2 * 7 + 3);
  assert.deepEqual(whole, [...whole].sort());
  for (const limit of [1, 3, 10]) {
    const paged: string[] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const page: { data: Visit[]; nextCursor: string | null } = await read(
        `${range}&limit=${limit}${cursor && `&cursor=${cursor}`}`,
      );
      assert.ok(page.data.length <= limit);
      paged.push(...page.data.map(key));
      cursor = page.nextCursor;
    }
    assert.deepEqual(paged, whole);
  }
});

test('a changed site has other visits immediately', async () => {
  const { headers, createSite, read } = await startTenant();
  const siteId = await createSite();
  const attendingIntervals = [{ ...fridays, byDay: ['MONDAY'] }];
  await service.patch(`/sites/${siteId}`, { attendingIntervals }, { headers });
  const { data } = await read('from=2026-11-16&until=2026-11-22');
  assert.deepEqual(
    data.map(({ date }) => date),
    ['2026-11-16'],
  );
});

test('sites without intervals, of unknown shapes, or out of their validity have no visits', async () => {
  const { createSite, read } = await startTenant();
  await createSite({ attendingIntervals: undefined });
  await createSite({ attendingIntervals: [] });
  await createSite({ attendingIntervals: [{ every: 'week' }] });
  await createSite({ validUntil: '2026-11-01' });
  assert.deepEqual((await read('from=2026-11-16&until=2026-11-22')).data, []);
});

test('a wrong query names every invalid parameter', async () => {
  const { headers } = await startTenant();
  const errorsOf = async (query: string) => {
    const response = await service.get(`/visits?${query}`, { headers });
    assert.equal(response.statusCode, 400, response.body);
    return response
      .json()
      .errors.map(({ field, code }: { field: string; code: string }) => `${field} ${code}`);
  };
  assert.deepEqual(await errorsOf(''), ['from required', 'until required']);
  assert.deepEqual(await errorsOf('from=2026-02-30&until=x'), ['from invalid_date', 'until invalid_date']);
  assert.deepEqual(await errorsOf('from=2026-01-02&until=2026-01-01'), ['until date_order']);
  assert.deepEqual(await errorsOf('from=2026-01-01&until=2026-04-03'), ['until too_many_days']);
  const range = 'from=2026-01-01&until=2026-04-02';
  assert.deepEqual(await errorsOf(`${range}&siteId=x&limit=0&include=all&colour=1&cursor=x&city=a&city=b`), [
    'siteId invalid_uuid',
    'colour unknown_parameter',
    'city repeated_parameter',
    'limit out_of_range',
    'include invalid_choice',
    'cursor invalid_cursor',
  ]);
  const foreign = Buffer.from(JSON.stringify(['2025-01-01', randomUUID(), 0])).toString('base64url');
  assert.deepEqual(await errorsOf(`${range}&cursor=${foreign}`), ['cursor invalid_cursor']);
});

test('a cursor is refused with other days or filters, and good with another page size', async () => {
  const { headers, employeeId, createSite, read } = await startTenant();
  for (let count = 0; count < 3; count += 1) await createSite();
  const { nextCursor } = await read('from=2026-11-16&until=2026-11-29&city=Hamburg&limit=1');
  for (const other of [
    'from=2026-11-17&until=2026-11-29&city=Hamburg',
    'from=2026-11-16&until=2026-11-30&city=Hamburg',
    'from=2026-11-16&until=2026-11-29&city=Bremen',
    'from=2026-11-16&until=2026-11-29',
    `from=2026-11-16&until=2026-11-29&city=Hamburg&employeeId=${employeeId}`,
  ]) {
    const response = await service.get(`/visits?${other}&cursor=${nextCursor}`, { headers });
    assert.equal(response.statusCode, 400, other);
    assert.equal(response.json().errors[0].code, 'invalid_cursor');
  }
  const rest = await read(
    `until=2026-11-29&from=2026-11-16&city=Hamburg&limit=100&include=site&cursor=${nextCursor}`,
  );
  assert.equal(rest.data.length, 5);
});

test('another business sees nothing, for any ids', async () => {
  const owner = await startTenant();
  const siteId = await owner.createSite();
  const stranger = await startTenant();
  const day = 'from=2026-11-20&until=2026-11-20';
  for (const filter of [
    '',
    `&siteId=${siteId}`,
    `&customerId=${owner.customerId}`,
    `&employeeId=${owner.employeeId}`,
  ])
    assert.deepEqual((await stranger.read(day + filter)).data, []);
});

test('the business chooses the holiday rule, Pflege only reads it, and a change is on record', async () => {
  const { tenantId, createSite, read } = await startTenant();
  await createSite();
  const clerk = await createPerson(service, { tenantId });
  const carer = await createPerson(service, { tenantId, role: 'PFLEGE' });
  const holiday = 'from=2026-12-24&until=2026-12-25';
  const statuses = async () => (await read(holiday)).data.map(({ date, status }) => `${date} ${status}`);
  const settings = { holidayRule: 'MOVE', startAddress: null };
  assert.deepEqual((await carer.call('GET', '/visit-settings')).json(), settings);
  assert.equal((await carer.call('PUT', '/visit-settings', { holidayRule: 'KEEP' })).statusCode, 403);
  assert.deepEqual(await statuses(), ['2026-12-24 MOVED']);
  assert.equal((await clerk.call('PUT', '/visit-settings', { holidayRule: 'KEEP' })).statusCode, 200);
  assert.deepEqual(await statuses(), ['2026-12-25 PLANNED']);
  assert.equal((await clerk.call('PUT', '/visit-settings', { holidayRule: 'SKIP' })).statusCode, 200);
  assert.deepEqual(await statuses(), ['2026-12-25 SKIPPED']);
  assert.equal((await clerk.call('PUT', '/visit-settings', { holidayRule: 'NEVER' })).statusCode, 400);
  const { data } = (await clerk.call('GET', '/audit?event=SETTINGS_CHANGED')).json();
  assert.deepEqual(
    data.map(({ details }: { details: object }) => details),
    [{ holidayRule: 'SKIP' }, { holidayRule: 'KEEP' }],
  );
});

test('the business says where tours begin: Pflege only reads it, and a change is on record', async () => {
  const { tenantId } = await startTenant();
  const clerk = await createPerson(service, { tenantId });
  const carer = await createPerson(service, { tenantId, role: 'PFLEGE' });
  const path = '/visit-settings/start-address';
  const address = { street: 'Am Hof 1', zipCode: '20095', city: 'Hamburg' };
  const start = async () => (await carer.call('GET', '/visit-settings')).json().startAddress;
  assert.equal((await carer.call('PUT', path, address)).statusCode, 403);
  assert.equal((await carer.call('DELETE', path)).statusCode, 403);
  assert.equal((await clerk.call('PUT', path, address)).statusCode, 200);
  const { approximateLocation, ...stored } = await start();
  assert.deepEqual(stored, address);
  assert.equal(approximateLocation.source, 'postcode');
  assert.equal((await clerk.call('PUT', path, { ...address, lat: 53.5, lng: 10 })).statusCode, 200);
  assert.deepEqual(await start(), { ...address, location: { lat: 53.5, lng: 10 } });
  const refused = await clerk.call('PUT', path, { street: ' ', zipCode: '1', lat: 91 });
  assert.deepEqual(
    refused.json().errors.map(({ field, code }: Record<string, string>) => `${field} ${code}`),
    ['street blank', 'city required', 'lat out_of_range'],
  );
  assert.equal((await clerk.call('DELETE', path)).statusCode, 204);
  assert.equal(await start(), null);
  const stranger = await createPerson(service, { tenantId: (await startTenant()).tenantId });
  assert.equal((await stranger.call('GET', '/visit-settings')).json().startAddress, null);
  const { data } = (await clerk.call('GET', '/audit?event=SETTINGS_CHANGED')).json();
  assert.deepEqual(
    data.map(({ details }: { details: { startAddress: string | null } }) => details.startAddress),
    [null, 'Am Hof 1, 20095 Hamburg', 'Am Hof 1, 20095 Hamburg'],
  );
});

test('Pflege reads visits without private phone numbers', async () => {
  const { tenantId, customerId, create, createSite } = await startTenant();
  const contactPersonId = await create('/customer/contact-person', {
    customerId,
    lastName: 'Petersen',
    mobile: '0171 5550199',
  });
  await createSite({ contactPersonId });
  const carer = await createPerson(service, { tenantId, role: 'PFLEGE' });
  const seen = await carer.call('GET', '/visits?from=2026-11-20&until=2026-11-20&include=contactPerson');
  assert.equal(seen.statusCode, 200, seen.body);
  assert.equal(seen.json().data[0].contactPerson.lastName, 'Petersen');
  assert.doesNotMatch(seen.body, /5550199/);
});

test('an address with line breaks and control characters ends no list', async () => {
  const { headers, createSite, read } = await startTenant();
  const usual = await createSite();
  const odd = await createSite({
    address: {
      streetName: 'a\u0001b',
      houseNumber: '',
      zipCode: '20095\nHamburg',
      city: 'Ham\u202eburg\r\n',
    },
  });
  const { data } = await read('from=2026-11-20&until=2026-11-20');
  assert.deepEqual(data.map(({ siteId }) => siteId).sort(), [usual, odd].sort());
  assert.equal((await service.get('/attention', { headers })).statusCode, 200);
});

test('a site that cannot be planned is missing alone, is logged, and needs attention', async () => {
  const { headers, tenantId, createSite, read } = await startTenant();
  const usual = await createSite();
  const broken = await createSite({ name: 'Crater' });
  // As after a restore on a machine that does not know a new zone yet.
  await service.owner.query('UPDATE site SET time_zone = $1 WHERE tenant_id = $2 AND id = $3', [
    'Moon/Crater',
    tenantId,
    broken,
  ]);
  const { data } = await read('from=2026-11-20&until=2026-11-27');
  assert.deepEqual(
    data.map(({ siteId }) => siteId),
    [usual, usual],
  );
  const warnings = service.logLines
    .map((line) => JSON.parse(line))
    .filter(({ recordId }) => recordId === broken);
  assert.deepEqual(
    warnings.map(({ level, work, error }) => [level, work, error]),
    [[40, 'visits', 'RangeError']],
  );
  const attention = await service.get('/attention', { headers });
  assert.deepEqual(
    attention.json().data.map(({ id, code }: { id: string; code: string }) => `${id} ${code}`),
    [`${broken} plan_failed`],
  );
});
