// The web app in a real browser: the built files, the real service on its own database. A watch reports everything that
// no page may do.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { after } from 'node:test';
import { promisify } from 'node:util';
import type { Browser, BrowserContextOptions, Page, Request } from 'playwright-core';
import { password } from '../../helpers/office.ts';
import { startService, type TestService } from '../../helpers/service.ts';
import { patienceMs, until } from '../../helpers/waiting.ts';
import { launchChromium } from './chromium.ts';

/** One per file, closed after its tests. */
let browser: Promise<Browser> | undefined;
let built: Promise<unknown> | undefined;
after(async () => (await browser)?.close());

const root = path.resolve(import.meta.dirname, '../../..');
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
  /** A browser that is signed in, before its first page. */
  enter: (email: string, options?: BrowserContextOptions) => Promise<Visit>;
}

/** Browsers bind passkeys to names: those tests ask for `localhost`. */
export async function openOffice({
  hostname = '127.0.0.1',
  ...settings
}: Parameters<typeof startService>[0] & { hostname?: string } = {}): Promise<Office> {
  browser ??= launchChromium();
  built ??= promisify(execFile)(process.execPath, [path.join(root, 'web/build.ts')]);
  await built;
  const service = await startService(settings);
  const { port } = new URL(await service.app.listen({ host: '127.0.0.1', port: 0 }));
  const origin = `http://${hostname}:${port}`;
  const opened = await browser;

  async function visit(options: BrowserContextOptions = {}): Promise<Visit> {
    const context = await opened.newContext({
      viewport: { width: 1440, height: 900 },
      locale: 'de-DE',
      ...options,
    });
    const page = await context.newPage();
    page.setDefaultTimeout(patienceMs);
    watchRequests(page);
    const complaints: string[] = [];
    page.on('request', (request) => {
      const { protocol, origin: asked } = new URL(request.url());
      if (asked !== origin && protocol !== 'data:') complaints.push(`request to ${request.url()}`);
    });
    page.on('response', (response) => {
      const { pathname } = new URL(response.url());
      if (pathname.startsWith('/assets/') && !response.ok())
        complaints.push(`${pathname}: ${response.status()}`);
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
    const { request } = visited.page.context();
    const answer = await request.post(`${origin}/app/session`, {
      headers: { origin },
      data: { email, password },
    });
    assert.equal(answer.status(), 200, await answer.text());
    return visited;
  }

  return { ...service, origin, browser: opened, visit, enter };
}

export async function signIn(page: Page, email: string): Promise<void> {
  await page.locator('input[name=email]').fill(email);
  await page.locator('input[name=password]').fill(password);
  await page.locator('button[type=submit]').click();
}

const traffic = new WeakMap<Page, { pending: Set<Request>; count: number }>();

function watchRequests(page: Page): void {
  const seen = { pending: new Set<Request>(), count: 0 };
  traffic.set(page, seen);
  page.on('request', (request) => {
    // The end of what the page before has asked for is not always announced.
    if (request.isNavigationRequest()) seen.pending.clear();
    // A stream stays open as long as the page.
    if (request.resourceType() === 'eventsource') return;
    seen.pending.add(request);
    seen.count++;
  });
  page.on('requestfinished', (request) => seen.pending.delete(request));
  page.on('requestfailed', (request) => seen.pending.delete(request));
}

/** Everything that the page asks for has arrived and is shown. "networkidle" would wait half a second longer. */
export async function untilLoaded(page: Page): Promise<void> {
  const seen = traffic.get(page)!;
  for (let count = -1; count !== seen.count; ) {
    await until('no request is under way', () => seen.pending.size === 0);
    count = seen.count;
    await page.evaluate(untilIdle);
  }
}

/** An answer is shown, and leads to the next request, within a few frames. */
async function untilIdle(): Promise<void> {
  for (let frame = 0; frame < 3; frame++) await new Promise((resolve) => requestAnimationFrame(resolve));
  await new Promise((resolve) => requestIdleCallback(resolve));
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
