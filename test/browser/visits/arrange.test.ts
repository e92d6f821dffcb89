// Appointments to arrange: called, proposed, confirmed, mailed.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { startMailServer } from '../../api/sign-in/mail-server.ts';
import { createPerson } from '../../helpers/office.ts';
import { withoutChromium } from '../../helpers/programs.ts';
import { validSite } from '../../helpers/service.ts';
import { findFlaws } from '../helpers/flaws.ts';
import { findBarriers, openOffice } from '../helpers/office.ts';

describe('appointments to arrange', { skip: withoutChromium }, () => {
  test('are called, proposed with a time, confirmed and mailed', async () => {
    const mail = await startMailServer();
    const office = await openOffice({ SMTP_URL: mail.url });
    const { email } = await createPerson(office, { role: 'BUERO', name: 'Berta Büro' });
    const customerId = await office.createCustomer();
    const contact = await office.post('/customer/contact-person', {
      ...{ customerId, lastName: 'Petersen', phone: '040 555', email: 'ida@hotel.example' },
    });
    const addSite = (name: string, more: object) =>
      office.post('/customer/site', {
        ...{ ...validSite(customerId), name, contactPersonId: contact.json().id },
        appointmentPreparationTimeInMinutes: 20,
        attendingIntervals: [{ frequency: 'WEEKLY', interval: 2, byDay: ['TUESDAY'], durationInMinutes: 30 }],
        ...more,
      });
    await addSite('Foyer', {});
    await addSite('Keller', { needsAppointment: false });

    const { page, complaints } = await office.enter(email);
    // Far from every public holiday.
    await page.clock.setFixedTime('2026-11-12T09:00:00Z');
    await page.goto(`${office.origin}/visits?day=2026-11-12`);
    await page.getByRole('link', { name: 'Termine vereinbaren' }).click();
    await page.getByRole('heading', { name: 'Zu vereinbaren (1)' }).waitFor();
    await page.getByRole('link', { name: '040 555' }).waitFor();
    await page.getByText('20 Min. Vorbereitung').waitFor();
    assert.equal(await page.getByText('Keller').count(), 0);
    assert.deepEqual(await findBarriers(page), []);

    await page.getByRole('button', { name: 'Angerufen: Foyer' }).click();
    await page.getByRole('button', { name: 'Angerufen: Foyer' }).waitFor({ state: 'detached' });
    await page.getByText('Angerufen', { exact: true }).waitFor();
    await page.getByText('Angerufen: Foyer').waitFor();
    const agree = async (status: string) => {
      await page.getByRole('button', { name: 'Termin eintragen: Foyer' }).click();
      const dialog = page.getByRole('dialog', { name: 'Nur diesmal ändern' });
      await dialog.getByRole('textbox', { name: 'Von' }).fill('09:00');
      await dialog.getByRole('combobox', { name: 'Termin' }).click();
      await page.getByRole('option', { name: status }).click();
      await dialog.getByRole('button', { name: 'Speichern' }).click();
      await dialog.waitFor({ state: 'detached' });
    };
    await agree('Vorgeschlagen');
    await page.getByText('Vorgeschlagen', { exact: true }).waitFor();
    await agree('Bestätigt');
    await page.getByRole('heading', { name: 'Bestätigt (1)' }).waitFor();
    await page.getByText('Alles vereinbart').waitFor();
    assert.deepEqual(await findBarriers(page), []);
    await page.setViewportSize({ width: 390, height: 800 });
    assert.deepEqual(await findFlaws(page), []);

    await page.getByRole('button', { name: 'Mail schicken: Foyer' }).click();
    await page.getByText('Mail an ida@hotel.example ist unterwegs').waitFor();
    const { subject } = await mail.mailTo('ida@hotel.example');
    assert.match(subject, /^Ihr Termin/);
    assert.deepEqual(complaints, []);
    await page.context().close();
  });
});
