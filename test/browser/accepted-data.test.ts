// Pages and paper show any text that was accepted.
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { sendImport } from '../api/import/import-client.ts';
import { familyWith } from '../helpers/accepted-bodies.ts';
import { createPerson } from '../helpers/office.ts';
import { withoutChromium } from '../helpers/programs.ts';
import { type Office, openOffice, untilLoaded } from './helpers/office.ts';

const worst = ['\n', '\u0001', '\u2028', '\u202e', '\uffff', '<b>', '{{x}}', 'مرحبا', '👩‍🌾', 'a'.repeat(80)];

describe('pages with any accepted text', { skip: withoutChromium }, () => {
  let office: Office;
  let email: string;
  let siteIds: string[];
  before(async () => {
    office = await openOffice();
    ({ email } = await createPerson(office));
    const lines = worst.flatMap((words, place) => familyWith(words, `w${place}`));
    const target = { port: Number(new URL(office.origin).port), key: office.tenant.key };
    const { results } = await sendImport(
      target,
      lines.map((line) => JSON.stringify(line)),
    );
    assert.deepEqual(
      results.filter(({ status }) => status !== 201),
      [],
    );
    siteIds = results.filter((_, place) => lines[place]!.type === 'site').map(({ id }) => id);
  });

  test('open without an error, on the screen and on paper', async () => {
    const { page, complaints } = await office.enter(email);
    const paths = [
      ...['/', '/visits', '/map', '/day-sheet', '/attention', '/bin', '/labels/plants', '/data/customers'],
      ...siteIds.flatMap((id) => [`/data/sites/${id}`, `/data/sites/${id}/sheet`]),
    ];
    for (const path of paths) {
      await page.goto(`${office.origin}${path}`);
      await page.locator('h1').first().waitFor();
      await untilLoaded(page);
      assert.equal(await page.getByRole('alert').count(), 0, path);
    }
    await page.pdf();
    assert.deepEqual(complaints, []);
    await page.context().close();
  });

  test('mark a record that fails on paper, and show the others', async () => {
    const { page } = await office.enter(email);
    const spoilFirst = (path: string, spoil: (record: Record<string, unknown>) => void) =>
      page.route(path, async (route) => {
        const response = await route.fetch();
        const json = await response.json();
        spoil(json.data[0]);
        return route.fulfill({ response, json });
      });
    await spoilFirst('**/app/visits?*', (visit) => Object.assign(visit.site as object, { name: {} }));
    // No QR code is as long.
    await spoilFirst('**/app/plants?*', (plant) => Object.assign(plant, { id: 'x'.repeat(5000) }));
    // The sites are open on Mondays.
    await page.goto(`${office.origin}/day-sheet?date=2026-11-23`);
    await page.getByText('lässt sich nicht anzeigen').waitFor();
    assert.ok((await page.locator('tbody tr').count()) > 1);
    await page.goto(`${office.origin}/labels/plants`);
    await page.getByText('lässt sich nicht anzeigen').waitFor();
    assert.equal(await page.getByText('lässt sich nicht anzeigen').count(), 1);
    await page.context().close();
  });
});
