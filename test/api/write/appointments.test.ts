// Appointments and absences as resources: what their definitions add to the language of definitions.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPerson } from '../../helpers/office.ts';
import { listen } from '../../helpers/raw-client.ts';
import { startService, validSite } from '../../helpers/service.ts';
import { sendImport } from '../import/import-client.ts';

const service = await startService();
const port = await listen(service.app);

async function startBusiness() {
  const { key, tenantId } = await service.createTenant();
  const headers = { apikey: key };
  const send = (path: string, body: object) => service.post(path, body, { headers });
  const create = async (path: string, body: object): Promise<string> => {
    const response = await send(path, body);
    assert.equal(response.statusCode, 201, response.body);
    return response.json().id;
  };
  const customerId = await service.createCustomer({}, { headers });
  const createSite = (externalId: string) =>
    create('/customer/site', { ...validSite(customerId), externalId });
  const siteId = await createSite('S1');
  const replacing = (plannedDate: string, more: object = {}) => ({
    siteId,
    date: '2026-12-23',
    plannedDate,
    ...more,
  });
  return { key, tenantId, headers, send, create, createSite, siteId, replacing };
}

const path = '/customer/site/appointment';

test('one planned visit has at most one appointment, however it is written', async () => {
  const { key, headers, send, create, createSite, siteId, replacing } = await startBusiness();
  const id = await create(path, replacing('2026-12-24'));
  const assertTaken = (response: { statusCode: number; json(): { field: string; id: string } }) => {
    assert.equal(response.statusCode, 409);
    const { field, id: holder } = response.json();
    assert.deepEqual([field, holder], ['plannedDate', id]);
  };
  assertTaken(await send(path, replacing('2026-12-24')));
  const byExternalId = { siteExternalId: 'S1', date: '2026-12-22', plannedDate: '2026-12-24' };
  assertTaken(await send(path, byExternalId));
  assertTaken(await service.put('/appointments/by-external-id/T2', byExternalId, { headers }));
  const other = await create(path, replacing('2026-12-31'));
  assertTaken(await service.patch(`/appointments/${other}`, { plannedDate: '2026-12-24' }, { headers }));
  const elsewhere = await create(path, { ...replacing('2026-12-24'), siteId: await createSite('S2') });
  assertTaken(await service.patch(`/appointments/${elsewhere}`, { siteId }, { headers }));
  const lines = ['2026-12-24', '2027-01-07', '2027-01-07'].map((plannedDate) => ({
    type: 'appointment',
    data: { siteExternalId: 'S1', date: '2026-12-22', plannedDate },
  }));
  const { results } = await sendImport({ port, key }, lines);
  assert.deepEqual(
    results.map(({ status }) => status),
    [409, 201, 409],
  );
  // Extra visits replace nothing, and a freed day can be taken.
  await create(path, { siteId, date: '2026-12-23' });
  await create(path, { siteId, date: '2026-12-23' });
  assert.equal(
    (await service.patch(`/appointments/${id}`, { plannedDate: null }, { headers })).statusCode,
    200,
  );
  await create(path, replacing('2026-12-24'));
});

test('of appointments for one planned visit that arrive together, one is stored', async () => {
  const { send, replacing } = await startBusiness();
  const responses = await Promise.all(
    Array.from({ length: 10 }, () => send(path, replacing('2026-12-24', { timeFrom: '09:00' }))),
  );
  assert.deepEqual(responses.map(({ statusCode }) => statusCode).sort(), [
    201,
    ...Array.from({ length: 9 }, () => 409),
  ]);
});

test('sites with appointments for the same planned visit are not merged, others are', async () => {
  const { headers, create, createSite, siteId, replacing } = await startBusiness();
  const other = await createSite('S2');
  const id = await create(path, replacing('2026-12-24'));
  const twin = await create(path, { ...replacing('2026-12-24'), siteId: other });
  const merge = () => service.post(`/sites/${siteId}/merge`, { ids: [other] }, { headers });
  const refused = await merge();
  assert.equal(refused.statusCode, 409, refused.body);
  assert.deepEqual([refused.json().field, refused.json().id], ['plannedDate', [id, twin].sort()[0]]);
  await service.patch(`/appointments/${twin}`, { plannedDate: '2026-12-31' }, { headers });
  assert.equal((await merge()).statusCode, 200);
  assert.equal((await service.get(`/appointments/${twin}`, { headers })).json().siteId, siteId);
});

test('an appointment has times of a clock, and is confirmed unless it says otherwise', async () => {
  const { headers, send, create, siteId } = await startBusiness();
  const body = { siteId, date: '2026-12-23' };
  for (const wrong of [{ timeFrom: '8:00' }, { timeFrom: '24:00' }, { timeUntil: '24:01' }]) {
    const response = await send(path, { ...body, ...wrong });
    assert.deepEqual([response.statusCode, response.json().errors[0].code], [400, 'invalid_time']);
  }
  const id = await create(path, { ...body, timeFrom: '08:00', timeUntil: '24:00' });
  assert.equal((await service.get(`/appointments/${id}`, { headers })).json().status, 'CONFIRMED');
});

test('an absence names who is absent and who takes over, in either order of arrival', async () => {
  const { headers, send, create } = await startBusiness();
  const absent = {
    employeeExternalId: 'nils',
    from: '2026-12-21',
    until: '2027-01-08',
    substituteEmployeeExternalId: 'merle',
  };
  assert.equal((await send('/employee/absence', absent)).statusCode, 400);
  const nils = await create('/employee', { firstName: 'Nils', lastName: 'Oersted', externalId: 'nils' });
  const id = await create('/employee/absence', absent);
  const merle = await create('/employee', { firstName: 'Merle', lastName: 'Dierksen', externalId: 'merle' });
  const stored = (await service.get(`/absences/${id}`, { headers })).json();
  assert.deepEqual([stored.employeeId, stored.substituteEmployeeId], [nils, merle]);
  const overlapping = '/absences?fromUntil=2026-12-31&untilFrom=2026-12-28&sort=-from';
  assert.equal((await service.get(overlapping, { headers })).json().data.length, 1);
  assert.equal((await service.get('/absences?q=Dierksen', { headers })).json().data.length, 1);
  const turned = { ...absent, from: '2027-01-09' };
  assert.equal((await send('/employee/absence', turned)).json().errors[0].code, 'date_order');
});

test('Pflege sees appointments and no absences', async () => {
  const { tenantId, create, siteId } = await startBusiness();
  const employeeId = await create('/employee', { firstName: 'Nils', lastName: 'Oersted' });
  const from = { from: '2026-12-21', until: '2027-01-08' };
  const id = await create('/employee/absence', { employeeId, ...from, reason: 'SICK', comment: 'Grippe' });
  await create(path, { siteId, date: '2026-12-23' });
  const carer = await createPerson(service, { tenantId, role: 'PFLEGE' });
  assert.equal((await carer.call('GET', '/appointments')).json().data.length, 1);
  for (const hidden of ['/absences', `/absences/${id}`, `/absences/${id}/history`, '/absences/2026-12-21'])
    assert.notEqual((await carer.call('GET', hidden)).statusCode, 200, hidden);
  assert.doesNotMatch((await carer.call('GET', '/definitions')).body, /"absence"/);
  assert.doesNotMatch((await carer.call('GET', '/search?q=Oersted')).body, /"absence"/);
  assert.deepEqual((await carer.call('GET', '/search?q=Grippe')).json().data, []);
});
