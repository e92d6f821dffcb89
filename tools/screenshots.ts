// The pictures of the README, of a running demo: `npm run screenshots -- PASSWORD [ORIGIN]`.
import path from 'node:path';
import type { Page } from 'playwright-core';
import { launchChromium } from '../test/browser/helpers/chromium.ts';

const [password, origin = 'http://127.0.0.1:3000'] = process.argv.slice(2);
if (!password) throw new Error('Start "npm run demo" and pass the password that it prints.');
const folder = path.resolve(import.meta.dirname, '../docs/screenshots');

const table = `Firma;Straße;Nr.;PLZ;Ort;Telefon
Hotel Elbterrassen GmbH;Elbchaussee;401;22609;Hamburg;040 8234567
Zahnarztpraxis Dr. Aydın;Osterstraße;92;20259;Hamburg;040 4911223
Kanzlei Brandt & Söhne;Große Bleichen;31;20354;Hamburg;040 3567890`;

async function openFirst(page: Page): Promise<void> {
  await page.locator('[data-row="0"]').click();
  await page.getByRole('heading', { level: 1, name: 'Sites', exact: true }).waitFor({ state: 'detached' });
}

async function pasteTable(page: Page): Promise<void> {
  await page.evaluate((text) => {
    const clipboardData = new DataTransfer();
    clipboardData.setData('text/plain', text);
    document.body.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true }));
  }, table);
  await page.getByText('3 valid').first().waitFor();
}

const pictures: { name: string; at: string; isDark?: boolean; prepare?: (page: Page) => Promise<void> }[] = [
  { name: 'overview', at: '/' },
  { name: 'sites', at: '/data/sites' },
  { name: 'site', at: '/data/sites', prepare: openFirst },
  { name: 'visits', at: '/visits' },
  { name: 'import', at: '/import', prepare: pasteTable },
  { name: 'map', at: '/map', isDark: true },
];

const browser = await launchChromium();
for (const { name, at, isDark, prepare } of pictures) {
  const page = await browser.newPage({
    viewport: { width: 1280, height: 800 },
    locale: 'en-GB',
    timezoneId: 'Europe/Berlin',
    colorScheme: isDark ? 'dark' : 'light',
  });
  await page.goto(`${origin}/sign-in`);
  await page.locator('input[name=email]').fill('demo@stamm.example');
  await page.locator('input[name=password]').fill(password);
  await page.locator('button[type=submit]').click();
  await page.waitForURL(`${origin}/`);
  await page.goto(origin + at, { waitUntil: 'networkidle' });
  await prepare?.(page);
  await page.mouse.move(0, 0);
  await page.getByRole('heading', { level: 1 }).waitFor();
  const loading = page.locator('.mantine-Skeleton-root:visible, .mantine-Loader-root:visible');
  await loading.first().waitFor({ state: 'detached' });
  await page.screenshot({ path: path.join(folder, `${name}.png`), animations: 'disabled' });
  await page.close();
}
await browser.close();
