// Labels in front of a camera: Chromium plays a file as its camera.
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import encodeQR from 'qr';
import { createPerson, password } from '../../helpers/office.ts';
import { chromiumWithCamera, withoutCamera } from '../../helpers/programs.ts';
import { validAddress } from '../../helpers/service.ts';
import { patienceMs } from '../../helpers/waiting.ts';
import { launchChromium } from '../helpers/chromium.ts';
import { findBarriers, type Office, openOffice } from '../helpers/office.ts';

const [width, height] = [640, 480];

/** A film of one picture, with a code in its middle. */
function filmOf(text: string): Buffer {
  const rows = encodeQR(text, 'raw', { ecc: 'medium', border: 4 });
  const dot = Math.floor(height / rows.length);
  const [left, top] = [(width - rows.length * dot) / 2, (height - rows.length * dot) / 2];
  const light = Buffer.alloc(width * height, 235);
  for (let y = 0; y < height; y += 1)
    for (let x = 0; x < width; x += 1)
      if (rows[Math.floor((y - top) / dot)]?.[Math.floor((x - left) / dot)]) light[y * width + x] = 16;
  const colours = Buffer.alloc((width * height) / 2, 128);
  const frame = Buffer.concat([Buffer.from('FRAME\n'), light, colours]);
  const head = Buffer.from(`YUV4MPEG2 W${width} H${height} F10:1 Ip A1:1 C420jpeg\n`);
  return Buffer.concat([head, frame, frame]);
}

describe('labels', { skip: withoutCamera }, () => {
  let office: Office;
  let folder: string;
  let email: string;
  let plantId: string;
  before(async () => {
    office = await openOffice();
    folder = await mkdtemp(path.join(tmpdir(), 'stamm-camera-'));
    ({ email } = await createPerson(office, { role: 'PFLEGE', name: 'Paula Harms' }));
    const customerId = await office.createCustomer();
    const site = await office.post('/customer/site', {
      ...{ customerId, name: 'Empfang', address: validAddress, hasKey: false, needsAppointment: false },
    });
    const plant = await office.post('/customer/site/plant', {
      ...{ siteId: site.json().id, botanicalName: 'Ficus lyrata', labelCode: 'P-0815' },
    });
    plantId = plant.json().id;
  });
  after(() => rm(folder, { recursive: true, force: true }));

  async function openScan(flags: string[], isAllowed: boolean): Promise<Page> {
    const browser = await launchChromium(flags, chromiumWithCamera);
    after(() => browser.close());
    const context = await browser.newContext({
      viewport: { width: 390, height: 800 },
      locale: 'de-DE',
      permissions: isAllowed ? ['camera'] : [],
    });
    const page = await context.newPage();
    page.setDefaultTimeout(patienceMs);
    await context.request.post(`${office.origin}/app/session`, {
      headers: { origin: office.origin },
      data: { email, password },
    });
    await page.goto(`${office.origin}/scan`);
    return page;
  }

  test('are read by the camera and lead to their plant', async () => {
    const film = path.join(folder, 'label.y4m');
    await writeFile(film, filmOf(`${office.origin}/data/plants/${plantId}`));
    const page = await openScan(
      ['--use-fake-device-for-media-stream', `--use-file-for-fake-video-capture=${film}`],
      true,
    );
    await page.waitForURL(`${office.origin}/data/plants/${plantId}`);
    await page.getByRole('heading', { name: 'Ficus lyrata', level: 1 }).waitFor();
  });

  test('are found by what is written on them where there is no camera', async () => {
    const page = await openScan([], false);
    await page
      .getByText(/Kamera/)
      .last()
      .waitFor();
    assert.deepEqual(await findBarriers(page), []);
    await page.getByLabel('Etikett oder Nummer').fill('P-9999');
    await page.getByRole('button', { name: 'Finden' }).click();
    await page.getByText('Nichts hat das Etikett P-9999.').waitFor();
    await page.getByLabel('Etikett oder Nummer').fill('P-0815');
    await page.getByRole('button', { name: 'Finden' }).click();
    await page.waitForURL(`${office.origin}/data/plants/${plantId}`);
  });
});
