// The import page while another import of the business keeps the only place.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openImport } from '../../api/import/import-client.ts';
import { createPerson } from '../../helpers/office.ts';
import { withoutChromium } from '../../helpers/programs.ts';
import { validCustomer } from '../../helpers/service.ts';
import { patienceMs } from '../../helpers/waiting.ts';
import { type Office, openOffice } from '../helpers/office.ts';

let opening: Promise<Office> | undefined;

for (const { locale, message, again, fine } of [
  {
    locale: 'de-DE',
    message: 'In Ihrem Betrieb läuft schon ein Import. Bitte warten Sie, bis er fertig ist.',
    again: 'Erneut versuchen',
    fine: '1 gültig',
  },
  {
    locale: 'en-GB',
    message: 'Your business already runs an import. Wait until it has finished.',
    again: 'Try again',
    fine: '1 valid',
  },
]) {
  test(`says that another import is running, and goes on after it (${locale})`, {
    skip: withoutChromium,
  }, async () => {
    opening ??= openOffice({ importLimits: { waitMs: 1000, idleMs: patienceMs } });
    const office = await opening;
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
    await page.getByRole('button', { name: fine }).waitFor();
    assert.deepEqual(complaints, []);
  });
}
