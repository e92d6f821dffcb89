// Somebody of the role Pflege on a phone: with network, without, with a bad one, and while the service restarts.
import assert from 'node:assert/strict';
import { createServer, request as send } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { after, before, describe, test } from 'node:test';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { createPerson, password } from '../../helpers/office.ts';
import { withoutChromium } from '../../helpers/programs.ts';
import { startService, validAddress } from '../../helpers/service.ts';
import { until } from '../../helpers/waiting.ts';
import { findFlaws } from '../helpers/flaws.ts';
import { findBarriers, type Office, openOffice } from '../helpers/office.ts';
import { openNetwork, type WobblyNetwork } from '../helpers/wobbly-network.ts';

const phone: BrowserContextOptions = {
  viewport: { width: 390, height: 800 },
  hasTouch: true,
  isMobile: true,
};

describe('on the road', { skip: withoutChromium }, () => {
  let office: Office;
  let network: WobblyNetwork;
  before(async () => {
    office = await openOffice();
    network = await openNetwork(Number(new URL(office.origin).port));
  });

  /** A business with a site that is visited every day, and its carer. */
  async function startRound() {
    const { key, tenantId } = await office.createTenant();
    const headers = { apikey: key };
    const create = async (path: string, body: object): Promise<string> => {
      const answer = await office.post(path, body, { headers });
      assert.equal(answer.statusCode, 201, answer.body);
      return answer.json().id;
    };
    const employeeId = await create('/employee', { firstName: 'Paula', lastName: 'Harms' });
    const customerId = await create('/customer', { companyName: 'Hotel Alster', address: validAddress });
    const contactPersonId = await create('/customer/contact-person', {
      ...{ customerId, firstName: 'Ida', lastName: 'Petersen', phone: '040 555' },
    });
    const siteId = await create('/customer/site', {
      ...{ customerId, contactPersonId, assignedEmployeeId: employeeId },
      ...{ name: 'Empfang', address: validAddress, hasKey: true, needsAppointment: false },
      comment: 'Am Tor klingeln',
      attendingIntervals: [{ frequency: 'DAILY', durationInMinutes: 30 }],
    });
    const addPlant = (botanicalName: string) =>
      create('/customer/site/plant', { siteId, botanicalName, room: 'Halle' });
    await create('/customer/site/container', {
      ...{ siteId, name: 'Kübel am Tresen', cultureSystem: 'HYDROCULTURE', labelCode: 'G-0815' },
    });
    const [ficus, monstera] = [await addPlant('Ficus lyrata'), await addPlant('Monstera deliciosa')];
    const admin = await createPerson(office, { tenantId });
    await admin.call('PUT', '/visit-settings', { holidayRule: 'KEEP' });
    const carer = await createPerson(office, { tenantId, role: 'PFLEGE', name: 'Paula Harms', employeeId });
    const plantNow = async (id: string) => (await office.get(`/plants/${id}`, { headers })).json();
    const patch = (id: string, body: object) => office.patch(`/plants/${id}`, body, { headers });
    return { ficus, monstera, siteId, carer, admin, plantNow, patch };
  }

  async function enter(email: string, options: BrowserContextOptions = {}): Promise<Page> {
    network.set('on');
    const { page } = await office.visit({ ...phone, ...options });
    const answer = await page.context().request.post(`${network.origin}/app/session`, {
      headers: { origin: network.origin },
      data: { email, password },
    });
    assert.equal(answer.status(), 200);
    return page;
  }

  /** The round and the app itself are on the phone. */
  async function untilKept(page: Page, siteId: string): Promise<void> {
    await until('the round is kept', async () => {
      const { shell, answers } = await keptOn(page);
      const has = (beginning: string) => answers.some((path) => path.startsWith(beginning));
      // The things of a site come last.
      return shell && has(`/appointments?siteId=${siteId}`) && has('/containers/');
    });
  }

  const untilSent = (page: Page) => page.getByText(/Änderung(en)? warte/).waitFor({ state: 'detached' });
  const health = (page: Page, plant: string, choice: string) =>
    page.getByRole('group', { name: `Zustand von ${plant}` }).getByRole('button', { name: choice });

  test('today and its sites are there without network, also after a reload', async () => {
    const { siteId, carer } = await startRound();
    const page = await enter(carer.email);
    await page.goto(network.origin);
    await page.getByRole('link', { name: 'Empfang' }).waitFor();
    await untilKept(page, siteId);

    network.set('off');
    await page.context().setOffline(true);
    await page.reload();
    await page.getByRole('link', { name: 'Empfang' }).waitFor();
    await page.getByText('Ohne Netz. Stand von').waitFor();
    assert.deepEqual(await findBarriers(page), []);
    await page.getByRole('link', { name: 'Empfang' }).click();
    for (const text of ['Am Tor klingeln', 'Ida Petersen', 'Ficus lyrata', 'Monstera deliciosa'])
      await page.getByText(text).first().waitFor();
    await page.getByRole('link', { name: 'Anrufen' }).waitFor();
    assert.deepEqual(await findBarriers(page), []);
    assert.deepEqual(await findFlaws(page), []);
    await page.goto(`${network.origin}/data/sites/${siteId}`);
    await page.getByText('Am Tor klingeln').waitFor();

    network.set('on');
    await page.context().setOffline(false);
    await page.getByText('Ohne Netz. Stand von').waitFor({ state: 'detached' });
    await page.context().close();
  });

  test('without network labels lead to the things of the round, and search and map say what is missing', async () => {
    const { siteId, carer } = await startRound();
    const page = await enter(carer.email);
    await page.goto(network.origin);
    await untilKept(page, siteId);
    network.set('off');
    await page.goto(`${network.origin}/scan`);
    await page.getByLabel('Etikett oder Nummer').fill('G-0815');
    await page.getByRole('button', { name: 'Finden' }).click();
    await page.getByRole('heading', { name: 'Kübel am Tresen', level: 1 }).waitFor();
    // Its site is not known by name, and not said to be missing.
    await page.getByRole('main').locator(`a[href='/data/sites/${siteId}']`).waitFor();
    assert.deepEqual(await findBarriers(page), []);
    const missing = 'Ohne Netz ist das nicht da. Ihre Besuche stehen unter „Heute“.';
    await page.getByRole('link', { name: 'Karte' }).click();
    await page.getByText(missing).first().waitFor();
    await page.getByRole('heading', { name: 'Karte', level: 1 }).waitFor();
    await page.getByRole('button', { name: 'Suche' }).last().click();
    await page.getByRole('combobox').fill('Empfang');
    await page.getByRole('dialog').getByText(missing).waitFor();
    assert.deepEqual(await findBarriers(page), []);
    await page.context().close();
  });

  test('a new version of the app arrives while changes wait, and is there without network', async () => {
    const { ficus, siteId, carer, plantNow } = await startRound();
    const page = await enter(carer.email);
    await page.goto(`${network.origin}/data/sites/${siteId}`);
    await untilKept(page, siteId);
    network.set('off');
    await health(page, 'Ficus lyrata', 'Kritisch').click();
    await page.getByText('1 Änderung wartet').waitFor();
    const isNew = () => page.locator('meta[name=build][content=next]').count();
    assert.equal(await isNew(), 0);

    const servicePort = Number(new URL(office.origin).port);
    const next = await upgrade(servicePort);
    network.leadTo(next.port);
    network.set('on');
    await page.reload();
    await page.getByText('1 Änderung wartet').waitFor();
    assert.equal(await isNew(), 1);
    await until('the new files are kept, and used', () =>
      page.evaluate(async () => {
        const { installing, waiting, active } = (await navigator.serviceWorker.getRegistration())!;
        const isUsed = !installing && !waiting && active?.state === 'activated';
        return isUsed && (await caches.keys()).includes('stamm-next');
      }),
    );
    network.set('off');
    await page.reload();
    await page.getByText('1 Änderung wartet').waitFor();
    assert.equal(await isNew(), 1);
    await page.getByText('Am Tor klingeln').waitFor();

    next.takesChanges = true;
    network.set('on');
    await page.evaluate(() => window.dispatchEvent(new Event('online')));
    await untilSent(page);
    assert.equal((await plantNow(ficus)).status, 'CRITICAL');
    assert.equal((await plantNow(ficus)).version, 2);
    network.leadTo(servicePort);
    await page.context().close();
  });

  test('signing out without network deletes what is kept, and ends the session with the next network', async () => {
    const { siteId, carer } = await startRound();
    const page = await enter(carer.email);
    await page.goto(`${network.origin}/data/sites/${siteId}`);
    await untilKept(page, siteId);
    network.set('off');
    await page.getByRole('button', { name: 'Menü' }).click();
    await page.getByRole('button', { name: 'Paula Harms' }).click();
    await page.getByRole('button', { name: 'Abmelden' }).click();
    await page.waitForURL(/\/sign-in/);
    await page.getByLabel('Passwort').waitFor();
    assert.deepEqual(await keptOn(page), { shell: false, answers: [], databases: [] });
    network.set('on');
    await page.goto(network.origin);
    await page.waitForURL(/\/sign-in/);
    const state = await page.context().request.get(`${network.origin}/app/state`);
    assert.equal((await state.json()).me, null);
    await page.context().close();
  });

  test('changes wait without network, are shown as waiting, and arrive once', async () => {
    const { ficus, monstera, siteId, carer, plantNow } = await startRound();
    const page = await enter(carer.email);
    await page.goto(`${network.origin}/data/sites/${siteId}`);
    await health(page, 'Ficus lyrata', 'Kritisch').waitFor();
    await untilKept(page, siteId);
    network.set('off');
    await health(page, 'Ficus lyrata', 'Kritisch').click();
    await page.getByText('1 Änderung wartet').waitFor();
    await health(page, 'Monstera deliciosa', 'Auffällig').click();
    await page.getByText('2 Änderungen warten').waitFor();
    await health(page, 'Monstera deliciosa', 'Gesund').click();
    // It is stored before it is shown.
    await page
      .locator('[aria-pressed=true]')
      .and(health(page, 'Monstera deliciosa', 'Gesund'))
      .waitFor();
    assert.equal((await plantNow(ficus)).status, undefined);

    await page.reload();
    await page.getByText('2 Änderungen warten').waitFor();
    assert.equal(await health(page, 'Ficus lyrata', 'Kritisch').getAttribute('aria-pressed'), 'true');
    assert.deepEqual(await findBarriers(page), []);

    network.set('on');
    await page.evaluate(() => window.dispatchEvent(new Event('online')));
    await untilSent(page);
    assert.equal((await plantNow(ficus)).status, 'CRITICAL');
    assert.equal((await plantNow(monstera)).status, 'HEALTHY');
    assert.equal((await plantNow(ficus)).version, 2);
    await page.context().close();
  });

  test('changes arrive once over a flaky network', async () => {
    const { ficus, monstera, siteId, carer } = await startRound();
    const page = await enter(carer.email);
    await page.goto(`${network.origin}/data/sites/${siteId}`);
    await untilKept(page, siteId);
    network.set('flaky');
    await health(page, 'Ficus lyrata', 'Kritisch').click();
    await health(page, 'Monstera deliciosa', 'Auffällig').click();
    const arrived = async (id: string, status: string) =>
      until(`${status} has arrived`, async () => {
        await page.evaluate(() => window.dispatchEvent(new Event('online')));
        const { rows } = await office.owner.query('SELECT status, version FROM plant WHERE id = $1', [id]);
        return rows[0].status === status && Number(rows[0].version) === 2;
      });
    await arrived(ficus, 'CRITICAL');
    await arrived(monstera, 'NEEDS_ATTENTION');
    await page.context().close();
  });

  test('another change of the same plant meanwhile is a conflict to decide', async () => {
    const { ficus, monstera, siteId, carer, plantNow, patch } = await startRound();
    const page = await enter(carer.email);
    await page.goto(`${network.origin}/data/sites/${siteId}`);
    await untilKept(page, siteId);
    network.set('off');
    await health(page, 'Ficus lyrata', 'Kritisch').click();
    await health(page, 'Monstera deliciosa', 'Auffällig').click();
    await page.getByText('2 Änderungen warten').waitFor();
    await patch(ficus, { status: 'HEALTHY' });
    // Another field: nobody's health is overwritten.
    await patch(monstera, { room: 'Flur' });

    network.set('on');
    await page.evaluate(() => window.dispatchEvent(new Event('online')));
    await page.getByText('1 Änderung braucht Sie').waitFor();
    await untilSent(page);
    assert.equal((await plantNow(monstera)).status, 'NEEDS_ATTENTION');
    assert.equal((await plantNow(monstera)).room, 'Flur');
    assert.equal((await plantNow(ficus)).status, 'HEALTHY');
    await page.reload();
    await page.getByRole('link', { name: 'Ansehen' }).click();
    await page.getByText('Jemand anderes hat diese Pflanze inzwischen geändert.').waitFor();
    assert.deepEqual(await findBarriers(page), []);
    await page.getByRole('button', { name: 'Meine Angaben nehmen' }).click();
    await page.getByText('Noch nicht gesendet').waitFor({ state: 'detached' });
    assert.equal((await plantNow(ficus)).status, 'CRITICAL');
    await page.context().close();
  });

  test('signing out deletes what is kept, and asks before it deletes what was not sent', async () => {
    const { siteId, carer, plantNow, ficus } = await startRound();
    const page = await enter(carer.email);
    await page.goto(`${network.origin}/data/sites/${siteId}`);
    await untilKept(page, siteId);
    // The service is away for changes only.
    await page.route('**/app/plants/*', (route) =>
      route.request().method() === 'PATCH' ? route.abort() : route.continue(),
    );
    await health(page, 'Ficus lyrata', 'Kritisch').click();
    await page.getByText('1 Änderung wartet').waitFor();
    await page.getByRole('button', { name: 'Menü' }).click();
    await page.getByRole('button', { name: 'Paula Harms' }).click();
    await page.getByRole('button', { name: 'Abmelden' }).click();
    const question = page.getByRole('dialog', { name: 'Ohne Senden abmelden?' });
    await question.getByText('1 Änderung an Pflanzen').waitFor();
    assert.deepEqual(await findBarriers(page), []);
    await question.getByRole('button', { name: 'Abmelden' }).click();
    await page.waitForURL(/\/sign-in/);
    assert.deepEqual(await keptOn(page), { shell: false, answers: [], databases: [] });
    assert.equal((await plantNow(ficus)).status, undefined);
    await page.context().close();
  });

  test('what another tab is still reading while somebody signs out is not kept', async () => {
    const { siteId, carer } = await startRound();
    const page = await enter(carer.email);
    await page.goto(`${network.origin}/data/sites/${siteId}`);
    await untilKept(page, siteId);
    const [read, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const other = await page.context().newPage();
    await other.route(/\/app\/plants\?/, async (route) => {
      const response = await route.fetch();
      read.resolve();
      await released.promise;
      await route.fulfill({ response });
    });
    await other.goto(`${network.origin}/data/sites/${siteId}`);
    await read.promise;
    await page.getByRole('button', { name: 'Menü' }).click();
    await page.getByRole('button', { name: 'Paula Harms' }).click();
    await page.getByRole('button', { name: 'Abmelden' }).click();
    await page.waitForURL(/\/sign-in/);
    const arrived = other.waitForResponse(/\/app\/plants\?/);
    released.resolve();
    await (await arrived).finished();
    for (let look = 0; look < 20; look++) {
      assert.deepEqual(await keptOn(page), { shell: false, answers: [], databases: [] });
      await page.waitForTimeout(50);
    }
    await page.context().close();
  });

  test('a removed account finds nothing on the phone any more', async () => {
    const { siteId, carer } = await startRound();
    const page = await enter(carer.email);
    await page.goto(`${network.origin}/data/sites/${siteId}`);
    await untilKept(page, siteId);
    network.set('off');
    await health(page, 'Ficus lyrata', 'Kritisch').click();
    await page.getByText('1 Änderung wartet').waitFor();
    await office.owner.query('DELETE FROM person WHERE id = $1', [carer.id]);
    network.set('on');
    await page.evaluate(() => window.dispatchEvent(new Event('online')));
    await page.waitForURL(/\/sign-in/);
    await until('nothing is kept', async () => {
      const { shell, answers, databases } = await keptOn(page);
      return !shell && answers.length + databases.length === 0;
    });
    await page.context().close();
  });

  test('a restart of the service loses nothing', async () => {
    const { ficus, siteId, carer } = await startRound();
    const page = await enter(carer.email);
    await page.goto(`${network.origin}/data/sites/${siteId}`);
    await untilKept(page, siteId);
    await office.close();
    await health(page, 'Ficus lyrata', 'Kritisch').click();
    await page.getByText('1 Änderung wartet').waitFor();
    await page.reload();
    await page.getByText('1 Änderung wartet').waitFor();
    const next = await startService({ connection: office.connection });
    network.leadTo(Number(new URL(await next.app.listen({ host: '127.0.0.1', port: 0 })).port));
    await page.evaluate(() => window.dispatchEvent(new Event('online')));
    await untilSent(page);
    const { rows } = await next.owner.query('SELECT status FROM plant WHERE id = $1', [ficus]);
    assert.equal(rows[0].status, 'CRITICAL');
    await page.context().close();
  });
});

/** The same service with another build of the app. It takes no changes at first. */
async function upgrade(port: number) {
  const next = { port: 0, takesChanges: false };
  const server = createServer((request, response) => {
    if (request.method === 'PATCH' && !next.takesChanges) {
      response.destroy();
      return;
    }
    const headers = { ...request.headers, 'accept-encoding': 'identity' };
    const asked = send({ port, method: request.method, path: request.url, headers }, async (answer) => {
      const isPage = answer.headers['content-type']?.startsWith('text/html');
      if (!isPage && request.url !== '/service-worker.js') {
        response.writeHead(answer.statusCode!, answer.headers);
        answer.pipe(response);
        return;
      }
      const body = (await text(answer))
        .replace(/^const VERSION = '\w+'/, "const VERSION = 'next'")
        .replace('</head>', '<meta name="build" content="next"></head>');
      const { 'content-length': _length, etag: _etag, ...rest } = answer.headers;
      response.writeHead(answer.statusCode!, rest).end(body);
    });
    asked.on('error', () => response.destroy());
    request.pipe(asked);
  });
  after(() => server.close().closeAllConnections());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  next.port = (server.address() as AddressInfo).port;
  return next;
}

interface Kept {
  shell: boolean;
  answers: string[];
  databases: string[];
}

/** What lies in the browser, read without the app. */
async function keptOn(page: Page): Promise<Kept> {
  return page.evaluate(async () => {
    const databases = (await indexedDB.databases()).map(({ name }) => name!);
    const shell = (await caches.match('/')) !== undefined;
    if (!databases.includes('stamm-road')) return { shell, answers: [], databases };
    const answers = await new Promise<string[]>((resolve) => {
      const opening = indexedDB.open('stamm-road');
      // It was deleted meanwhile, and is not made again by looking at it.
      opening.onupgradeneeded = () => opening.transaction!.abort();
      opening.onerror = () => resolve([]);
      opening.onsuccess = () => {
        const store = opening.result.transaction('answers').objectStore('answers');
        const keys = store.getAllKeys();
        keys.onsuccess = () => {
          opening.result.close();
          resolve(keys.result.map(String));
        };
      };
    });
    return { shell, answers, databases };
  });
}
