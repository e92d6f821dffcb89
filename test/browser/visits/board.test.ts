// The board of a large business: 2,500 sites and 1,600 visits in a week.
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { createPerson } from '../../helpers/office.ts';
import { withoutChromium } from '../../helpers/programs.ts';
import { validAddress } from '../../helpers/service.ts';
import { findBarriers, type Office, openOffice } from '../helpers/office.ts';

const weekdays = ['MONDAY', 'TUESDAY', 'WEDNESDAY', 'THURSDAY', 'FRIDAY'];
const employeeCount = 15;
/** 700 sites have a visit each week, 1,800 every second one, half of them in this week. */
const [siteCount, weekly, visitCount] = [2500, 700, 1600];
const towns = ['Hamburg', 'Kiel', 'Lübeck', 'Bremen'];

function* importLines(): Generator<object> {
  for (let index = 0; index < employeeCount; index += 1)
    yield {
      type: 'employee',
      data: {
        externalId: `E${index}`,
        firstName: `Ida ${String(index).padStart(2, '0')}`,
        lastName: 'Harms',
      },
    };
  yield { type: 'customer', data: { externalId: 'K', companyName: 'Kontorhaus AG', address: validAddress } };
  for (let index = 0; index < siteCount; index += 1)
    yield {
      type: 'site',
      data: {
        externalId: `S${index}`,
        customerExternalId: 'K',
        name: `Standort ${String(index).padStart(4, '0')}`,
        address: { ...validAddress, city: towns[index % towns.length], zipCode: String(20000 + index) },
        hasKey: false,
        needsAppointment: false,
        // Every 50th site waits for an employee.
        ...(index % 50 ? { assignedEmployeeExternalId: `E${index % employeeCount}` } : {}),
        attendingIntervals: [
          {
            frequency: 'WEEKLY',
            interval: index < weekly ? 1 : 2,
            byDay: [weekdays[Math.floor(index / employeeCount) % weekdays.length]],
            startDate: index % 2 ? '2026-11-09' : '2026-11-02',
            durationInMinutes: 20,
          },
        ],
      },
    };
}

describe('the board', { skip: withoutChromium }, () => {
  let office: Office;
  let email: string;
  before(async () => {
    office = await openOffice();
    ({ email } = await createPerson(office));
    const response = await fetch(`${office.origin}/api/v1/import`, {
      method: 'POST',
      headers: { apikey: office.tenant.key, 'content-type': 'application/x-ndjson' },
      body: [...importLines()].map((line) => JSON.stringify(line)).join('\n'),
    });
    assert.equal(response.status, 200);
    const created = (await response.text()).match(/"status":201/g)?.length;
    assert.equal(created, employeeCount + 1 + siteCount);
  });

  test('shows sums that cut nothing, and few elements for many visits', async () => {
    const { page, complaints } = await office.enter(email);
    await page.goto(`${office.origin}/visits?day=2026-11-18`);
    await page.getByText(`${visitCount} Besuche · 533,3 Std.`).waitFor();
    assert.deepEqual(await findBarriers(page), []);
    await page.getByRole('button', { name: 'Alle aufklappen' }).click();
    await page.getByRole('gridcell', { name: /Standort 0000/ }).waitFor();
    const countElements = () => page.evaluate(() => document.querySelectorAll('*').length);
    assert.ok((await countElements()) < 3000, String(await countElements()));
    assert.deepEqual(await findBarriers(page), []);

    // The last line of the last person is there, and the sums of all days are those of the API.
    const board = page.getByRole('grid');
    await board.evaluate((element) => element.scrollTo(0, element.scrollHeight));
    await page.getByRole('rowheader', { name: /Ida 14 Harms/ }).waitFor();
    await page.getByRole('gridcell', { name: /Standort 2474/ }).waitFor();
    assert.ok((await countElements()) < 3000, String(await countElements()));
    const days = ['Mo., 16.11.', 'Di., 17.11.', 'Mi., 18.11.', 'Do., 19.11.', 'Fr., 20.11.'];
    for (const [index, name] of days.entries()) {
      const day = `2026-11-${16 + index}`;
      const listed = (await office.get(`/visits?from=${day}&until=${day}&limit=500`)).json().data.length;
      await page.getByRole('columnheader', { name: `${name} ${listed} Besuche` }).waitFor();
    }
    assert.deepEqual(complaints, []);
    await page.context().close();
  });
});
