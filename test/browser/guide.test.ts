import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { before, describe, test } from 'node:test';
import { withoutChromium } from '../helpers/programs.ts';
import { findBarriers, type Office, openOffice } from './helpers/office.ts';

const root = path.resolve(import.meta.dirname, '../..');

describe('the guide at /docs', { skip: withoutChromium }, () => {
  let office: Office;
  let addresses: string[];

  before(async () => {
    office = await openOffice();
    const { body } = await office.app.inject('/docs');
    const navigation = /<nav id="navigation".*?<\/nav>/s.exec(body)![0];
    addresses = [...navigation.matchAll(/href="(\/docs[^"]*)"/g)]
      .map((match) => match[1]!)
      .filter((address) => !/reference|postman|\.tgz/.test(address));
  });

  test('has a page for everything that an integrator asks first', () => {
    assert.deepEqual(addresses, [
      '/docs',
      '/docs/test-business',
      '/docs/errors',
      '/docs/retries',
      '/docs/rate-limits',
      '/docs/own-ids',
      '/docs/merge-or-replace',
      '/docs/paging',
      '/docs/import',
      '/docs/from-erp',
      '/docs/visits',
      '/docs/changes',
      '/docs/webhooks',
      '/docs/calls',
      '/docs/error-codes',
      '/docs/versions',
      '/docs/changelog',
    ]);
  });

  for (const { width, colorScheme } of [
    { width: 390, colorScheme: 'dark' },
    { width: 1440, colorScheme: 'light' },
  ] as const) {
    test(`every page has no barriers, errors or other hosts at ${width} pixels in ${colorScheme}`, async () => {
      const { page, complaints } = await office.visit({ viewport: { width, height: 900 }, colorScheme });
      for (const address of addresses) {
        await page.goto(office.origin + address);
        assert.deepEqual(await findBarriers(page), [], address);
      }
      assert.deepEqual(complaints, []);
      await page.context().close();
    });
  }

  test('every page fits a window of 390 to 1440 pixels', async () => {
    const { page } = await office.visit();
    for (const address of addresses) {
      await page.goto(office.origin + address);
      for (const width of [390, 768, 1024, 1440]) {
        await page.setViewportSize({ width, height: 900 });
        const overflow = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
        assert.ok(overflow <= 0, `${address} is ${overflow} pixels wider than ${width}`);
      }
    }
    await page.context().close();
  });

  test('no link leads nowhere, anchors included', async () => {
    const pages = new Map<string, string>();
    for (const address of addresses) pages.set(address, (await office.app.inject(address)).body);
    for (const [address, body] of pages) {
      for (const [, href] of body.matchAll(/ (?:href|src)="([^"]+)"/g)) {
        if (href!.startsWith('https://')) continue;
        const [target, fragment] = href!.split('#');
        const asked = await office.app.inject(target || address);
        assert.equal(asked.statusCode, 200, `${address} links to ${href}`);
        if (fragment) assert.ok(asked.body.includes(`id="${fragment}"`), `${address} links to ${href}`);
      }
    }
  });

  test('shows an example in the chosen language, on every page', async () => {
    const { page } = await office.visit();
    await page.goto(`${office.origin}/docs`);
    await page.getByText('post() {').waitFor();
    await page.getByRole('tab', { name: 'Python' }).click();
    await page.getByText('import urllib.request').waitFor();
    assert.equal(await page.getByText('post() {').isVisible(), false);
    await page.goto(`${office.origin}/docs/webhooks`);
    await page.getByText('hmac.compare_digest').waitFor();
    await page.getByRole('tab', { name: 'Python' }).press('ArrowRight');
    await page.getByText('hash_equals').waitFor();
    assert.equal(await page.getByText('hmac.compare_digest').isVisible(), false);
    const shown = await page.getByRole('tabpanel').locator('code').textContent();
    assert.equal(
      shown,
      readFileSync(path.join(root, 'docs/examples/php/webhook.php'), 'utf8').trimEnd(),
      'the page shows the file that the test of the examples runs',
    );
    await page.context().close();
  });

  test('keeps the chosen colour scheme, which the web app shares', async () => {
    const { page } = await office.visit({ colorScheme: 'light' });
    const background = () => page.evaluate<string>('getComputedStyle(document.body).backgroundColor');
    await page.goto(`${office.origin}/docs`);
    const light = await background();
    await page.getByRole('button', { name: 'Dark mode' }).click();
    assert.notEqual(await background(), light);
    await page.goto(`${office.origin}/docs/errors`);
    assert.notEqual(await background(), light);
    assert.equal(await page.evaluate("localStorage.getItem('stamm-color-scheme')"), 'dark');
    await page.context().close();
  });

  test('opens its navigation with a button on a phone', async () => {
    const { page } = await office.visit({ viewport: { width: 390, height: 844 } });
    await page.goto(`${office.origin}/docs`);
    const link = page.getByRole('navigation', { name: 'Guide' }).getByRole('link', { name: 'Retries' });
    assert.equal(await link.isVisible(), false);
    await page.getByRole('button', { name: 'Menu' }).click();
    await link.click();
    await page.getByRole('heading', { level: 1, name: 'Retries' }).waitFor();
    await page.context().close();
  });

  test('can be read without JavaScript', async () => {
    const { page } = await office.visit({ javaScriptEnabled: false });
    await page.goto(`${office.origin}/docs`);
    for (const text of ['post() {', 'import urllib.request', 'new HttpClient', 'curl_init'])
      assert.ok(await page.getByText(text).first().isVisible(), text);
    await page.context().close();
  });

  test('a strict policy covers every page, and pages are asked for again while assets are kept', async () => {
    const { headers, body } = await office.app.inject('/docs');
    const policy = String(headers['content-security-policy']);
    assert.match(policy, /^default-src 'self';/);
    assert.doesNotMatch(policy, /unsafe|nonce|https?:/);
    assert.doesNotMatch(body, /<style|style=|<script>|\son\w+=/);
    assert.equal(headers['cache-control'], 'no-cache');
    const again = await office.app.inject({
      url: '/docs',
      headers: { 'if-none-match': String(headers.etag) },
    });
    assert.equal(again.statusCode, 304);
    const [, asset] = /href="(\/docs\/guide-[^"]+\.css)"/.exec(body)!;
    assert.match(String((await office.app.inject(asset!)).headers['cache-control']), /immutable/);
  });

  test('every code of the API has a row that can be linked to', async () => {
    const { body } = await office.app.inject('/docs/error-codes');
    const { components } = (await office.app.inject('/openapi.json')).json();
    const { ErrorCode, FieldErrorCode, AttentionCode } = components.schemas;
    for (const code of [...ErrorCode.enum, ...FieldErrorCode.enum, ...AttentionCode.enum])
      assert.ok(body.includes(`<tr id="${code}">`), code);
    assert.ok(body.includes('Zu viele Anfragen.'));
  });
});
