// The web app in a real browser: the built files, the real service on its own database. A watch reports everything that
// no page may do.
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { after } from 'node:test';
import { promisify } from 'node:util';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { password } from '../api/office.ts';
import { startService, type TestService } from '../service.ts';
import { patienceMs } from '../waiting.ts';
import { launchChromium } from './chromium.ts';

/** Closed after the file's tests. */
const browsers: Browser[] = [];
after(async () => {
  for (const browser of browsers) await browser.close();
});

const root = path.resolve(import.meta.dirname, '../..');
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

export interface Visit {
  page: Page;
  /** Requests to other hosts, errors of the console and of scripts, and everything that the content security policy stopped. */
  complaints: string[];
}

export interface Office extends TestService {
  origin: string;
  browser: Browser;
  visit: (options?: BrowserContextOptions) => Promise<Visit>;
  /** Signed in through the page itself. */
  enter: (email: string, options?: BrowserContextOptions) => Promise<Visit>;
}

/** Browsers bind passkeys to names: those tests ask for `localhost`. */
export async function openOffice({
  hostname = '127.0.0.1',
  ...settings
}: Parameters<typeof startService>[0] & { hostname?: string } = {}): Promise<Office> {
  await promisify(execFile)(process.execPath, [path.join(root, 'web/build.ts')]);
  const service = await startService(settings);
  const { port } = new URL(await service.app.listen({ host: '127.0.0.1', port: 0 }));
  const origin = `http://${hostname}:${port}`;
  const browser = await launchChromium();
  browsers.push(browser);

  async function visit(options: BrowserContextOptions = {}): Promise<Visit> {
    const context = await browser.newContext({
      viewport: { width: 1440, height: 900 },
      locale: 'de-DE',
      ...options,
    });
    const page = await context.newPage();
    page.setDefaultTimeout(patienceMs);
    const complaints: string[] = [];
    page.on('request', (request) => {
      const { protocol, origin: asked } = new URL(request.url());
      if (asked !== origin && protocol !== 'data:') complaints.push(`request to ${request.url()}`);
    });
    page.on('console', (message) => {
      // Chromium also logs error responses that the page handles.
      const isRefusal = /^Failed to load resource: the server responded with a status of 4/.test(
        message.text(),
      );
      if (['error', 'warning'].includes(message.type()) && !isRefusal) complaints.push(message.text());
    });
    page.on('pageerror', (error) => complaints.push(`page: ${error.message}`));
    return { page, complaints };
  }

  async function enter(email: string, options?: BrowserContextOptions): Promise<Visit> {
    const visited = await visit(options);
    await visited.page.goto(`${origin}/sign-in`);
    await signIn(visited.page, email);
    await visited.page.waitForURL(`${origin}/`);
    return visited;
  }

  return { ...service, origin, browser, visit, enter };
}

export async function signIn(page: Page, email: string): Promise<void> {
  await page.locator('input[name=email]').fill(email);
  await page.locator('input[name=password]').fill(password);
  await page.locator('button[type=submit]').click();
}

interface AxeRun {
  violations: { id: string; nodes: { html: string }[] }[];
}

/** Text that is still fading in has too little contrast. A transition begins two frames after its element appears. */
async function untilFadedIn(): Promise<void> {
  const nextFrame = () => new Promise((resolve) => requestAnimationFrame(resolve));
  for (let running: Animation[] = []; ; ) {
    for (let frame = 0; frame < 3; frame++) await nextFrame();
    running = document
      .getAnimations()
      .filter(
        ({ playState, effect }) =>
          playState === 'running' && effect?.getComputedTiming().endTime !== Infinity,
      );
    if (running.length === 0) return;
    await Promise.allSettled(running.map(({ finished }) => finished));
  }
}

/** The findings of axe on the page, or in the dialog that hides it, which axe does not know. */
export async function findBarriers(page: Page): Promise<string[]> {
  await page.evaluate(untilFadedIn);
  // Not as a script element, which the content security policy would stop.
  await page.evaluate(axe);
  // Open menus stand at the end of the page, outside of its regions, so that nothing cuts them off.
  const options = { resultTypes: ['violations'], rules: { region: { enabled: false } } };
  const { violations } = await page.evaluate<AxeRun>(
    `axe.run([...document.querySelectorAll('[aria-modal=true]')].at(-1) ?? document, ${JSON.stringify(options)})`,
  );
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 200)).join(' ')}`);
}
