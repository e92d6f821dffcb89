// The test business as Verwaltung makes it, works in it and leaves it. With SCREENS=folder it takes a picture of each state.
import assert from 'node:assert/strict';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { startTestBusinessWork } from '../../server/features/test-business/worker.ts';
import { resources } from '../../server/resources/index.ts';
import { createPerson } from '../helpers/office.ts';
import { withoutChromium } from '../helpers/programs.ts';
import { findFlaws } from './helpers/flaws.ts';
import { findBarriers, type Office, openOffice, type Visit } from './helpers/office.ts';

const folder = process.env.SCREENS;

describe('the test business', { skip: withoutChromium }, () => {
  let office: Office;
  let visit: Visit;
  let email: string;
  let stop: () => Promise<void>;
  before(async () => {
    office = await openOffice();
    stop = startTestBusinessWork(office.database, resources);
    ({ email } = await createPerson(office));
    await office.createCustomer({ companyName: 'Hotel Alsterblick GmbH', externalId: 'K-1' });
    visit = await office.enter(email);
  });
  after(() => stop());

  test('is made with its key, filled, entered, shown by a band, and left', async () => {
    const { page, complaints } = visit;
    await page.goto(`${office.origin}/settings/api`);
    await page.getByRole('button', { name: 'Testbetrieb anlegen' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Testbetrieb anlegen' }).click();
    const shown = page.getByRole('dialog', { name: 'Ihr neuer API-Schlüssel' });
    const key = (await shown.locator('code').textContent())!;
    assert.match(key, /^stamm_test_[0-9A-Za-z]{36}$/);
    await shown.getByRole('button', { name: 'Schlüssel gesichert' }).click();
    await page.getByText(/^1 Eintrag, befüllt/).waitFor();
    assert.deepEqual(await findBarriers(page), []);

    const band = await enter(page);
    for (const address of ['/', '/data/customers', '/map', '/settings', '/settings/api', '/import']) {
      await page.goto(`${office.origin}${address}`);
      await band.waitFor();
    }
    await page.goto(`${office.origin}/data/customers`);
    const { data } = (await office.get('/customers', { headers: { apikey: key } })).json();
    assert.equal(data[0].externalId, 'K-1');
    await page.getByText(data[0].companyName).first().waitFor();
    assert.equal(await page.getByText('Hotel Alsterblick').count(), 0);
    await page.goto(`${office.origin}/settings`);
    assert.equal(await page.getByRole('link', { name: 'Personen' }).count(), 0);

    await leave(page);
    await page.goto(`${office.origin}/data/customers`);
    await page.getByText('Hotel Alsterblick GmbH').first().waitFor();
    assert.deepEqual(complaints, []);
  });

  test('a tab that shows the other business loads itself again', async () => {
    const { page } = visit;
    await page.goto(`${office.origin}/data/customers`);
    const second = await page.context().newPage();
    await second.goto(`${office.origin}/settings/api`);
    await enter(second);
    await page.getByRole('link', { name: 'Standorte' }).first().click();
    await bandOf(page).waitFor();
    await leave(second);
    await second.close();
  });

  for (const [locale, scheme] of [
    ['de-DE', 'light'],
    ['en-GB', 'dark'],
  ] as const) {
    test(`holds together in ${locale}, ${scheme}, at every width`, async () => {
      const { page } = await office.enter(email, { locale, colorScheme: scheme });
      await look(page, `real-${locale}`);
      await page.goto(`${office.origin}/settings/api`);
      await enter(page);
      await look(page, `test-${locale}`);
      await leave(page);
      await page.context().close();
    });
  }

  const leaving = /Testbetrieb verlassen|Leave test business/;
  /** The card in the settings has the same name. */
  const bandOf = (page: Page) =>
    page
      .getByRole('region', { name: /Testbetrieb|Test business/ })
      .filter({ has: page.getByRole('button', { name: leaving }) });

  /** Both load the app again: a test that goes on before that is interrupted. */
  async function clickAndLoad(page: Page, name: RegExp): Promise<void> {
    const loaded = page.waitForEvent('load');
    await page.getByRole('button', { name }).click();
    await loaded;
  }

  async function enter(page: Page) {
    await clickAndLoad(page, /Zum Testbetrieb|Open test business/);
    await bandOf(page).waitFor();
    return bandOf(page);
  }

  async function leave(page: Page): Promise<void> {
    await clickAndLoad(page, leaving);
    await bandOf(page).waitFor({ state: 'detached' });
  }

  async function look(page: Page, name: string): Promise<void> {
    for (const address of ['/settings/api', '/data/customers', '/map']) {
      await page.goto(`${office.origin}${address}`);
      await page.getByRole('heading', { level: 1 }).first().waitFor();
      for (const width of [360, 1024, 1440]) {
        await page.setViewportSize({ width, height: 900 });
        if (address === '/settings/api') await page.getByText('stamm_test_').first().waitFor();
        assert.deepEqual(await findFlaws(page), [], `${name} ${address} at ${width}`);
        if (folder)
          await page.screenshot({
            path: path.join(folder, `${name}${address.replaceAll('/', '-')}-${width}.png`),
            fullPage: address === '/settings/api',
          });
      }
    }
  }
});
