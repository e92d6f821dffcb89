import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { createPerson } from '../api/office.ts';
import { withoutChromium } from '../programs.ts';
import { validAddress, validSite } from '../service.ts';
import { until } from '../waiting.ts';
import { findBarriers, type Office, openOffice } from './office.ts';

const weekdays = ['MONDAY', 'TUESDAY', 'WEDNESDAY', 'THURSDAY', 'FRIDAY'];
const openingHours = weekdays.map((dayOfWeek) => ({ dayOfWeek, opens: '08:00', closes: '17:00' }));

describe('the visits', { skip: withoutChromium }, () => {
  let office: Office;
  let clerk: string;
  let carer: string;
  let siteId: string;
  const employees: Record<string, string> = {};
  before(async () => {
    office = await openOffice();
    ({ email: clerk } = await createPerson(office));
    ({ email: carer } = await createPerson(office, { role: 'PFLEGE' }));
    const create = async (path: string, body: object) => (await office.post(path, body)).json().id as string;
    for (const firstName of ['Ida', 'Jonas'])
      employees[firstName] = await create('/employee', { firstName, lastName: 'Harms' });
    const customerId = await office.createCustomer();
    const contactPersonId = await create('/customer/contact-person', {
      ...{ customerId, lastName: 'Petersen', phone: '040 555' },
    });
    siteId = await create('/customer/site', {
      ...validSite(customerId),
      name: 'Empfang',
      hasKey: true,
      comment: 'Am Tor klingeln',
      address: { ...validAddress, zipCode: '20095', city: 'Hamburg' },
      attendingIntervals: [
        { frequency: 'WEEKLY', byDay: ['FRIDAY'], durationInMinutes: 90, toleranceInDays: 3 },
      ],
      openingHours,
      contactPersonId,
      assignedEmployeeId: employees.Ida,
    });
  });

  async function assignedEmployee(): Promise<unknown> {
    return (await office.get(`/sites/${siteId}`)).json().assignedEmployeeId;
  }

  test('of a week stand by employee, move by drag, and move back', async () => {
    const { page, complaints } = await office.enter(clerk);
    await page.goto(`${office.origin}/visits?day=2026-12-21`);
    const row = (name: string) => page.getByRole('row', { name });
    await row('Ida Harms').getByRole('link', { name: 'Empfang' }).waitFor();
    await row('Ida Harms').getByText('verschoben vom 25. Dezember wegen 1. Weihnachtstag').waitFor();
    await row('Ida Harms').getByText('1 Besuch · 1,5 Std.').first().waitFor();
    assert.deepEqual(await findBarriers(page), []);

    await row('Ida Harms').getByRole('listitem').dragTo(row('Jonas Harms'));
    await row('Jonas Harms').getByRole('link', { name: 'Empfang' }).waitFor();
    assert.equal(await assignedEmployee(), employees.Jonas);
    await page.getByRole('button', { name: 'Rückgängig' }).click();
    await row('Ida Harms').getByRole('link', { name: 'Empfang' }).waitFor();
    assert.equal(await assignedEmployee(), employees.Ida);

    await page.getByRole('button', { name: 'Später' }).click();
    await page.waitForURL(/day=2026-12-28/);
    assert.deepEqual(complaints, []);
    await page.context().close();
  });

  test('change their employee by keyboard', async () => {
    const { page } = await office.enter(clerk);
    await page.goto(`${office.origin}/visits?day=2026-12-21`);
    await page.getByRole('button', { name: 'Mitarbeiter ändern: Empfang' }).press('Enter');
    const picker = page.getByRole('dialog').getByRole('combobox', { name: 'Mitarbeiter' });
    await picker.press('ArrowDown');
    const option = page.getByRole('option', { name: /Jonas/ });
    await option.waitFor();
    const isActive = async () => (await option.getAttribute('data-combobox-selected')) === 'true';
    for (let presses = 0; presses < 5 && !(await isActive()); presses += 1) await picker.press('ArrowDown');
    await picker.press('Enter');
    await until('the new employee', async () => (await assignedEmployee()) === employees.Jonas);
    await page.context().close();
  });

  test('change their employee by typing a name', async () => {
    const { page } = await office.enter(clerk);
    await page.goto(`${office.origin}/visits?day=2026-12-21`);
    await page.getByRole('button', { name: 'Mitarbeiter ändern: Empfang' }).press('Enter');
    const picker = page.getByRole('dialog').getByRole('combobox', { name: 'Mitarbeiter' });
    await until('the current employee', async () => (await picker.inputValue()) === 'Jonas Harms');
    await picker.focus();
    await picker.pressSequentially('Ida');
    const options = page.getByRole('option');
    await until('Ida is the first', async () => /Ida/.test((await options.allTextContents())[0] ?? ''));
    await picker.press('ArrowDown');
    await picker.press('Enter');
    await until('the new employee', async () => (await assignedEmployee()) === employees.Ida);
    await page.context().close();
  });

  test('lead to the day sheet of their day and employee, and back', async () => {
    const { page } = await office.enter(clerk);
    await page.goto(`${office.origin}/visits?day=2026-12-24&view=day&employeeId=${employees.Ida}`);
    await page.getByRole('main').getByRole('link', { name: 'Tagesblatt' }).click();
    await page.waitForURL(new RegExp(`/day-sheet\\?date=2026-12-24&employeeId=${employees.Ida}`));
    await page
      .getByRole('region', { name: 'Ida Harms' })
      .getByRole('rowheader', { name: /Empfang/ })
      .waitFor();
    await page.getByRole('main').getByRole('link', { name: 'Besuche' }).click();
    await page.waitForURL(/\/visits\?day=2026-12-24&view=day&employeeId=/);
    await page.context().close();
  });

  test('of a day tell the way, the contact and the key; Pflege reads them on a phone', async () => {
    const { page, complaints } = await office.enter(carer);
    await page.setViewportSize({ width: 390, height: 800 });
    await page.goto(`${office.origin}/visits?day=2026-12-24&view=day&by=place`);
    for (const text of ['Ballindamm 17a, 20095 Hamburg', 'Am Tor klingeln', 'Schlüssel vorhanden'])
      await page.getByText(text).waitFor();
    await page.getByRole('link', { name: '040 555' }).waitFor();
    assert.equal(await page.getByRole('button', { name: /Mitarbeiter ändern/ }).count(), 0);
    const width = await page.evaluate(() => document.documentElement.scrollWidth);
    assert.ok(width <= 390, `${width}`);
    assert.deepEqual(await findBarriers(page), []);
    assert.deepEqual(complaints, []);
    await page.context().close();
  });

  test('on holidays follow the rule that the office chooses', async () => {
    const { page } = await office.enter(clerk);
    await page.goto(`${office.origin}/visits?day=2026-12-25&view=day`);
    await page.getByText('Keine Besuche').waitFor();
    await page.getByRole('combobox', { name: 'Besuche an Feiertagen' }).click();
    await page.getByRole('option', { name: 'auslassen' }).click();
    await page.getByText('entfällt wegen 1. Weihnachtstag').waitFor();
    await page.context().close();
  });
});
