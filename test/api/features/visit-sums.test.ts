// The sums of the week board beside the visits that GET /visits lists.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPerson } from '../../helpers/office.ts';
import { startService, validAddress, validSite } from '../../helpers/service.ts';

const service = await startService();
const week = 'from=2026-11-23&until=2026-11-29';
const unknownId = '0198c0de-0000-7000-8000-000000000001';
const weekdays = ['MONDAY', 'TUESDAY', 'WEDNESDAY', 'THURSDAY', 'FRIDAY', 'SATURDAY'];

interface Visit {
  siteId: string;
  date: string;
  employeeId?: string;
  employee?: object;
  status: string;
  durationInMinutes?: number;
  preparationInMinutes?: number;
}

test('sums and the filter for visits without an employee agree with the list of visits', async () => {
  const { key, tenantId } = await service.createTenant();
  const headers = { apikey: key };
  const create = async (path: string, body: object): Promise<string> => {
    const response = await service.post(path, body, { headers });
    assert.equal(response.statusCode, 201, response.body);
    return response.json().id;
  };
  const customerId = await service.createCustomer({}, { headers });
  const [ida, jonas, kai] = await Promise.all(
    ['Ida', 'Jonas', 'Kai'].map((firstName) => create('/employee', { firstName, lastName: 'Harms' })),
  );
  const assigned = [ida, jonas, kai, unknownId, undefined];
  const sites = await Promise.all(
    Array.from({ length: 30 }, (_, index) =>
      create('/customer/site', {
        ...validSite(customerId),
        address: { ...validAddress, zipCode: index % 2 ? '20095' : '24103', city: 'Hamburg' },
        attendingIntervals: [
          { frequency: 'WEEKLY', byDay: [weekdays[index % 6]], durationInMinutes: 10 + index },
        ],
        openingHours: index % 7 ? [] : [{ dayOfWeek: 'SUNDAY', opens: '08:00', closes: '09:00' }],
        appointmentPreparationTimeInMinutes: index % 4 ? undefined : 15,
        assignedEmployeeId: assigned[index % 5],
      }),
    ),
  );
  const agree = (index: number, body: object) =>
    create('/customer/site/appointment', { siteId: sites[index], date: '2026-11-26', ...body });
  await agree(0, { employeeId: jonas });
  await agree(1, { plannedDate: '2026-11-24', status: 'CANCELLED' });
  await agree(3, { employeeId: ida, durationInMinutes: 90 });
  await agree(4, { employeeId: unknownId });
  const absent = (employeeId: string | undefined, body: object) =>
    create('/employee/absence', { employeeId, from: '2026-11-24', until: '2026-11-26', ...body });
  await absent(ida, { substituteEmployeeId: jonas });
  await absent(kai, {});

  const { call } = await createPerson(service, { tenantId });
  const office = async (path: string) => {
    const answer = await call('GET', path);
    assert.equal(answer.statusCode, 200, answer.body);
    return answer.json();
  };
  const list = async (query: string, days = week): Promise<Visit[]> =>
    (await service.get(`/visits?${days}&include=employee&limit=500${query}`, { headers })).json().data;
  for (const query of [
    '',
    '&zipCode=200',
    '&zipCode=20095',
    `&employeeId=${jonas}`,
    '&unassigned=true',
    '&needsAppointment=true',
  ]) {
    const expected = new Map<string, number[]>();
    const all = await list(query);
    assert.ok(all.length > 0, query);
    for (const visit of all) {
      const employeeId = visit.employee ? visit.employeeId : undefined;
      const sum = expected.getOrInsertComputed(`${visit.date} ${employeeId}`, () => [0, 0, 0]);
      const isOn = !['SKIPPED', 'CANCELLED'].includes(visit.status);
      sum[0]! += Number(isOn);
      sum[1]! += isOn ? (visit.durationInMinutes ?? 0) + (visit.preparationInMinutes ?? 0) : 0;
      sum[2]! += 1;
    }
    const { data, nextCursor } = await office(`/visit-sums?${week}${query}`);
    assert.equal(nextCursor, null);
    const found = new Map<string, number[]>(
      data.map(({ date, employeeId, visits, minutes, listed }: Record<string, never>) => [
        `${date} ${employeeId}`,
        [visits, minutes, listed],
      ]),
    );
    assert.deepEqual([...found].sort(), [...expected].sort(), query);
  }
  const alone = Array.from({ length: 7 }, (_, index) => `2026-11-${23 + index}`);
  const days = await Promise.all(alone.map((day) => list('', `from=${day}&until=${day}`)));
  assert.deepEqual(days.flat(), await list(''));
  const nobody = (await list('')).filter(({ employee }) => !employee);
  assert.deepEqual(await list('&unassigned=true'), nobody);
  assert.ok(nobody.some(({ employeeId }) => employeeId === unknownId));
});
