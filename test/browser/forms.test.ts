// Forms that spare a way: creating what a picker does not find, and editing one field where it stands.
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { createPerson } from '../helpers/office.ts';
import { withoutChromium } from '../helpers/programs.ts';
import { validSite } from '../helpers/service.ts';
import { until } from '../helpers/waiting.ts';
import { findBarriers, type Office, openOffice, type Visit } from './helpers/office.ts';

describe('forms', { skip: withoutChromium }, () => {
  let office: Office;
  let visit: Visit;
  before(async () => {
    office = await openOffice();
    visit = await office.enter((await createPerson(office)).email);
  });

  test('a picker creates the customer that it does not find, and the form keeps what was typed', async () => {
    const { page, complaints } = visit;
    await page.goto(`${office.origin}/data/sites/new`);
    await page.getByLabel('Bezeichnung').fill('Foyer');
    await page.getByRole('combobox', { name: 'Kunde' }).fill('Floristik Nord');
    await page.getByRole('option', { name: 'Kunde „Floristik Nord“ anlegen' }).click();
    const dialog = page.getByRole('dialog', { name: 'Kunde anlegen' });
    assert.equal(await dialog.getByLabel('Firma').inputValue(), 'Floristik Nord');

    // The service refuses it without an address, and the dialog stays.
    await dialog.getByRole('button', { name: 'Anlegen und übernehmen' }).click();
    await dialog.locator('#new-customer-address-city[aria-invalid=true]').waitFor();
    assert.deepEqual(await findBarriers(page), []);
    // Typed text is not thrown away by a key.
    await dialog.getByLabel('Straße').fill('Deichstraße');
    await page.keyboard.press('Escape');
    await dialog.getByLabel('PLZ').fill('20459');
    await dialog.getByLabel('Ort').fill('Hamburg');
    await dialog.getByRole('button', { name: 'Anlegen und übernehmen' }).click();
    await dialog.waitFor({ state: 'detached' });

    const chosen = page.getByRole('combobox', { name: 'Kunde' });
    await until('the new customer is chosen', async () => (await chosen.inputValue()) === 'Floristik Nord');
    assert.equal(await page.getByLabel('Bezeichnung').inputValue(), 'Foyer');
    await page.getByRole('button', { name: 'Kundenadresse übernehmen' }).click();
    await page.locator('#field-address-city[value=Hamburg]').waitFor();
    await page.getByRole('button', { name: 'Speichern', exact: true }).click();
    await page.getByRole('heading', { name: 'Foyer', level: 1 }).waitFor();
    const { data } = (await office.get('/sites?q=Foyer')).json();
    const { data: customers } = (await office.get('/customers?q=Floristik')).json();
    assert.equal(customers.length, 1);
    assert.equal(data[0].customerId, customers[0].id);
    assert.deepEqual(complaints, []);
  });

  test('a text that is no number is refused together with all other fields', async () => {
    const { page, complaints } = visit;
    await page.goto(`${office.origin}/data/contracts/new`);
    await page.locator('#field-netPrice').fill('viel');
    await page.getByRole('button', { name: 'Speichern', exact: true }).click();
    await page.locator('#field-startDate[aria-invalid=true]').waitFor();
    await page.getByText('Bitte geben Sie eine Zahl ein.').waitFor();
    assert.equal(await page.locator('#field-netPrice').inputValue(), 'viel');
    assert.deepEqual((await office.get('/contracts')).json().data, []);
    assert.deepEqual(complaints, []);
  });

  test('one field is edited on the page, refused in its words, saved, and taken back', async () => {
    const { page, complaints } = visit;
    const id = await office.createCustomer({
      companyName: 'Hotel Elbe',
      email: 'a@elbe.example',
      phone: '040 1',
    });
    await page.goto(`${office.origin}/data/customers/${id}`);
    await page.getByRole('button', { name: 'E-Mail bearbeiten' }).click();
    await page.getByLabel('E-Mail').fill('kein-at');
    await page.getByRole('button', { name: 'Speichern' }).click();
    await page.locator('#field-email[aria-invalid=true]').waitFor();
    await page.getByLabel('E-Mail').fill('b@elbe.example');
    await page.keyboard.press('Enter');
    await page.getByRole('link', { name: 'b@elbe.example' }).waitFor();
    // The notice goes by itself.
    await page.getByRole('button', { name: 'Rückgängig' }).click();
    await page.getByRole('link', { name: 'a@elbe.example' }).waitFor();
    assert.deepEqual(await findBarriers(page), []);
    assert.equal((await office.get(`/customers/${id}`)).json().email, 'a@elbe.example');

    // A field without a value has no line, but can get one.
    await page.getByRole('button', { name: 'Angabe ergänzen' }).click();
    await page.getByRole('menuitem', { name: 'Bemerkung' }).waitFor();
    const offered = await page.getByRole('menuitem').allInnerTexts();
    assert.ok(!offered.includes('Telefon'), offered.join());
    await page.getByRole('menuitem', { name: 'Bemerkung' }).click();
    await page.getByLabel('Bemerkung').fill('Klingeln bei Meyer');
    assert.deepEqual(await findBarriers(page), []);
    await page.getByRole('button', { name: 'Speichern' }).click();
    await page.getByRole('button', { name: 'Bemerkung bearbeiten' }).waitFor();
    assert.equal((await office.get(`/customers/${id}`)).json().comment, 'Klingeln bei Meyer');
    assert.deepEqual(complaints, []);
  });

  test('a field edited on the page creates what its picker does not find', async () => {
    const { page, complaints } = visit;
    const customerId = await office.createCustomer({ companyName: 'Hotel Alster' });
    const contact = await office.post('/customer/contact-person', { customerId, lastName: 'Winter' });
    const site = (
      await office.post('/customer/site', { ...validSite(customerId), contactPersonId: contact.json().id })
    ).json();
    await page.goto(`${office.origin}/data/sites/${site.id}`);
    await page.getByRole('button', { name: 'Ansprechpartner bearbeiten' }).click();
    await page.getByRole('combobox', { name: 'Ansprechpartner' }).fill('Birte Sommer');
    await page.getByRole('option', { name: 'Ansprechpartner „Birte Sommer“ anlegen' }).click();
    const dialog = page.getByRole('dialog', { name: 'Ansprechpartner anlegen' });
    await dialog.getByRole('button', { name: 'Anlegen und übernehmen' }).click();
    await dialog.waitFor({ state: 'detached' });
    // The dialog's submission is not the editor's.
    const chosen = page.getByRole('combobox', { name: 'Ansprechpartner' });
    await until('the new person is chosen', async () => (await chosen.inputValue()) === 'Birte Sommer');
    await page.getByRole('button', { name: 'Speichern' }).click();
    // The history names the person too.
    await page.getByRole('link', { name: 'Birte Sommer' }).first().waitFor();
    const { contactPersonId } = (await office.get(`/sites/${site.id}`)).json();
    const person = (await office.get(`/contact-persons/${contactPersonId}`)).json();
    assert.deepEqual([person.lastName, person.customerId], ['Sommer', customerId]);
    assert.deepEqual(complaints, []);
  });

  test('days in the wrong order are refused at the later one, in words', async () => {
    const { page, complaints } = visit;
    const customerId = await office.createCustomer();
    const create = async (path: string, body: object) => (await office.post(path, body)).json().id as string;
    const siteId = await create('/customer/site', {
      ...validSite(customerId),
      ...{ validFrom: '2026-03-02', validUntil: '2027-03-01' },
      attendingIntervals: [
        { frequency: 'WEEKLY', startDate: '2026-03-02', endDate: '2027-03-01', toleranceInDays: 1 },
      ],
    });
    const contractId = await create('/customer/contract', {
      ...{ customerId, type: 'CARE', startDate: '2026-03-02', endDate: '2027-03-01' },
    });
    const plantId = await create('/customer/site/plant', {
      ...{ siteId, botanicalName: 'Ficus', plantedOn: '2026-03-02', removedOn: '2027-03-01' },
    });
    const save = () => page.getByRole('button', { name: 'Speichern', exact: true }).click();
    for (const [address, field, earlier] of [
      [`/data/contracts/${contractId}/edit`, 'endDate', 'Beginn'],
      [`/data/plants/${plantId}/edit`, 'removedOn', 'Gepflanzt am'],
      [`/data/sites/${siteId}/edit`, 'validUntil', 'Gültig ab'],
    ] as const) {
      await page.goto(`${office.origin}${address}`);
      await page.locator(`#field-${field}`).fill('1.3.2026');
      await save();
      const refusal = page.locator(`#field-${field}-error`);
      assert.equal(await refusal.textContent(), `Darf nicht vor „${earlier}“ liegen.`, address);
      await page.locator(`#field-${field}`).fill('3.3.2027');
      await save();
      await page.waitForURL(`${office.origin}${address.replace('/edit', '')}`);
    }

    // Inside a list the office's own editor sees it: the service keeps lists as they are.
    await page.goto(`${office.origin}/data/sites/${siteId}/edit`);
    const last = page.getByRole('textbox', { name: 'Letzter Tag' });
    await last.fill('1.3.2026');
    await page.getByText('Darf nicht vor „Erster Tag“ liegen.').waitFor();
    await save();
    await page.getByRole('alert').getByText('Der letzte Tag darf nicht vor dem ersten liegen.').waitFor();
    assert.deepEqual(await findBarriers(page), []);
    await last.fill('1.4.2026');
    await save();
    await page.waitForURL(`${office.origin}/data/sites/${siteId}`);
    const { attendingIntervals } = (await office.get(`/sites/${siteId}`)).json();
    assert.equal(attendingIntervals[0].endDate, '2026-04-01');
    assert.deepEqual(complaints, []);
  });

  test('a unit is found and shown by its name, and stored as its code', async () => {
    const { page, complaints } = visit;
    const product = { name: 'Pflegestunde', kind: 'SERVICE', description: 'Je Fachkraft' };
    const id = (await office.post('/product', product)).json().id;
    await page.goto(`${office.origin}/data/products/${id}/edit`);
    await page.getByText('Stück', { exact: true }).waitFor();
    await page.locator('#field-unitCode').fill('stund');
    await page.getByRole('option', { name: 'Stunde (HUR)' }).click();
    await page.getByRole('button', { name: 'Speichern', exact: true }).click();
    await page.waitForURL(`${office.origin}/data/products/${id}`);
    await page.getByRole('definition').getByText('Stunde', { exact: true }).waitFor();
    assert.equal((await office.get(`/products/${id}`)).json().unitCode, 'HUR');
    assert.deepEqual(complaints, []);
  });

  test('a notice stays while the keyboard is on it, and goes after that', async () => {
    const { page } = await office.enter((await createPerson(office)).email);
    const id = await office.createCustomer({ companyName: 'Hotel Stör', phone: '040 1' });
    await page.clock.install();
    await page.goto(`${office.origin}/data/customers/${id}`);
    await page.getByRole('button', { name: 'Telefon bearbeiten' }).click();
    await page.getByLabel('Telefon').fill('040 2');
    await page.keyboard.press('Enter');
    const undo = page.getByRole('button', { name: 'Rückgängig' });
    await undo.focus();
    await page.clock.runFor(60_000);
    assert.equal(await undo.count(), 1);
    // The page ends above the notice.
    const room = await page.evaluate(() =>
      getComputedStyle(document.documentElement).getPropertyValue('--stamm-notices'),
    );
    assert.match(room, /^\d+(\.\d+)?px$/);
    await undo.blur();
    await page.clock.runFor(60_000);
    await undo.waitFor({ state: 'detached' });
    await page.context().close();
  });

  test('a field edited on the page shows what somebody else saved meanwhile', async () => {
    const { page } = visit;
    const id = await office.createCustomer({ companyName: 'Hotel Bille', phone: '040 1' });
    await page.goto(`${office.origin}/data/customers/${id}`);
    await page.getByRole('button', { name: 'Telefon bearbeiten' }).click();
    await page.getByLabel('Telefon').fill('040 2');
    const other = await office.patch(`/customers/${id}`, { phone: '040 3' });
    assert.equal(other.statusCode, 200, other.body);
    await page.getByRole('button', { name: 'Speichern' }).click();
    const dialog = page.getByRole('dialog', { name: 'Zwischenzeitlich geändert' });
    // A click on a number chooses it, and does not dial.
    await dialog.getByText('040 3').click();
    await dialog.getByRole('radio', { name: /040 3/, checked: true }).waitFor();
    await dialog.getByText('040 2').click();
    await dialog.getByRole('radio', { name: /040 2/, checked: true }).waitFor();
    assert.equal(await dialog.getByRole('link').count(), 0);
    await dialog.getByRole('button', { name: 'Auswahl speichern' }).click();
    await dialog.waitFor({ state: 'detached' });
    await page.getByRole('link', { name: '040 2' }).waitFor();
    assert.equal((await office.get(`/customers/${id}`)).json().phone, '040 2');
  });

  test('the search over everything opens from the first page', async () => {
    const { page } = visit;
    await page.goto(`${office.origin}/`);
    await page.getByRole('button', { name: /Alles durchsuchen/ }).click();
    await page.getByRole('combobox', { name: 'Alles durchsuchen' }).waitFor();
  });
});
