import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { createPerson } from '../helpers/office.ts';
import { withoutChromium } from '../helpers/programs.ts';
import { validAddress, validCustomer } from '../helpers/service.ts';
import { until } from '../helpers/waiting.ts';
import { findBarriers, type Office, openOffice, type Visit } from './helpers/office.ts';

describe('requests of other systems', { skip: withoutChromium }, () => {
  let office: Office;
  let visit: Visit;
  let email: string;
  before(async () => {
    office = await openOffice();
    ({ email } = await createPerson(office));
    visit = await office.enter(email);
  });

  test('appear as they arrive, and a refused one is corrected in a form and sent again', async () => {
    const { page, complaints } = visit;
    await page.goto(`${office.origin}/requests`);
    await page.getByText('Noch keine Anfragen').waitFor();
    await page.getByText('Live', { exact: true }).waitFor();

    const customerId = await office.createCustomer({ externalId: 'ERP-1', companyName: 'Hotel Elbkontor' });
    const refused = await office.post('/customer/site', {
      customerExternalId: 'ERP-1',
      name: 'Wintergarten',
      address: { ...validAddress, zipCode: 20095 },
      callOutFee: 12.5,
      validFrom: '31.12.2026',
      needsAppointment: true,
      hasKey: 'ja',
      schluessel: 'links',
    });
    assert.equal(refused.statusCode, 400);
    await page.getByRole('row', { name: /POST \/api\/v1\/customer\/site 400 PLZ/ }).waitFor();
    await page.getByRole('link', { name: 'POST /api/v1/customer/site' }).click();

    const details = page.getByRole('dialog');
    await details.getByText('PLZ: Bitte einen Text eingeben.').waitFor();
    await details.getByText('schluessel', { exact: true }).waitFor();
    await details.getByText('"name": "•••",').waitFor();
    assert.deepEqual(await findBarriers(page), []);
    await details.getByRole('button', { name: 'Alles zeigen' }).click();
    await page
      .getByRole('dialog', { name: 'Gesendete Daten zeigen?' })
      .getByRole('button', { name: 'Alles zeigen' })
      .click();
    await details.getByText('"name": "Wintergarten",').waitFor();

    await details.getByRole('link', { name: 'Standort korrigieren und anlegen' }).click();
    await page.getByRole('button', { name: 'Zeigen und korrigieren' }).click();
    await page.locator('#field-address-zipCode[aria-invalid=true]').waitFor();
    assert.equal(await page.getByLabel('Anfahrtspauschale').inputValue(), '12,50');
    await page.locator('#field-customerId[value="Hotel Elbkontor"]').waitFor();
    assert.deepEqual(await findBarriers(page), []);
    // The form reads both, and sends them as they should be.
    await page.getByText('Bitte prüfen. Gesendet wurde „20095“.').waitFor();
    await page.getByText('Bitte prüfen. Gesendet wurde „31.12.2026“.').waitFor();
    // What was sent is neither yes nor no: the form decides nothing.
    await page.getByText('Gesendet wurde „ja“.').waitFor();
    await page.getByRole('combobox', { name: 'Schlüssel vorhanden' }).click();
    await page.getByRole('option', { name: 'Ja' }).click();
    await page.getByRole('button', { name: 'Speichern' }).click();
    await page.getByRole('heading', { name: 'Wintergarten', level: 1 }).waitFor();
    const { data } = (await office.get('/sites?q=Wintergarten')).json();
    assert.deepEqual(
      [data[0].customerId, data[0].address.zipCode, data[0].callOutFee, data[0].hasKey, data[0].validFrom],
      [customerId, '20095', 12.5, true, '2026-12-31'],
    );
    await page.goto(`${office.origin}/requests?status=open`);
    await page.getByText('Nichts gefunden').waitFor();
    await page.goto(`${office.origin}/requests?status=done`);
    await page.getByRole('row', { name: /POST \/api\/v1\/customer\/site 400 .*Erledigt/ }).waitFor();
    assert.equal(await page.getByRole('link', { name: /^POST/ }).count(), 1);
    await page.getByRole('link', { name: 'POST /api/v1/customer/site' }).click();
    await page.getByText(/^Anke Petersen hat diese Anfrage .* korrigiert:/).waitFor();
    assert.equal(await page.getByRole('link', { name: 'Standort korrigieren und anlegen' }).count(), 0);
    assert.deepEqual(complaints, []);
  });

  test('are grouped by error, filtered, counted, and say when the line is lost', async () => {
    const { page } = await office.enter(email, { locale: 'en-GB' });
    for (let index = 0; index < 3; index += 1) {
      await office.post('/customer', { ...validCustomer, email: 'kein-at' });
    }
    await office.get('/nowhere');
    // They are recorded about once a second, and the groups are counted when the page opens.
    await until('the calls are recorded', async () => {
      const { rows } = await office.owner.query(
        `SELECT count(*)::integer AS count FROM recorded_request
         WHERE (status, path) IN ((400, '/api/v1/customer'), (403, '/api/v1/nowhere'))`,
      );
      return rows[0].count === 4;
    });
    await page.goto(`${office.origin}/requests`);
    await page.getByRole('row', { name: /nowhere 403 Unknown path or method/ }).waitFor();
    await page.getByRole('button', { name: /^3 × E-?mail/i }).click();
    await page.waitForURL(/field=email/);
    await page
      .getByRole('row', { name: /POST \/api\/v1\/customer 400/ })
      .nth(2)
      .waitFor();
    await page.getByRole('row', { name: /\/customer\/site/ }).waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Clear filters' }).click();
    await page.getByRole('row', { name: /\/customer\/site/ }).waitFor();
    await page
      .locator('label')
      .filter({ hasText: /^successful$/ })
      .click();
    await page.getByRole('row', { name: /POST \/api\/v1\/customer 201/ }).waitFor();
    await page.getByRole('row', { name: / 400/ }).first().waitFor({ state: 'detached' });

    await page.getByRole('button', { name: 'As a table' }).click();
    await page.getByRole('columnheader', { name: 'rejected' }).waitFor();
    await page.context().setOffline(true);
    await office.app.server.closeAllConnections();
    await page.getByText('Connection lost').waitFor();
    await page.context().setOffline(false);
    await page.getByText('Live', { exact: true }).waitFor();
    await page.context().close();
  });
});
