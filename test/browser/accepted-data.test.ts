// Pages and paper show any text that was accepted.
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { familyWith } from '../api/accepted-bodies.ts';
import { sendImport } from '../api/import-client.ts';
import { createPerson } from '../api/office.ts';
import { withoutChromium } from '../programs.ts';
import { type Office, openOffice } from './office.ts';

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
      await page.waitForLoadState('networkidle');
      assert.equal(await page.getByRole('alert').count(), 0, path);
    }
    await page.pdf();
    assert.deepEqual(complaints, []);
    await page.context().close();
  });
});
