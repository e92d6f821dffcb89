// Visits with appointments and absences, as GET /visits lists them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startService, validAddress, validSite } from '../../helpers/service.ts';

const service = await startService();
const weekdays = ['MONDAY', 'TUESDAY', 'WEDNESDAY', 'THURSDAY', 'FRIDAY'];
const openingHours = weekdays.map((dayOfWeek) => ({ dayOfWeek, opens: '08:00', closes: '17:00' }));
const tuesdays = { frequency: 'WEEKLY', byDay: ['TUESDAY'], durationInMinutes: 60, toleranceInDays: 2 };

interface Visit {
  date: string;
  siteId: string;
  employeeId?: string;
  status: string;
  conflicts: string[];
  [name: string]: unknown;
}

async function startBusiness() {
  const { key } = await service.createTenant();
  const headers = { apikey: key };
  const create = async (path: string, body: object): Promise<string> => {
    const response = await service.post(path, body, { headers });
    assert.equal(response.statusCode, 201, response.body);
    return response.json().id;
  };
  const customerId = await service.createCustomer({}, { headers });
  const employee = (firstName: string) =>
    create('/employee', { firstName, lastName: 'X', externalId: firstName });
  const [nils, merle, bulent] = [await employee('Nils'), await employee('Merle'), await employee('Bülent')];
  const createSite = (changes: object = {}) =>
    create('/customer/site', {
      ...validSite(customerId),
      address: { ...validAddress, location: { lat: 53.5, lng: 10 } },
      attendingIntervals: [tuesdays],
      openingHours,
      assignedEmployeeId: nils,
      ...changes,
    });
  const agree = (siteId: string, body: object) => create('/customer/site/appointment', { siteId, ...body });
  const absent = (employeeId: string, body: object) => create('/employee/absence', { employeeId, ...body });
  const read = async (query: string): Promise<Visit[]> => {
    const response = await service.get(`/visits?${query}`, { headers });
    assert.equal(response.statusCode, 200, response.body);
    return response.json().data;
  };
  return { headers, nils, merle, bulent, create, createSite, agree, absent, read };
}

const november = 'from=2026-11-23&until=2026-12-06';

test('an appointment moves, cancels or adds a visit, and its deletion takes that back', async () => {
  const { headers, createSite, agree, read, merle } = await startBusiness();
  const siteId = await createSite();
  const days = async () => (await read(november)).map(({ date, status }) => `${date} ${status}`);
  const planned = ['2026-11-24 PLANNED', '2026-12-01 PLANNED'];
  assert.deepEqual(await days(), planned);
  const moved = await agree(siteId, {
    date: '2026-11-26',
    plannedDate: '2026-11-24',
    timeFrom: '10:00',
    employeeId: merle,
    comment: 'Pforte',
  });
  const cancelled = await agree(siteId, {
    date: '2026-12-01',
    plannedDate: '2026-12-01',
    status: 'CANCELLED',
  });
  const extra = await agree(siteId, { date: '2026-12-04', status: 'PROPOSED' });
  const [first, second, third] = await read(november);
  assert.partialDeepStrictEqual(first, {
    date: '2026-11-26',
    status: 'APPOINTMENT',
    plannedDate: '2026-11-24',
    movedFrom: '2026-11-24',
    windows: [{ from: '10:00', until: '11:00' }],
    durationInMinutes: 60,
    employeeId: merle,
    appointmentId: moved,
    appointmentStatus: 'CONFIRMED',
    appointmentComment: 'Pforte',
    conflicts: [],
  });
  assert.partialDeepStrictEqual(second, {
    date: '2026-12-01',
    status: 'CANCELLED',
    windows: [],
    conflicts: [],
  });
  assert.deepEqual([third!.status, third!.plannedDate], ['APPOINTMENT', undefined]);
  for (const id of [moved, cancelled, extra])
    assert.equal((await service.delete(`/appointments/${id}`, { headers })).statusCode, 204);
  assert.deepEqual(await days(), planned);
});

test('a site without intervals has the visits that were agreed', async () => {
  const { createSite, agree, read } = await startBusiness();
  const siteId = await createSite({ attendingIntervals: undefined });
  await agree(siteId, { date: '2026-11-25', timeFrom: '16:30', durationInMinutes: 60 });
  const visits = await read(november);
  assert.deepEqual(
    visits.map(({ date, conflicts }) => [date, ...conflicts]),
    [['2026-11-25', 'outside_hours']],
  );
});

