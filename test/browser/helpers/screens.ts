// Every page in its states, light in German and dark in English, at three widths. It is accessible and asks no other
// host. Nothing overflows, is cut off or covered. With SCREENS=folder each language has both themes, and a picture of
// each to look at (npm run screens).
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { before, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { createPerson } from '../../helpers/office.ts';
import { withoutChromium } from '../../helpers/programs.ts';
import { validAddress, validSite } from '../../helpers/service.ts';
import { findFlaws } from './flaws.ts';
import { findBarriers, type Office, openOffice, untilLoaded } from './office.ts';

const folder = process.env.SCREENS;
const widths = [360, 1024, 1440] as const;
const bothSchemes = ['light', 'dark'] as const;
const variants = {
  de: { locale: 'de-DE', schemes: folder ? bothSchemes : (['light'] as const), checkedWidth: 1440 },
  en: { locale: 'en-GB', schemes: folder ? bothSchemes : (['dark'] as const), checkedWidth: 360 },
};

interface Screen {
  name: string;
  path: string;
  /** Calls below /app that fail while the page loads. */
  failing?: string;
  /** What a person does on the page before it is looked at. */
  act?: (page: Page) => Promise<void>;
}

/** Opens the dialog of a button, named in both languages. */
const openDialog = (button: RegExp) => async (page: Page) => {
  await page.getByRole('button', { name: button }).click();
  await page.getByRole('dialog').waitFor();
};

export function testScreens(language: 'de' | 'en'): void {
  describe(`screens in ${language}`, { skip: withoutChromium }, () => {
    let office: Office;
    let full: { email: string; screens: Screen[] };
    let empty: { email: string };
    let carer: { email: string };

    before(async () => {
      office = await openOffice();
      const { email } = await createPerson(office);
      full = { email, screens: await fillBusiness(office) };
      const tenant = await office.createTenant('Leer & Neu GmbH');
      empty = await createPerson(office, { tenantId: tenant.tenantId });
      carer = await createPerson(office, { role: 'PFLEGE', name: 'Paul Pflege' });
    });

    test('of a business with data hold together', () =>
      checkScreens(office, full.email, language, [
        ...full.screens,
        { name: 'sites-failing', path: '/data/sites', failing: '**/app/sites?*' },
        {
          name: 'site-failing',
          path: '/data/sites/0198c0de-0000-7000-8000-000000000001',
          failing: '**/app/sites/*',
        },
      ]));

    test('of a business without data hold together', () =>
      checkScreens(
        office,
        empty.email,
        language,
        ['/', '/data/sites', '/attention', '/map', '/requests', '/recent', '/bin', '/settings/api'].map(
          (address) => ({
            name: `empty${address.replaceAll('/', '-')}`,
            path: address,
          }),
        ),
      ));

    if (language !== 'de') return;
    test('of the role Pflege hold together', () =>
      checkScreens(office, carer.email, language, [
        { name: 'care-home', path: '/' },
        { name: 'care-sites', path: '/data/sites' },
        { name: 'care-refused', path: '/data/sites/new' },
        { name: 'care-settings', path: '/settings' },
      ]));
  });
}

async function checkScreens(
  office: Office,
  email: string,
  language: 'de' | 'en',
  screens: readonly Screen[],
): Promise<void> {
  const { locale, schemes, checkedWidth } = variants[language];
  const { page, complaints } = await office.enter(email, { locale });
  await page.addInitScript(countShifts);
  const found: string[] = [];
  for (const screen of screens) {
    await open(page, office.origin, screen);
    const shift = await page.evaluate(() => (globalThis as Shifted).layoutShift!());
    if (shift > maxShift) found.push(`${screen.name}-${language}: jumps by ${shift} while loading`);
    await screen.act?.(page);
    for (const colorScheme of schemes) {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
      await page.locator(`html[data-mantine-color-scheme=${colorScheme}]`).waitFor();
      for (const width of widths) {
        const name = `${screen.name}-${language}-${colorScheme}-${width}`;
        // High enough for whole pages: only visible content can be checked for being covered.
        await page.setViewportSize({ width, height: 2000 });
        await settle(page);
        for (const flaw of await findFlaws(page)) found.push(`${name}: ${flaw}`);
        if (width === checkedWidth)
          for (const barrier of await findBarriers(page)) found.push(`${name}: ${barrier}`);
        if (folder) await takePicture(page, name, width);
      }
    }
    // The failure that a screen is about is none of the page's.
    const unwanted = screen.failing ? complaints.filter((text) => !/status of 500/.test(text)) : complaints;
    found.push(...unwanted.map((complaint) => `${screen.name} ${language}: ${complaint}`));
    complaints.length = 0;
  }
  await page.context().close();
  assert.deepEqual(found, []);
}

/** As Chromium counts it: the share of the screen that moved, times how far. Up to this it is called good. */
const maxShift = 0.1;

type Shifted = typeof globalThis & { layoutShift?: () => number };

function countShifts(): void {
  let sum = 0;
  const add = (entries: PerformanceEntryList) => {
    for (const entry of entries as (PerformanceEntry & { value: number })[]) sum += entry.value;
  };
  const observer = new PerformanceObserver((list) => add(list.getEntries()));
  observer.observe({ type: 'layout-shift', buffered: true });
  (globalThis as Shifted).layoutShift = () => {
    add(observer.takeRecords());
    return Math.round(sum * 1000) / 1000;
  };
}

async function open(page: Page, origin: string, { path: address, failing }: Screen): Promise<void> {
  if (failing) await page.route(failing, (route) => route.fulfill({ status: 500, json: {} }));
  await page.goto(`${origin}${address}`);
  await page.getByRole('heading', { level: 1 }).first().waitFor();
  await untilLoaded(page);
  if (failing) await page.unroute(failing);
}

/** Colours move to another theme for a moment. A loading sign moves for ever. */
async function settle(page: Page): Promise<void> {
  await page.evaluate(() =>
    Promise.allSettled(
      document
        .getAnimations()
        .filter(({ effect }) => effect?.getComputedTiming().endTime !== Number.POSITIVE_INFINITY)
        .map(({ finished }) => finished),
    ),
  );
}

async function takePicture(page: Page, name: string, width: number): Promise<void> {
  mkdirSync(folder!, { recursive: true });
  await page.setViewportSize({ width, height: 900 });
  await page.screenshot({ path: path.join(folder!, `${name}.png`), fullPage: true, animations: 'disabled' });
}

/** Long names, missing values and odd values: what makes pages break. */
async function fillBusiness(office: Office): Promise<Screen[]> {
  const customerId = await office.createCustomer({
    companyName:
      'Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft Hamburg-Altona',
    customerNumber: 'K-10001',
    email: 'verwaltung@donaudampfschifffahrtselektrizitaetenhauptbetriebswerk.example',
    phone: '040 555 0140',
  });
  const [site, , contract] = await Promise.all([
    office.post('/customer/site', {
      ...validSite(customerId),
      address: { ...validAddress, location: { lat: 53.55, lng: 9.99 } },
      comment: 'Gießwasser nur aus der Teeküche, der Hahn im Flur führt Brauchwasser.',
      validUntil: '2020-01-01',
      callOutFee: 24.9,
      contractId: '0198c0de-0000-7000-8000-000000000009',
      openingHours: [{ dayOfWeek: 'MONDAY', opens: '08:00', closes: '02:00' }, { tag: 'Mo' }],
      attendingIntervals: [{ frequency: 'MONTHLY', byDay: ['MONDAY'], weekOfMonth: -1 }],
    }),
    office.post('/customer/contact-person', { customerId, lastName: 'Petersen', firstName: 'Anke' }),
    office.post('/customer/contract', { customerId, startDate: '2026-03-01', type: 'CARE_AND_RENTAL' }),
  ]);
  const siteId = site.json().id;
  const plant = await office.post('/customer/site/plant', {
    siteId,
    botanicalName: 'Ficus lyrata',
    room: 'Empfang',
    status: 'CRITICAL',
  });
  await office.post('/customer', { companyName: 'Refused' });
  const twinId = await office.createCustomer({
    companyName: 'Donaudampfschifffahrtsgesellschaft',
    phone: '040 1',
  });
  const deletedId = await office.createCustomer({ companyName: 'Gelöschte Floristik' });
  await office.delete(`/customers/${deletedId}`);
  const pages = [
    ['home', '/'],
    ['sites', '/data/sites'],
    ['plants', '/data/plants'],
    ['nothing-found', '/data/sites?q=zzzzzz'],
    ['site', `/data/sites/${siteId}`],
    ['customer-new', '/data/customers/new'],
    ['site-sheet', `/data/sites/${siteId}/sheet`],
    ['labels', '/labels/plants'],
    ['deleted', `/data/customers/${deletedId}`],
    ['site-edit', `/data/sites/${siteId}/edit`],
    ['customer', `/data/customers/${customerId}`],
    ['contract', `/data/contracts/${contract.json().id}`],
    ['plant', `/data/plants/${plant.json().id}`],
    ['attention', '/attention'],
    ['map', '/map'],
    ['requests', '/requests'],
    ['import', '/import'],
    ['visits', '/visits'],
    ['arrange', '/arrange'],
    ['day-sheet', '/day-sheet'],
    ['week-sheet', '/week-sheet'],
    ['visit-settings', '/settings/visits'],
    ['bin', '/bin'],
    ['profile', '/settings'],
    ['people', '/settings/people'],
    ['api', '/settings/api'],
    ['audit', '/settings/audit'],
    ['backups', '/settings/backups'],
    ['merge', `/data/customers/${customerId}/merge?with=${twinId}`],
    ['not-found', '/nothing/here'],
  ].map(([name, address]) => ({ name: name!, path: address! }));
  return [
    ...pages,
    { name: 'site-delete', path: `/data/sites/${siteId}`, act: openDialog(/^(Löschen|Delete)$/) },
    {
      name: 'bulk-change',
      path: '/data/sites',
      act: async (page) => {
        await page.locator('tbody').getByRole('checkbox').first().check();
        await openDialog(/^(Feld ändern|Change a field)$/)(page);
      },
    },
    { name: 'import-columns', path: '/import', act: chooseFile },
  ];
}

async function chooseFile(page: Page): Promise<void> {
  const text =
    'Objekt;Auftraggeber;Straße/Hausnr.;PLZ/Ort;Türfarbe\nEtage 1;Firma Unbekannt;Lange Straße 1;26122 Oldenburg;rot';
  const file = { name: 'Objekte.csv', mimeType: 'text/csv', buffer: Buffer.from(text) };
  await page.locator('input[type=file]').setInputFiles(file);
  await page.getByRole('heading', { name: /^(Namen zuordnen|Assign names)$/ }).waitFor();
  await untilLoaded(page);
}
