// Duplicates in the office: one entry, side by side, merged into one record.
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { createPerson } from '../helpers/office.ts';
import { withoutChromium } from '../helpers/programs.ts';
import { validAddress, validSite } from '../helpers/service.ts';
import { findBarriers, type Office, openOffice, type Visit } from './helpers/office.ts';

describe('merging', { skip: withoutChromium }, () => {
  let office: Office;
  let visit: Visit;
  before(async () => {
    office = await openOffice();
    visit = await office.enter((await createPerson(office)).email);
  });

  async function createTwins(companyName: string) {
    const address = { ...validAddress, location: { lat: 53.5, lng: 10 } };
    const first = await office.createCustomer({ companyName, address, phone: '040 1' });
    const second = await office.createCustomer({
      companyName: companyName.toUpperCase(),
      address,
      phone: '040 2',
      email: 'zwei@example.org',
      externalId: `SHOP ${companyName}`,
    });
    const site = (await office.post('/customer/site', validSite(second))).json().id as string;
    return { first, second, site };
  }

  test('duplicates are one entry, and the chosen fields and everything that belongs to them stay', async () => {
    const { page, complaints } = visit;
    const { first, second, site } = await createTwins('Hotel Elbkontor');
    await page.goto(`${office.origin}/attention?code=probable_duplicate`);
    const entry = page.getByRole('listitem').filter({ hasText: 'Hotel Elbkontor' });
    await entry.getByText('2 Einträge heißen am selben Ort gleich').waitFor();
    await entry.getByRole('link', { name: 'Zusammenführen: Hotel Elbkontor' }).click();
    await page.getByRole('heading', { name: 'Einträge zusammenführen', level: 1 }).waitFor();
    const phone = page.getByRole('radiogroup', { name: 'Telefon' });
    await phone.getByRole('radio', { name: '040 2' }).click();
    assert.deepEqual(await findBarriers(page), []);
    await page.getByRole('button', { name: 'Zusammenführen' }).click();
    await page.waitForURL(`${office.origin}/data/customers/${first}`);
    await page.getByText('Mit Hotel Elbkontor zusammengeführt, 1 Eintrag verschoben').waitFor();
    const merged = (await office.get(`/customers/${first}`)).json();
    assert.deepEqual(
      [merged.companyName, merged.phone, merged.email],
      ['Hotel Elbkontor', '040 2', 'zwei@example.org'],
    );
    assert.equal((await office.get(`/sites/${site}`)).json().customerId, first);

    await page.goto(`${office.origin}/data/customers/${second}`);
    await page.waitForURL(`${office.origin}/data/customers/${first}`);
    await page.goto(`${office.origin}/attention?code=probable_duplicate`);
    await page.getByText('Alles in Ordnung').or(page.getByText('Davon gibt es nichts')).first().waitFor();

    await page.goto(`${office.origin}/recent`);
    await page.getByRole('link', { name: 'Hotel Elbkontor' }).waitFor();
    assert.deepEqual(await findBarriers(page), []);
    await page.getByRole('button', { name: 'Rückgängig machen' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Rückgängig machen' }).click();
    await page.getByText(/^Rückgängig gemacht von/).waitFor();
    assert.equal((await office.get(`/sites/${site}`)).json().customerId, second);
    assert.deepEqual(complaints, []);
  });

  test('a record that somebody changed meanwhile is shown as it is now, and nothing is merged', async () => {
    const { page } = visit;
    const { first, second } = await createTwins('Gasthof Linde');
    await page.goto(`${office.origin}/data/customers/${first}/merge?with=${second}`);
    const phone = page.getByRole('radiogroup', { name: 'Telefon' });
    await phone.waitFor();
    await office.patch(`/customers/${second}`, { phone: '040 3' });
    await page.getByRole('button', { name: 'Zusammenführen' }).click();
    await phone.getByRole('radio', { name: '040 3' }).waitFor();
    assert.equal((await office.get(`/customers/${second}`)).json().id, second);
  });
});
