// What holds for every page: both languages, both themes, narrow and wide, for everybody.
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { createPerson } from '../api/office.ts';
import { withoutChromium } from '../programs.ts';
import { validSite } from '../service.ts';
import { findBarriers, type Office, openOffice } from './office.ts';

describe('every page', { skip: withoutChromium }, () => {
  let office: Office;
  let email: string;
  let paths: string[];
  before(async () => {
    office = await openOffice();
    ({ email } = await createPerson(office));
    const customerId = await office.createCustomer({
      companyName:
        'Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft Hamburg-Altona',
    });
    const site = await office.post('/customer/site', {
      ...validSite(customerId),
      validUntil: '2020-01-01',
      openingHours: [{ dayOfWeek: 'MONDAY', opens: '08:00', closes: '02:00' }, { tag: 'Mo' }],
      attendingIntervals: [{ frequency: 'MONTHLY', byDay: ['MONDAY'], weekOfMonth: -1 }],
      contractId: '0198c0de-0000-7000-8000-000000000009',
    });
    const siteId = site.json().id;
    paths = [
      '/',
      '/data/sites',
      '/data/plants',
      '/data/customers/new',
      `/data/customers/${customerId}`,
      `/data/sites/${siteId}`,
      `/data/sites/${siteId}/edit`,
      '/attention',
      '/map',
      '/visits',
      '/requests',
      '/import',
      '/settings',
      '/settings/people',
      '/settings/api',
      '/settings/audit',
      '/nothing/here',
    ];
  });

  for (const [locale, colorScheme, width] of [
    ['de-DE', 'light', 1440],
    ['en-GB', 'dark', 360],
  ] as const) {
    test(`can be used by everybody, asks no other host and fits, in ${locale}, ${colorScheme}, ${width} wide`, async () => {
      const { page, complaints } = await office.enter(email, {
        locale,
        colorScheme,
        viewport: { width, height: 800 },
      });
      for (const path of paths) {
        await page.goto(`${office.origin}${path}`);
        await page.getByRole('heading', { level: 1 }).first().waitFor();
        await page.waitForLoadState('networkidle');
        assert.deepEqual(await findBarriers(page), [], path);
        const overflow = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';
        assert.equal(await page.evaluate(overflow), 0, `${path} is wider than the screen`);
        // A text that is missing would show its name instead.
        const text = await page.locator('body').innerText();
        assert.doesNotMatch(
          text,
          /\b(navigation|table|record|form|home|api|people|attention|import|requests|map)\.[a-z]+[A-Z_a-z]*\b(?!\.)/,
        );
      }
      assert.deepEqual(complaints, []);
      await page.context().close();
    });
  }

  test('before the sign-in can be used by everybody, too', async () => {
    for (const path of ['/sign-in', '/welcome', '/setup#nothing', '/invitation#nothing']) {
      const { page, complaints } = await office.visit({ viewport: { width: 360, height: 740 } });
      await page.goto(`${office.origin}${path}`);
      await page.getByRole('heading', { level: 1 }).waitFor();
      await page.waitForLoadState('networkidle');
      assert.deepEqual(await findBarriers(page), [], path);
      assert.deepEqual(complaints, [], path);
      await page.context().close();
    }
  });

  test('needs at most 250 kB of compressed JavaScript at the first load', async () => {
    const { page } = await office.enter(email);
    for (const path of [
      '/',
      '/data/sites',
      '/data/sites/new',
      '/settings/api',
      '/attention',
      '/visits',
      '/requests',
    ]) {
      const sizes: Promise<number>[] = [];
      const context = await office.browser.newContext({ storageState: await page.context().storageState() });
      const fresh = await context.newPage();
      fresh.on('response', (response) => {
        if (response.request().resourceType() !== 'script') return;
        // Measured as gzip, although the browser may get brotli.
        sizes.push(
          fetch(response.url(), { headers: { 'Accept-Encoding': 'gzip' } }).then((answer) =>
            Number(answer.headers.get('content-length')),
          ),
        );
      });
      await fresh.goto(`${office.origin}${path}`);
      await fresh.getByRole('heading', { level: 1 }).waitFor();
      await fresh.waitForLoadState('networkidle');
      const total = (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
      assert.ok(total > 50_000 && total <= 250_000, `${path} needs ${total} bytes`);
      await context.close();
    }
  });
});
