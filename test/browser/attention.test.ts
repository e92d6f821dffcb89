// Entries of one kind are left together, whatever fields they are in, and come back together.
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { createPerson } from '../helpers/office.ts';
import { withoutChromium } from '../helpers/programs.ts';
import { validSite } from '../helpers/service.ts';
import { type Office, openOffice, type Visit } from './helpers/office.ts';

describe('the attention list', { skip: withoutChromium }, () => {
  let office: Office;
  let visit: Visit;

  before(async () => {
    office = await openOffice();
    visit = await office.enter((await createPerson(office)).email);
    const customerId = await office.createCustomer();
    const create = (body: object) => office.post('/customer/site', { ...validSite(customerId), ...body });
    await create({ openingHours: [{ text: 'tagsüber' }] });
    await create({ attendingIntervals: [{ text: 'oft' }] });
  });

  test('what cannot be read is left as it is in one step, with one undo', async () => {
    const { page } = visit;
    await page.goto(`${office.origin}/attention?code=unknown_shape`);
    const entries = page.getByText('Stamm kann die gesendeten Angaben nicht lesen');
    await entries.nth(1).waitFor();
    await page.getByRole('button', { name: 'Alle so lassen' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Alle so lassen' }).click();
    await page.getByText('2 Einträge bleiben, wie sie sind').waitFor();
    await page.getByText('Davon gibt es nichts.').waitFor();
    await page.keyboard.press('Control+z');
    await entries.nth(1).waitFor();
    await page.getByText('Tragen Sie sie neu ein').nth(1).waitFor();
  });

  test('somebody of the role Pflege reads what is wrong, and no advice that only the office can follow', async () => {
    const { email } = await createPerson(office, { role: 'PFLEGE' });
    const { page } = await office.enter(email);
    await page.goto(`${office.origin}/attention?code=unknown_shape`);
    await page.getByText('Stamm kann die gesendeten Angaben nicht lesen.').nth(1).waitFor();
    assert.equal(await page.getByText('Tragen Sie sie neu ein').count(), 0);
  });
});
