import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { startReceiver, verify } from '../api/webhooks/webhook-receiver.ts';
import { createPerson } from '../helpers/office.ts';
import { withoutChromium } from '../helpers/programs.ts';
import { until } from '../helpers/waiting.ts';
import { findBarriers, openOffice } from './helpers/office.ts';

describe('webhooks in the settings', { skip: withoutChromium }, async () => {
  const receiver = await startReceiver();
  after(() => receiver.close());

  test('Verwaltung adds an address, tests it, reads its log, pauses and deletes it', async () => {
    const office = await openOffice({ WEBHOOK_ALLOW_PRIVATE: true });
    const { email, call } = await createPerson(office);
    const { page, complaints } = await office.enter(email);
    await page.goto(`${office.origin}/settings/api`);
    await page.getByRole('button', { name: 'Adresse hinzufügen' }).click();
    const dialog = page.getByRole('dialog', { name: 'Webhook hinzufügen' });
    await dialog.getByLabel('Adresse des Empfängers').fill('kein Ort');
    await dialog.getByRole('button', { name: 'Adresse hinzufügen' }).click();
    await dialog.getByText(/Bitte eine Adresse wie/).waitFor();
    assert.deepEqual(await findBarriers(page), []);
    await dialog.getByLabel('Adresse des Empfängers').fill(receiver.url);
    await dialog.getByLabel('Standorte').check();
    await dialog.getByLabel('Gelöscht').check();
    await dialog.getByLabel('System auslassen').fill('Büro');
    await dialog.getByRole('button', { name: 'Adresse hinzufügen' }).click();
    await dialog.locator('[aria-invalid="true"]').waitFor();
    await dialog.getByLabel('System auslassen').fill('erp');
    await dialog.getByRole('button', { name: 'Adresse hinzufügen' }).click();
    const shown = page.getByRole('dialog', { name: 'Geheimnis des Webhooks' });
    const secret = await shown.locator('code').textContent();
    assert.match(secret!, /^whsec_/);
    await shown.getByRole('button', { name: 'Geheimnis gesichert' }).click();
    const [made] = (await call('GET', '/webhooks')).json().data;
    const { resources, actions, excludeOrigin } = made;
    assert.deepEqual(
      { resources, actions, excludeOrigin },
      { resources: ['site'], actions: ['DELETED'], excludeOrigin: 'erp' },
    );
    await page.getByText('ohne Änderungen von erp').waitFor();

    await page.getByRole('button', { name: 'Testen' }).click();
    await page.getByText('Test angekommen: Status 200').waitFor();
    verify(receiver.received[0]!, secret!);
    await page.getByRole('button', { name: 'Protokoll' }).click();
    await page.getByText('stamm.test').waitFor();
    await page.getByText('thank you').waitFor();
    await page.getByRole('button', { name: 'Erneut senden' }).click();
    await until('the second test', () => receiver.received.length === 2);
    assert.deepEqual(await findBarriers(page), []);

    await page.getByRole('button', { name: 'Anhalten' }).click();
    await page.getByRole('button', { name: 'Fortsetzen' }).waitFor();
    await office.owner.query(`UPDATE webhook SET paused_because = 'FAILED' WHERE tenant_id = $1`, [
      office.tenant.tenantId,
    ]);
    await page.reload();
    await page.getByText(/drei Tage lang nicht geantwortet/).waitFor();
    assert.deepEqual(await findBarriers(page), []);
    assert.ok(!(await page.content()).includes(secret!));
    await page.goto(office.origin);
    await page.getByText('Ein Webhook ist angehalten').waitFor();
    assert.deepEqual(await findBarriers(page), []);

    await page.goto(`${office.origin}/settings/api`);
    await page.getByRole('button', { name: 'Fortsetzen' }).click();
    await page.getByText('Aktiv', { exact: true }).waitFor();
    const row = page.getByRole('listitem').filter({ hasText: receiver.url });
    await row.getByRole('button', { name: 'Löschen' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Löschen' }).click();
    await row.waitFor({ state: 'detached' });
    assert.deepEqual(complaints, []);
  });

  test('an address and its types can be changed on phone and desktop, light and dark, in both languages', async () => {
    const office = await openOffice({ WEBHOOK_ALLOW_PRIVATE: true });
    const { email, call } = await createPerson(office);
    const made = await call('POST', '/webhooks', { url: receiver.url, resources: ['site'] });
    assert.equal(made.statusCode, 201, made.body);
    const read = async () => (await call('GET', '/webhooks')).json().data[0];
    for (const { locale, width, colorScheme, words } of [
      {
        locale: 'de-DE',
        width: 390,
        colorScheme: 'dark' as const,
        words: ['Bearbeiten', 'Webhook bearbeiten', 'Adresse des Empfängers', 'Kunden', 'Speichern'],
      },
      {
        locale: 'en-GB',
        width: 1440,
        colorScheme: 'light' as const,
        words: ['Edit', 'Edit webhook', 'Receiver address', 'Customers', 'Save'],
      },
    ]) {
      const [edit, title, address, customers, save] = words;
      const { page, complaints } = await office.enter(email, {
        locale,
        colorScheme,
        viewport: { width, height: 900 },
      });
      await page.goto(`${office.origin}/settings/api`);
      const row = page.getByRole('listitem').filter({ hasText: receiver.url });
      await row.getByRole('button', { name: edit!, exact: true }).click();
      const dialog = page.getByRole('dialog', { name: title! });
      assert.equal(await dialog.getByLabel(address!).inputValue(), (await read()).url);
      await dialog.getByLabel(address!).fill('nowhere');
      await dialog.getByRole('button', { name: save! }).click();
      await dialog.getByText('https://erp.example/stamm').waitFor();
      assert.deepEqual(await findBarriers(page), []);
      const overflow = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
      assert.ok(overflow <= 0, `${overflow} pixels too wide`);
      await dialog.getByLabel(address!).fill(`${receiver.url}/${width}`);
      await dialog.getByLabel(customers!).click();
      await dialog.getByRole('button', { name: save! }).click();
      await dialog.waitFor({ state: 'detached' });
      assert.equal((await read()).url, `${receiver.url}/${width}`);
      assert.deepEqual(complaints, []);
      await page.context().close();
    }
    assert.deepEqual((await read()).resources, ['site'], 'the second visit undoes the choice of the first');
  });
});
