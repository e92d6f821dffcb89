import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { before, describe, test } from 'node:test';
import { createPerson, type OfficePerson } from '../helpers/office.ts';
import { withoutChromium } from '../helpers/programs.ts';
import { validCustomer } from '../helpers/service.ts';
import { type Office, openOffice, type Visit } from './helpers/office.ts';

describe('the audit record in the office', { skip: withoutChromium }, () => {
  let office: Office;
  let vera: OfficePerson;
  let impostor: OfficePerson;
  let visit: Visit;
  /** Midnight may pass before the entries are looked at. */
  let firstDay: string;
  const toDay = (at: Date) => at.toLocaleDateString('sv');
  before(async () => {
    firstDay = toDay(new Date());
    office = await openOffice();
    vera = await createPerson(office, { name: 'Vera A' });
    impostor = await createPerson(office, { name: 'Vera A' });
    const colleague = await createPerson(office, { name: 'Kurt B', role: 'PFLEGE' });
    await vera.call('PATCH', `/people/${colleague.id}`, { role: 'VERWALTUNG' });
    await impostor.call('GET', '/customers.csv');
    await vera.call('PUT', '/visit-settings', { holidayRule: 'SKIP' });
    visit = await office.enter(vera.email);
  });

  test('tells who did what to whom, and people of the same name apart', async () => {
    const { page, complaints } = visit;
    await page.goto(`${office.origin}/settings`);
    await page.getByRole('link', { name: 'Protokoll' }).click();
    await page.getByRole('heading', { name: 'Protokoll' }).waitFor();
    const changed = page.getByRole('row', { name: /Person geändert/ });
    // A narrow screen has it below the event instead.
    await changed.getByRole('cell').getByText('Rolle: Pflege → Verwaltung').waitFor();
    await changed.getByRole('cell').getByText(vera.email).waitFor();
    const exported = page.getByRole('row', { name: /Daten exportiert/ });
    await exported.getByText(impostor.email).waitFor();
    await exported.getByRole('cell').getByText('Daten: Kunden').waitFor();
    const key = page.getByRole('row', { name: /API-Schlüssel erstellt/ });
    assert.equal(await key.locator('[data-actor=COMMAND_LINE]').textContent(), 'Kommandozeile');
    await key
      .getByRole('cell')
      .getByText(/^Schlüssel …/)
      .waitFor();
    const settings = page.getByRole('row', { name: /Besuche an Feiertagen: auslassen/ });
    await settings.waitFor();
    assert.deepEqual(complaints, []);
  });

  test('is filtered by event, person and period, in the address, and begins there again', async () => {
    const { page, complaints } = visit;
    await page.goto(`${office.origin}/settings/audit`);
    await page.getByRole('combobox', { name: 'Ereignis' }).click();
    await page.getByRole('option', { name: 'Daten exportiert' }).click();
    await page.waitForURL(/event=DATA_EXPORTED/);
    await page.getByRole('row', { name: /Person geändert/ }).waitFor({ state: 'detached' });
    await page.reload();
    await page.getByRole('row', { name: /Daten exportiert/ }).waitFor();
    assert.equal(await page.getByRole('row', { name: /Person geändert/ }).count(), 0);

    await page.goto(`${office.origin}/settings/audit?event=DATA_EXPORTED&actorId=${vera.id}`);
    await page.getByRole('heading', { name: 'Keine Einträge' }).waitFor();
    await page.getByRole('button', { name: 'Filter entfernen' }).click();
    await page.getByRole('row', { name: /Person geändert/ }).waitFor();

    await page.goto(`${office.origin}/settings/audit?from=${firstDay}&until=${toDay(new Date())}`);
    await page.getByRole('row', { name: /Person geändert/ }).waitFor();
    await page.goto(`${office.origin}/settings/audit?until=2020-01-01`);
    await page.getByRole('heading', { name: 'Keine Einträge' }).waitFor();
    assert.deepEqual(complaints, []);
  });

  test('leaves as CSV with the same filters', async () => {
    const { page } = visit;
    await page.goto(`${office.origin}/settings/audit?event=PERSON_CHANGED`);
    const download = page.waitForEvent('download');
    await page.getByRole('link', { name: 'Als CSV laden' }).click();
    const file = readFileSync((await (await download).path())!, 'utf8');
    assert.match(file, /^\ufeffZeit;Ereignis;/);
    assert.match(file, /Person geändert;Person;Vera A;/);
    assert.ok(!file.includes('Daten exportiert'));
  });

  test('its two days stand in one row at every width', async () => {
    const { page } = visit;
    await page.goto(`${office.origin}/settings/audit`);
    await page.getByRole('heading', { name: 'Protokoll' }).first().waitFor();
    for (const width of [390, 768, 1024, 1440]) {
      await page.setViewportSize({ width, height: 900 });
      const [from, until] = await Promise.all(
        ['Von', 'Bis'].map((name) => page.getByRole('textbox', { name, exact: true }).boundingBox()),
      );
      assert.equal(from!.y, until!.y, `${width} px`);
    }
  });

  test('is not for Pflege', async () => {
    const nurse = await createPerson(office, { role: 'PFLEGE' });
    const { page } = await office.enter(nurse.email);
    await page.goto(`${office.origin}/settings/audit`);
    await page.getByRole('heading', { name: 'Das macht Ihre Verwaltung' }).waitFor();
    assert.equal(await page.getByRole('link', { name: 'Protokoll' }).count(), 0);
    await page.goto(`${office.origin}/settings/people`);
    await page.getByRole('heading', { name: 'Das macht Ihre Verwaltung' }).waitFor();
    assert.equal(await page.getByRole('button', { name: 'Einladen' }).count(), 0);
  });

  test('the history of a record shows the address of a person, and an icon for the key', async () => {
    const { page } = visit;
    const id = (await office.post('/customer', { ...validCustomer, companyName: 'Verlauf GmbH' })).json().id;
    await impostor.call('PATCH', `/customers/${id}`, { companyName: 'Verlauf & Co.' });
    await page.goto(`${office.origin}/data/customers/${id}`);
    const changed = page.getByRole('listitem').filter({ hasText: 'Geändert von Vera A' });
    await changed.getByText(impostor.email).waitFor();
    const created = page.getByRole('listitem').filter({ hasText: 'von API (…' });
    await created.locator('svg').waitFor();
    assert.equal(await changed.locator('svg').count(), 0);
  });
});
