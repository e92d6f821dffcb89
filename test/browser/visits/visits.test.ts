import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { createPerson } from '../../helpers/office.ts';
import { withoutChromium } from '../../helpers/programs.ts';
import { validAddress, validSite } from '../../helpers/service.ts';
import { until } from '../../helpers/waiting.ts';
import { findBarriers, type Office, openOffice } from '../helpers/office.ts';

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
      create,
      enter: async (role: 'VERWALTUNG' | 'PFLEGE' = 'VERWALTUNG') =>
        office.enter((await createPerson(office, { tenantId, role })).email),
      assignedEmployee: async (): Promise<unknown> =>
        (await office.get(`/sites/${siteId}`, { headers })).json().assignedEmployeeId,
    };
  }

  test('of a week stand by person and move by drag, once or from now on, and back', async () => {
    const { ida, jonas, enter, assignedEmployee } = await startBusiness();
    const { page, complaints } = await enter();
    await page.goto(`${office.origin}/visits?day=2026-12-14`);
    const visit = page.getByRole('gridcell', { name: /Empfang Hamburg/ });
    const cell = (person: string, day: string) =>
      page.locator(`[role=row][data-sum] [data-person="${person}"][data-day="${day}"]`);
    const load = (person: string, day: string) =>
      cell(person, day).getByText('1 Besuch · 1,5 Std.').waitFor();
    await load(ida, '2026-12-18');
    assert.deepEqual(await findBarriers(page), []);

    const dialog = page.getByRole('dialog', { name: 'Besuch verschieben' });
    await visit.dragTo(cell(jonas, '2026-12-16'));
    await dialog.getByRole('button', { name: 'Nur diesmal' }).waitFor();
    assert.deepEqual(await findBarriers(page), []);
    await dialog.getByRole('button', { name: 'Nur diesmal' }).click();
    await page.getByText('Empfang: nur diesmal Mi., 16.12., Jonas Harms').waitFor();
    await load(jonas, '2026-12-16');
    assert.equal(await assignedEmployee(), ida);
    await page.getByRole('button', { name: 'Rückgängig' }).click();
    await page.getByRole('gridcell', { name: /Empfang Hamburg.*Freitag, 18/ }).waitFor();

    await visit.dragTo(cell(jonas, '2026-12-16'));
    await dialog.getByRole('button', { name: 'Ab jetzt' }).click();
    await page.getByText('Empfang: ab jetzt Mittwoch, Jonas Harms').waitFor();
    await load(jonas, '2026-12-16');
    assert.equal(await assignedEmployee(), jonas);
    await page.getByRole('button', { name: 'Später' }).click();
    await page.waitForURL(/day=2026-12-21/);
    await load(jonas, '2026-12-23');
    await page.getByRole('button', { name: 'Rückgängig' }).click();
    // The visit of the 25th moves away from the holiday.
    await load(ida, '2026-12-24');
    assert.equal(await assignedEmployee(), ida);
    assert.deepEqual(complaints, []);
    await page.context().close();
  });

  test('move by keyboard alone', async () => {
    const { ida, jonas, enter, assignedEmployee } = await startBusiness();
    const { page, complaints } = await enter();
    await page.goto(`${office.origin}/visits?day=2026-12-14`);
    const visit = page.getByRole('gridcell', { name: /Empfang Hamburg/ });
    await visit.waitFor();
    await page.getByRole('button', { name: /^Alle (zu|auf)klappen$/ }).focus();
    await page.keyboard.press('Tab');
    for (const key of ['ArrowDown', 'End', 'ArrowLeft']) await page.keyboard.press(key);
    await until('the visit has the focus', async () => (await visit.getAttribute('tabindex')) === '0');
    await page.keyboard.press('m');
    for (const key of ['ArrowDown', 'ArrowLeft']) await page.keyboard.press(key);
    await page.getByText('Verschieben nach Jonas Harms, Donnerstag, 17. Dezember. Pfeile').waitFor();
    // Somebody who chooses before the name has arrived reads it in the notice, too.
    const { promise: isChosen, resolve: letItCome } = Promise.withResolvers<void>();
    await page.route('**/app/named/employees*', async (route) => {
      await isChosen;
      await route.continue();
    });
    await page.keyboard.press('Enter');
    const once = page.getByRole('dialog').getByRole('button', { name: 'Nur diesmal' });
    await once.waitFor();
    await until('the choice has the focus', () =>
      once.evaluate((button) => button === document.activeElement),
    );
    await page.keyboard.press('Enter');
    letItCome();
    await page.getByText('Empfang: nur diesmal Do., 17.12., Jonas Harms').waitFor();
    await page
      .locator(`[data-sum] [data-person="${jonas}"][data-day="2026-12-17"]`)
      .getByText('1 Besuch')
      .waitFor();
    assert.equal(await assignedEmployee(), ida);
    assert.deepEqual(complaints, []);
    await page.context().close();
  });

  test('change once by the menu: another day and time, cancelled, and as planned again', async () => {
    const { enter } = await startBusiness();
    const { page, complaints } = await enter();
    await page.goto(`${office.origin}/visits?day=2026-12-14`);
    const visit = (words: RegExp) => page.getByRole('gridcell', { name: words });
    const change = async () => {
      await visit(/Empfang Hamburg/).click();
      await page.getByRole('menuitem', { name: 'Nur diesmal ändern' }).click();
    };
    await visit(/Empfang Hamburg/).click();
    await page.getByRole('menuitem', { name: /Empfang/ }).waitFor();
    assert.deepEqual(await findBarriers(page), []);
    await page.keyboard.press('Escape');
    await change();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('Gilt nur für den Besuch am Freitag, 18. Dezember, Standort Empfang.').waitFor();
    assert.deepEqual(await findBarriers(page), []);
    await dialog.getByRole('textbox', { name: 'Tag' }).fill('16.12.2026');
    await dialog.getByRole('textbox', { name: 'Von' }).fill('930');
    await dialog.getByRole('button', { name: 'Speichern' }).click();
    await visit(/^09:30 Empfang Hamburg.*Mittwoch, 16\. Dezember/).waitFor();

    await change();
    await dialog.getByRole('button', { name: 'Ausfallen lassen' }).click();
    await visit(/, fällt aus, /).waitFor();
    await page.getByRole('columnheader', { name: 'Mi., 16.12. 1 fällt aus' }).waitFor();
    await page.getByRole('columnheader', { name: 'Do., 17.12. 0 Besuche' }).waitFor();
    await change();
    await dialog.getByRole('button', { name: 'Zurücknehmen' }).click();
    await page.getByText('Wieder wie geplant').waitFor();
    await visit(/Freitag, 18\. Dezember/).waitFor();
    assert.deepEqual(complaints, []);
    await page.context().close();
  });

  test('go to the substitute while an employee is absent, after a look at each day, and back', async () => {
    const { ida, jonas, enter } = await startBusiness();
    const { page, complaints } = await enter();
    // Names may come after the choice, and are in the notice, too.
    const { promise: isSaved, resolve: letItCome } = Promise.withResolvers<void>();
    await page.route('**/app/named/employees*', async (route) => {
      await isSaved;
      await route.continue();
    });
    await page.goto(`${office.origin}/visits?day=2026-12-14&employeeId=${ida}`);
    const visit = page.getByRole('gridcell', { name: /Empfang Hamburg/ });
    await visit.waitFor();
    await page.getByRole('button', { name: 'Abwesenheit eintragen' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('textbox', { name: 'Letzter Tag' }).fill('31.12.2026');
    await dialog.getByText('3 Besuche haben dann keinen Mitarbeiter').waitFor();
    const picker = dialog.getByRole('combobox', { name: 'Vertretung' });
    await picker.fill('Jonas');
    await page.getByRole('option', { name: /Jonas/ }).click();
    await dialog.getByText('3 Besuche gehen an die Vertretung').waitFor();
    await dialog.getByRole('row', { name: 'Do., 24.12. 1 Besuch zusammen 1,5 Std.' }).waitFor();
    assert.deepEqual(await findBarriers(page), []);
    await dialog.getByRole('button', { name: 'Speichern' }).click();
    letItCome();
    await page.getByText('Ida Harms: abwesend vom 14.12.2026 bis 31.12.2026').waitFor();
    await page.getByText('Keine Besuche').waitFor();
    await page.getByRole('button', { name: 'Rückgängig' }).click();
    await visit.waitFor();
    assert.equal((await visit.getAttribute('data-person')) === jonas, false);
    assert.deepEqual(complaints, []);
    await page.context().close();
  });

  test('have absences in a table whose columns each say their own day', async () => {
    const { create, ida, enter } = await startBusiness();
    await create('/employee/absence', { employeeId: ida, from: '2026-12-21', until: '2027-01-08' });
    const { page } = await enter();
    await page.goto(`${office.origin}/data/absences`);
    const row = page.locator('[data-place^="0:"]');
    await row.getByText('Ida Harms').waitFor();
    assert.deepEqual((await row.allTextContents()).slice(0, 3), ['21.12.2026', 'Ida Harms', '08.01.2027']);
    await page.setViewportSize({ width: 390, height: 800 });
    await page.getByRole('link', { name: '21.12.2026 – 08.01.2027' }).waitFor();
    await page.context().close();
  });

  test('have a head with one row of buttons at 1024 pixels', async () => {
    const { enter } = await startBusiness();
    const { page } = await enter();
    await page.setViewportSize({ width: 1024, height: 768 });
    await page.goto(`${office.origin}/visits?day=2026-12-14`);
    const head = page.locator('main header');
    await head.getByRole('button', { name: 'Abwesenheit eintragen' }).waitFor();
    const tops = await head
      .locator('.mantine-Button-root')
      .evaluateAll((buttons) => buttons.map((button) => button.getBoundingClientRect().top));
    assert.deepEqual([tops.length, new Set(tops).size], [4, 1]);
    await page.context().close();
  });

  test('change their employee for good by typing a name', async () => {
    const { jonas, enter, assignedEmployee } = await startBusiness();
    const { page } = await enter();
    await page.goto(`${office.origin}/visits?day=2026-12-24&view=day`);
    await page.getByRole('button', { name: 'Verschieben: Empfang' }).press('Enter');
    const dialog = page.getByRole('dialog');
    const picker = dialog.getByRole('combobox', { name: 'Mitarbeiter' });
    await until('the current employee', async () => (await picker.inputValue()) === 'Ida Harms');
    await picker.focus();
    await picker.pressSequentially('Jonas');
    const options = page.getByRole('option');
    await until('Jonas is the first', async () => /Jonas/.test((await options.allTextContents())[0] ?? ''));
    await picker.press('ArrowDown');
    await picker.press('Enter');
    await dialog.getByRole('button', { name: 'Ab jetzt' }).press('Enter');
    await until('the new employee', async () => (await assignedEmployee()) === jonas);
    await page.context().close();
  });

  test('keep town and day in the address, and arrow keys turn the pages', async () => {
    const { enter } = await startBusiness();
    const { page } = await enter();
    await page.goto(`${office.origin}/visits?day=2026-11-16`);
    const visited = page.getByRole('gridcell', { name: /Empfang Hamburg/ });
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
    assert.equal(await page.getByRole('button', { name: /Verschieben/ }).count(), 0);
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
    await page.goto(`${office.origin}/settings/visits`);
    await page.getByRole('combobox', { name: 'Besuche an Feiertagen' }).click();
    await page.getByRole('option', { name: 'auslassen' }).click();
    await page.getByText('Gespeichert').waitFor();
    await page.goto(`${office.origin}/visits?day=2026-12-25&view=day`);
    await page.getByText('entfällt wegen 1. Weihnachtstag').waitFor();
    await page.context().close();
  });
});
