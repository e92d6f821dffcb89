// Nothing is lost: bin, undo, earlier states, a session that ends over a form, and drafts.
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { createPerson, password } from '../helpers/office.ts';
import { withoutChromium } from '../helpers/programs.ts';
import { validSite } from '../helpers/service.ts';
import { until } from '../helpers/waiting.ts';
import { findBarriers, type Office, openOffice, type Visit } from './helpers/office.ts';

describe('nothing is lost', { skip: withoutChromium }, () => {
  let office: Office;
  let visit: Visit;
  let email: string;
  before(async () => {
    office = await openOffice();
    ({ email } = await createPerson(office, { name: 'Ute Brandt' }));
    visit = await office.enter(email);
  });

  const read = async (path: string) => (await office.get(path)).json();
  const endSessions = () => office.owner.query('DELETE FROM session');

  async function openForm(page: Page, id: string) {
    await page.goto(`${office.origin}/data/customers/${id}/edit`);
    await page.getByLabel('Telefon').waitFor();
  }

  test('a deletion is undone from its notice', async () => {
    const { page, complaints } = visit;
    const id = await office.createCustomer({ companyName: 'Versehen GmbH' });
    await page.goto(`${office.origin}/data/customers/${id}`);
    await page.getByRole('button', { name: 'Löschen' }).click();
    await page.getByRole('dialog').getByText('30 Tage lang wiederherstellen').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Löschen' }).click();
    await page.getByRole('status').getByRole('button', { name: 'Rückgängig' }).click();
    await page.getByText('Rückgängig gemacht').waitFor();
    await page.getByRole('heading', { name: 'Versehen GmbH', level: 1 }).waitFor();
    assert.equal((await read(`/customers/${id}`)).version, 2);
    assert.deepEqual(complaints, []);
  });

  test('a customer goes to the bin with everything, and comes back from there with it', async () => {
    const { page, complaints } = visit;
    const id = await office.createCustomer({ companyName: 'Samt & Sonders KG' });
    const site = (await office.post('/customer/site', validSite(id))).json().id;
    await office.post('/customer/site/plant', { siteId: site, botanicalName: 'Ficus' });
    await page.goto(`${office.origin}/data/customers/${id}`);
    await page.getByRole('button', { name: 'Löschen' }).click();
    await page.getByRole('dialog').getByText('1 Standort').waitFor();
    await page.getByRole('dialog').getByText('1 Pflanze').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Alles löschen' }).click();
    await page.waitForURL(`${office.origin}/data/customers`);

    await page.getByRole('link', { name: 'Papierkorb' }).click();
    const entry = page.getByRole('listitem').filter({ hasText: 'Samt & Sonders KG' });
    await entry.getByText('mit 1 ').waitFor();
    await entry.getByText('von Ute Brandt').waitFor();
    assert.deepEqual(await findBarriers(page), []);
    await page.getByLabel('Papierkorb durchsuchen').fill('gibt es nicht');
    await page.getByText('Nichts gefunden').waitFor();
    await page.getByLabel('Papierkorb durchsuchen').fill('sonders');
    await entry.getByRole('button', { name: 'Wiederherstellen' }).click();
    await page.getByText('Wiederhergestellt').waitFor();
    await entry.waitFor({ state: 'detached' });
    assert.equal((await read(`/sites/${site}`)).customerId, id);
    assert.deepEqual(complaints, []);
  });

  test('the page of a deleted record says so, with its values, its history and the way back', async () => {
    const { page, complaints } = visit;
    const id = await office.createCustomer({ companyName: 'Verschwunden AG', comment: 'steht noch hier' });
    await office.delete(`/customers/${id}`);
    await page.goto(`${office.origin}/data/customers/${id}`);
    await page.getByRole('heading', { name: 'Verschwunden AG', level: 1 }).waitFor();
    await page.getByText(/Gelöscht am .* von/).waitFor();
    await page.getByText('steht noch hier').waitFor();
    await page.locator('li').filter({ hasText: 'Gelöscht' }).first().waitFor();
    assert.equal(await page.getByRole('button', { name: /bearbeiten/i }).count(), 0);
    assert.deepEqual(await findBarriers(page), []);
    await page.goto(office.origin);
    await page.getByRole('link', { name: /Verschwunden AG.*Gelöscht/ }).click();
    await page.getByRole('button', { name: 'Wiederherstellen' }).click();
    await page.getByRole('link', { name: 'Bearbeiten', exact: true }).waitFor();
    assert.deepEqual(complaints, []);
  });

  test('a restoration that is refused names the object in the way', async () => {
    const { page } = visit;
    const owner = await office.createCustomer({ companyName: 'Eigentum GmbH' });
    const site = (await office.post('/customer/site', { ...validSite(owner), name: 'Nebenan' })).json().id;
    await office.delete(`/sites/${site}`);
    await office.delete(`/customers/${owner}`);
    await page.goto(`${office.origin}/data/sites/${site}`);
    await page.getByRole('button', { name: 'Wiederherstellen' }).click();
    await page.getByText('Stellen Sie zuerst Kunde „Eigentum GmbH“ wieder her.').waitFor();
    const numbered = await office.createCustomer({ customerNumber: 'B-1' });
    await office.delete(`/customers/${numbered}`);
    await office.createCustomer({ customerNumber: 'B-1', companyName: 'Nachfolger GmbH' });
    await page.goto(`${office.origin}/data/customers/${numbered}`);
    await page.getByRole('button', { name: 'Wiederherstellen' }).click();
    await page.getByText('Kundennummer ist inzwischen an „Nachfolger GmbH“ vergeben.').waitFor();
    assert.deepEqual(await findBarriers(page), []);
  });

  test('a save is undone from its notice, unless somebody else has saved since', async () => {
    const { page, complaints } = visit;
    const id = await office.createCustomer({ companyName: 'Zurück GmbH', comment: 'alt' });
    const saveComment = async (text: string) => {
      await openForm(page, id);
      await page.getByLabel('Telefon').fill(text);
      await page.getByLabel('Bemerkung').fill(text);
      await page.getByRole('button', { name: 'Speichern' }).click();
      await page.getByRole('status').getByRole('button', { name: 'Rückgängig' }).waitFor();
    };
    await saveComment('040 1');
    await page.getByRole('button', { name: 'Rückgängig' }).click();
    await page.getByText('Rückgängig gemacht').waitFor();
    const { comment, phone } = await read(`/customers/${id}`);
    assert.deepEqual([comment, phone], ['alt', undefined]);
    await saveComment('040 2');
    await office.patch(`/customers/${id}`, { vatId: 'DE1' });
    await page.getByRole('button', { name: 'Rückgängig' }).click();
    await page.getByText('Der Eintrag wurde inzwischen geändert.').waitFor();
    assert.equal((await read(`/customers/${id}`)).comment, '040 2');
    assert.deepEqual(complaints, []);
  });

  test('an earlier state is restored from the history', async () => {
    const { page, complaints } = visit;
    const id = await office.createCustomer({ companyName: 'Erste GmbH' });
    await office.patch(`/customers/${id}`, { companyName: 'Zweite GmbH', phone: '1' });
    await office.patch(`/customers/${id}`, {
      companyName: 'Dritte GmbH',
      address: { location: { lat: 1, lng: 2 } },
    });
    const { address } = await read(`/customers/${id}`);
    assert.ok(address.location);
    await page.goto(`${office.origin}/data/customers/${id}`);
    await page.getByRole('button', { name: 'Diesen Stand wiederherstellen' }).last().click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('Erste GmbH').waitFor();
    assert.deepEqual(await findBarriers(page), []);
    await dialog.getByRole('button', { name: 'Wiederherstellen' }).click();
    await page.getByRole('heading', { name: 'Erste GmbH', level: 1 }).waitFor();
    const restored = await read(`/customers/${id}`);
    assert.deepEqual([restored.phone, restored.address.location], [undefined, undefined]);
    assert.deepEqual(complaints, []);
  });

  test('a session that ends over a form asks for the password there, and the save goes on', async () => {
    const { page, complaints } = visit;
    const id = await office.createCustomer({ companyName: 'Abgelaufen GmbH' });
    await openForm(page, id);
    await page.getByLabel('Bemerkung').fill('lange getippt');
    await endSessions();
    await page.getByRole('button', { name: 'Speichern' }).click();
    const dialog = page.getByRole('dialog', { name: 'Bitte melden Sie sich neu an' });
    await dialog.getByLabel(/^Passwort für/).fill('falsch');
    await dialog.getByRole('button', { name: 'Anmelden', exact: true }).click();
    await dialog.getByRole('alert').waitFor();
    assert.deepEqual(await findBarriers(page), []);
    await dialog.getByLabel(/^Passwort für/).fill(password);
    await dialog.getByRole('button', { name: 'Anmelden', exact: true }).click();
    await page.getByRole('link', { name: 'Bearbeiten' }).waitFor();
    assert.equal((await read(`/customers/${id}`)).comment, 'lange getippt');
    assert.deepEqual(complaints, []);
  });

  test('without unsaved work a session that ends leads to the sign-in page', async () => {
    const own = await office.enter(email);
    const id = await office.createCustomer();
    await own.page.goto(`${office.origin}/data/customers/${id}`);
    await own.page.getByRole('link', { name: 'Bearbeiten' }).waitFor();
    await endSessions();
    await own.page.getByRole('link', { name: 'Standorte' }).first().click();
    await own.page.waitForURL(/\/sign-in/);
    await own.page.context().close();
    visit = await office.enter(email);
  });

  test('a draft survives a reload, and is gone once it is saved or dropped', async () => {
    const { page, complaints } = visit;
    const id = await office.createCustomer({ companyName: 'Entwurf GmbH', phone: '1' });
    await openForm(page, id);
    await page.getByLabel('Bemerkung').fill('halb fertig');
    await page.reload();
    await page.getByText('Es gibt einen Entwurf').waitFor();
    assert.deepEqual(await findBarriers(page), []);
    // What somebody else changed meanwhile stays theirs.
    await office.patch(`/customers/${id}`, { phone: '2' });
    await page.reload();
    await page.getByRole('button', { name: 'Entwurf übernehmen' }).click();
    assert.equal(await page.getByLabel('Bemerkung').inputValue(), 'halb fertig');
    assert.equal(await page.getByLabel('Telefon').inputValue(), '2');
    await page.getByRole('button', { name: 'Speichern' }).click();
    await page.getByRole('link', { name: 'Bearbeiten' }).waitFor();
    assert.equal((await read(`/customers/${id}`)).comment, 'halb fertig');
    const drafts = () =>
      page.evaluate<number>(`Object.keys(localStorage).filter((key) => key.includes('${id}')).length`);
    await until('the draft to go', async () => (await drafts()) === 0);

    await openForm(page, id);
    await page.getByLabel('Bemerkung').fill('anders');
    await page.reload();
    await page.getByRole('button', { name: 'Entwurf verwerfen' }).click();
    assert.equal(await drafts(), 0);
    await page.getByLabel('Bemerkung').fill('noch anders');
    await page.getByRole('button', { name: 'Abbrechen' }).click();
    const stay = page.getByRole('dialog').getByRole('button', { name: 'Bleiben' });
    await stay.waitFor();
    const leave = page.getByRole('dialog').getByRole('button', { name: 'Verlassen' });
    const variants = [await stay.getAttribute('data-variant'), await leave.getAttribute('data-variant')];
    assert.deepEqual(variants, [null, 'default'], 'the safe choice is primary');
    await leave.click();
    await page.getByRole('link', { name: 'Bearbeiten' }).waitFor();
    assert.equal(await drafts(), 0);
    assert.deepEqual(complaints, []);
  });

  test('a draft of more than seven days is forgotten', async () => {
    const { page } = visit;
    const id = await office.createCustomer({ companyName: 'Alt GmbH' });
    await openForm(page, id);
    await page.getByLabel('Bemerkung').fill('alt');
    await page.evaluate(`for (const key of Object.keys(localStorage).filter((name) => name.startsWith('stamm-draft:'))) {
      const draft = JSON.parse(localStorage.getItem(key));
      localStorage.setItem(key, JSON.stringify({ ...draft, at: draft.at - 8 * 24 * 3600 * 1000 }));
    }`);
    await page.reload();
    await page.getByLabel('Telefon').waitFor();
    assert.equal(await page.getByText('Es gibt einen Entwurf').count(), 0);
  });
});
