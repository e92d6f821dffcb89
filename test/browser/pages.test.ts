// What holds for pages beside their looks, which screens.test.ts checks.
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { createPerson } from '../helpers/office.ts';
import { withoutChromium } from '../helpers/programs.ts';
import { validSite } from '../helpers/service.ts';
import { findBarriers, type Office, openOffice, untilLoaded } from './helpers/office.ts';

describe('a page', { skip: withoutChromium }, () => {
  let office: Office;
  let email: string;
  before(async () => {
    office = await openOffice();
    ({ email } = await createPerson(office));
  });

  test('before the sign-in can be used by everybody, too', async () => {
    for (const path of ['/sign-in', '/welcome', '/setup#nothing', '/invitation#nothing']) {
      const { page, complaints } = await office.visit({ viewport: { width: 360, height: 740 } });
      await page.goto(`${office.origin}${path}`);
      await page.getByRole('heading', { level: 1 }).waitFor();
      await untilLoaded(page);
      assert.deepEqual(await findBarriers(page), [], path);
      assert.deepEqual(complaints, [], path);
      await page.context().close();
    }
  });

  test('asks again while the service is busy, and shows no failure', async () => {
    const { page } = await office.enter(email);
    await office.createCustomer({ companyName: 'Hotel Alsterblick GmbH' });
    let refusals = 0;
    await page.route('**/app/customers?*', async (route) => {
      if (refusals === 2) return route.continue();
      refusals++;
      const json = { code: 'too_many_at_once', message: 'Too many.' };
      return route.fulfill({ status: 429, headers: { 'Retry-After': '1' }, json });
    });
    await page.goto(`${office.origin}/data/customers`);
    await page.getByRole('alert').or(page.getByText('Hotel Alsterblick GmbH')).first().waitFor();
    assert.equal(await page.getByRole('alert').count(), 0);
    assert.equal(refusals, 2);
    await page.context().close();
  });

  test('of the start shows what needs attention, by one request for its card and the badge', async () => {
    const { page } = await office.enter(email);
    const customerId = await office.createCustomer();
    await office.post('/customer/site', {
      ...validSite(customerId),
      name: 'Foyer',
      validUntil: '2020-01-01',
    });
    const asked: string[] = [];
    page.on('request', (request) => {
      if (request.url().includes('/app/attention')) asked.push(new URL(request.url()).pathname);
    });
    await page.goto(office.origin);
    await page.getByRole('link', { name: /^Foyer.*Gültigkeit/ }).waitFor();
    await page
      .getByRole('link', { name: /^Zu prüfen\s*\d+ Eintr/ })
      .first()
      .waitFor();
    assert.deepEqual(asked, ['/app/attention/overview']);
    await page.context().close();
  });

  test('shows its entry of the menu in a low window', async () => {
    const { page } = await office.enter(email);
    await page.setViewportSize({ width: 1024, height: 600 });
    await page.goto(`${office.origin}/settings`);
    const entry = page.getByRole('navigation').locator('a[aria-current="page"][href="/settings"]').first();
    await entry.waitFor();
    await untilLoaded(page);
    const { y, height } = (await entry.boundingBox())!;
    const list = (await entry.locator('xpath=..').boundingBox())!;
    // A pixel may be cut by rounding.
    assert.ok(y >= list.y && y + height <= list.y + list.height + 1, JSON.stringify({ y, height, list }));
    await page.context().close();
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
      const { page: fresh } = await office.visit({ storageState: await page.context().storageState() });
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
      await untilLoaded(fresh);
      const total = (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
      assert.ok(total > 50_000 && total <= 250_000, `${path} needs ${total} bytes`);
      await fresh.context().close();
    }
  });
});
