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
  before(async () => {
    office = await openOffice();
  });

  /** Each test has a business of its own, with a site that Ida visits on Fridays. */
  async function startBusiness() {
    const { key, tenantId } = await office.createTenant();
    const headers = { apikey: key };
    const create = async (path: string, body: object) =>
      (await office.post(path, body, { headers })).json().id as string;
    const [ida, jonas] = await Promise.all(
      ['Ida', 'Jonas'].map((firstName) => create('/employee', { firstName, lastName: 'Harms' })),
    );
    const customerId = await office.createCustomer({}, { headers });
    const contactPersonId = await create('/customer/contact-person', {
      ...{ customerId, lastName: 'Petersen', phone: '040 555' },
    });
    const siteId = await create('/customer/site', {
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
      assignedEmployeeId: ida,
    });
    return {
      ida: ida!,
      jonas: jonas!,
      enter: async (role: 'VERWALTUNG' | 'PFLEGE' = 'VERWALTUNG') =>
        office.enter((await createPerson(office, { tenantId, role })).email),
      assignedEmployee: async (): Promise<unknown> =>
        (await office.get(`/sites/${siteId}`, { headers })).json().assignedEmployeeId,
    };
  }

  test('of a week stand by employee, move by drag, and move back', async () => {
    const { ida, jonas, enter, assignedEmployee } = await startBusiness();
    const { page, complaints } = await enter();
    await page.goto(`${office.origin}/visits?day=2026-12-21`);
    const row = (name: string) => page.getByRole('row', { name });
    await row('Ida Harms').getByRole('link', { name: 'Empfang' }).waitFor();
    await row('Ida Harms').getByText('verschoben vom 25. Dezember wegen 1. Weihnachtstag').waitFor();
    await row('Ida Harms').getByText('1 Besuch · 1,5 Std.').first().waitFor();
    assert.deepEqual(await findBarriers(page), []);

    await row('Ida Harms').getByRole('listitem').dragTo(row('Jonas Harms'));
    await row('Jonas Harms').getByRole('link', { name: 'Empfang' }).waitFor();
    assert.equal(await assignedEmployee(), jonas);
    await page.getByRole('button', { name: 'Rückgängig' }).click();
    await row('Ida Harms').getByRole('link', { name: 'Empfang' }).waitFor();
    assert.equal(await assignedEmployee(), ida);

    await page.getByRole('button', { name: 'Später' }).click();
    await page.waitForURL(/day=2026-12-28/);
    assert.deepEqual(complaints, []);
    await page.context().close();
  });

  test('change their employee by keyboard', async () => {
    const { jonas, enter, assignedEmployee } = await startBusiness();
    const { page } = await enter();
    await page.goto(`${office.origin}/visits?day=2026-12-21`);
    await page.getByRole('button', { name: 'Mitarbeiter ändern: Empfang' }).press('Enter');
    const picker = page.getByRole('dialog').getByRole('combobox', { name: 'Mitarbeiter' });
    await picker.press('ArrowDown');
    const option = page.getByRole('option', { name: /Jonas/ });
    await option.waitFor();
    const isActive = async () => (await option.getAttribute('data-combobox-selected')) === 'true';
    for (let presses = 0; presses < 5 && !(await isActive()); presses += 1) await picker.press('ArrowDown');
    await picker.press('Enter');
    await until('the new employee', async () => (await assignedEmployee()) === jonas);
    await page.context().close();
  });

  test('change their employee by typing a name', async () => {
    const { jonas, enter, assignedEmployee } = await startBusiness();
    const { page } = await enter();
    await page.goto(`${office.origin}/visits?day=2026-12-21`);
    await page.getByRole('button', { name: 'Mitarbeiter ändern: Empfang' }).press('Enter');
    const picker = page.getByRole('dialog').getByRole('combobox', { name: 'Mitarbeiter' });
    await until('the current employee', async () => (await picker.inputValue()) === 'Ida Harms');
    await picker.focus();
    await picker.pressSequentially('Jonas');
    const options = page.getByRole('option');
    await until('Jonas is the first', async () => /Jonas/.test((await options.allTextContents())[0] ?? ''));
    await picker.press('ArrowDown');
    await picker.press('Enter');
    await until('the new employee', async () => (await assignedEmployee()) === jonas);
    await page.context().close();
  });

  test('keep town and day in the address, and arrow keys turn the pages', async () => {
    const { enter } = await startBusiness();
    const { page } = await enter();
    await page.goto(`${office.origin}/visits?day=2026-11-16`);
    const visited = page.getByRole('link', { name: 'Empfang' });
    await visited.waitFor();
    await page.getByRole('textbox', { name: 'Ort' }).fill('Bremen');
    await page.getByText('Keine Besuche').waitFor();
    await page.waitForURL(/day=2026-11-16&city=Bremen/);
    await page.reload();
    await page.getByText('Keine Besuche').waitFor();
    assert.equal(await page.getByRole('textbox', { name: 'Ort' }).inputValue(), 'Bremen');
    await page.getByRole('textbox', { name: 'Ort' }).fill('Hamburg');
    await visited.waitFor();
    await page.getByRole('heading', { name: 'Besuche' }).click();
    await page.keyboard.press('ArrowRight');
    await page.waitForURL(/day=2026-11-23&city=Hamburg/);
    await visited.waitFor();
    await page.context().close();
  });

  test('lead to the day sheet of their day and employee, and back', async () => {
    const { ida, enter } = await startBusiness();
    const { page } = await enter();
    await page.goto(`${office.origin}/visits?day=2026-12-24&view=day&employeeId=${ida}`);
    await page.getByRole('main').getByRole('link', { name: 'Tagesblatt' }).click();
    await page.waitForURL(new RegExp(`/day-sheet\\?date=2026-12-24&employeeId=${ida}`));
    await page
      .getByRole('region', { name: 'Ida Harms' })
      .getByRole('rowheader', { name: /Empfang/ })
      .waitFor();
    await page.getByRole('main').getByRole('link', { name: 'Besuche' }).click();
    await page.waitForURL(/\/visits\?day=2026-12-24&view=day&employeeId=/);
    await page.context().close();
  });

  test('of a day tell the way, the contact and the key; Pflege reads them on a phone', async () => {
    const { enter } = await startBusiness();
    const { page, complaints } = await enter('PFLEGE');
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
    const { enter } = await startBusiness();
    const { page } = await enter();
    await page.goto(`${office.origin}/visits?day=2026-12-25&view=day`);
    await page.getByText('Keine Besuche').waitFor();
    await page.getByRole('combobox', { name: 'Besuche an Feiertagen' }).click();
    await page.getByRole('option', { name: 'auslassen' }).click();
    await page.getByText('entfällt wegen 1. Weihnachtstag').waitFor();
    await page.context().close();
  });
});
