// The import page while another import of the business keeps the only place.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openImport } from '../api/import-client.ts';
import { createPerson } from '../api/office.ts';
import { withoutChromium } from '../programs.ts';
import { validCustomer } from '../service.ts';
import { patienceMs } from '../waiting.ts';
import { openOffice } from './office.ts';

for (const { locale, message, again, fine } of [
  {
    locale: 'de-DE',
    message: 'In Ihrem Betrieb läuft schon ein Import. Bitte warten Sie, bis er fertig ist.',
    again: 'Erneut versuchen',
    fine: 'Die erste Zeile ist in Ordnung.',
  },
  {
    locale: 'en-GB',
    message: 'Your business already runs an import. Wait until it has finished.',
    again: 'Try again',
    fine: 'The first row is valid.',
  },
]) {
  test(`says that another import is running, and goes on after it (${locale})`, {
    skip: withoutChromium,
  }, async () => {
    const office = await openOffice({ importLimits: { waitMs: 3000, idleMs: patienceMs } });
    const { email } = await createPerson(office);
    const { page, complaints } = await office.enter(email, { locale });
    const running = openImport({ port: Number(new URL(office.origin).port), key: office.tenant.key });
    running.send({ type: 'customer', data: validCustomer });
    assert.equal((await running.next()).status, 201);

    await page.goto(`${office.origin}/import`);
    const buffer = Buffer.from('Firma;Straße;Hausnummer;PLZ;Ort\nMöller;Weg;1;20095;Hamburg\n');
    await page.locator('input[type=file]').setInputFiles({ name: 'a.csv', mimeType: 'text/csv', buffer });
    await page.getByText(message).waitFor();
    running.end();
    await running.rest();
    await page.getByRole('button', { name: again }).click();
    await page.getByText(fine).waitFor();
    assert.deepEqual(complaints, []);
  });
}