test('while an employee is absent, the substitute has the visits, and then the employee again', async () => {
  const { headers, nils, merle, bulent, createSite, absent, read } = await startBusiness();
  await createSite();
  const who = async (query = '') =>
    (await read(`${november}${query}`)).map(({ date, employeeId }) => `${date} ${employeeId}`);
  const usual = [`2026-11-24 ${nils}`, `2026-12-01 ${nils}`];
  assert.deepEqual(await who(), usual);
  const id = await absent(nils, { from: '2026-11-23', until: '2026-11-27', substituteEmployeeId: merle });
  assert.deepEqual(await who(), [`2026-11-24 ${merle}`, `2026-12-01 ${nils}`]);
  assert.deepEqual(await who(`&employeeId=${merle}`), [`2026-11-24 ${merle}`]);
  assert.deepEqual(await who(`&employeeId=${nils}`), [`2026-12-01 ${nils}`]);
  assert.deepEqual(await who('&employeeExternalId=Merle'), [`2026-11-24 ${merle}`]);
  assert.deepEqual(await who(`&employeeId=${bulent}`), []);
  assert.equal((await read(november))[0]!.absentEmployeeId, nils);
  // The substitute is ill as well.
  await absent(merle, { from: '2026-11-24', until: '2026-11-24', reason: 'SICK' });
  const [first] = await read(november);
  assert.deepEqual([first!.employeeId, first!.conflicts], [undefined, ['no_employee']]);
  assert.equal((await service.delete(`/absences/${id}`, { headers })).statusCode, 204);
  assert.deepEqual(await who(), usual);
});

test('an employee who is double booked, or has too much for a day, is a conflict also beyond a page', async () => {
  const { nils, merle, createSite, agree, read } = await startBusiness();
  const sites = [
    await createSite({ appointmentPreparationTimeInMinutes: 30 }),
    await createSite(),
    await createSite(),
  ];
  const day = { date: '2026-11-25', durationInMinutes: 60 };
  await agree(sites[0]!, { ...day, timeFrom: '10:00' });
  await agree(sites[1]!, { ...day, timeFrom: '09:00' });
  await agree(sites[2]!, { ...day, timeFrom: '09:00', employeeId: merle });
  const wednesday = 'from=2026-11-25&until=2026-11-25';
  const conflictsOf = (visits: Visit[]) => visits.map(({ conflicts }) => conflicts.join());
  assert.deepEqual(conflictsOf(await read(wednesday)), ['double_booked', 'double_booked', '']);
  assert.deepEqual(conflictsOf(await read(`${wednesday}&siteId=${sites[1]}`)), ['double_booked']);
  assert.deepEqual(conflictsOf(await read(`${wednesday}&limit=1`)), ['double_booked']);
  for (const siteId of sites) await agree(siteId, { date: '2026-11-26', durationInMinutes: 200 });
  const thursday = 'from=2026-11-26&until=2026-11-26';
  const all = await read(thursday);
  assert.deepEqual(conflictsOf(all), Array(3).fill('too_much_for_the_day'));
  assert.deepEqual(all[0]!.employeeId, nils);
  assert.deepEqual(conflictsOf(await read(`${thursday}&limit=1`)), ['too_much_for_the_day']);
});

test('pages of any size hold every visit and every appointment once', async () => {
  const { merle, nils, createSite, agree, absent, read, headers } = await startBusiness();
  const sites = [await createSite(), await createSite(), await createSite()];
  await agree(sites[0]!, { date: '2026-11-24' });
  await agree(sites[0]!, { date: '2026-11-24' });
  await agree(sites[1]!, { date: '2026-11-24', plannedDate: '2026-12-01' });
  await agree(sites[2]!, { date: '2026-11-30', plannedDate: '2026-11-24', employeeId: merle });
  await absent(nils, { from: '2026-11-20', until: '2026-11-24', substituteEmployeeId: merle });
  const whole = await read(`${november}&employeeId=${merle}`);
  assert.equal(whole.length, 6);
  for (const limit of [1, 2, 4]) {
    const pages: Visit[] = [];
    let cursor = '';
    do {
      const query = `/visits?${november}&employeeId=${merle}&limit=${limit}${cursor && `&cursor=${cursor}`}`;
      const page = (await service.get(query, { headers })).json();
      pages.push(...page.data);
      cursor = page.nextCursor ?? '';
    } while (cursor);
    assert.deepEqual(pages, whole);
  }
});
