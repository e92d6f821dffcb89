import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { createPerson, password } from '../helpers/office.ts';
import { withoutChromium } from '../helpers/programs.ts';
import { validCustomer } from '../helpers/service.ts';
import { findBarriers, type Office, openOffice, type Visit } from './helpers/office.ts';

describe('settings', { skip: withoutChromium }, () => {
  let office: Office;
  let visit: Visit;
  before(async () => {
    office = await openOffice({ DATA_DIR: '/data', BACKUP_DIR: '/data/backups' });
    const { email } = await createPerson(office);
    visit = await office.enter(email, { permissions: ['clipboard-read', 'clipboard-write'] });
  });

  const send = (key: string) => office.get('/customers', { headers: { apikey: key } });

  test('a new key is shown once, works immediately, and ends the old one', async () => {
    const { page, complaints } = visit;
    await page.goto(`${office.origin}/settings/api`);
    await page.getByRole('button', { name: 'Ersetzen' }).click();
    await page.getByText(/endet sofort/).waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Ersetzen' }).click();
    const shown = page.getByRole('dialog', { name: 'Ihr neuer API-Schlüssel' });
    await shown.getByText('gehört nicht in eine Webseite').waitFor();
    await shown.getByRole('button', { name: 'Kopieren' }).click();
    await shown.getByRole('button', { name: 'Kopiert' }).waitFor();
    const key = await page.evaluate<string>('navigator.clipboard.readText()');
    assert.match(key, /^stamm_/);
    assert.equal((await send(key)).statusCode, 200);
    assert.equal((await send(office.tenant.key)).statusCode, 401);

    await shown.getByRole('button', { name: 'Schlüssel gesichert' }).click();
    await page.getByRole('button', { name: 'Kopieren' }).click();
    await page.getByRole('button', { name: 'Kopiert' }).waitFor();
    const call = await page.evaluate<string>('navigator.clipboard.readText()');
    assert.ok(call.includes(key) && call.startsWith('curl '));
    await page.reload();
    await page.getByText(`…${key.slice(-4)}`).waitFor();
    assert.ok(!(await page.content()).includes(key));
    assert.deepEqual(complaints, []);
  });

  test('Verwaltung sees when the last backup was made, how large it is, and what is wrong', async () => {
    const { page, complaints } = visit;
    const { owner } = office;
    await page.goto(`${office.origin}/settings/backups`);
    await page.getByText('Noch keine. Stamm legt die erste bald nach dem Start an.').waitFor();
    await page.getByText('auf derselben Festplatte').waitFor();
    await owner.query(
      `INSERT INTO backup_folder VALUES ('/data/backups', now() - interval '3 hours', 50300000)`,
    );
    await page.reload();
    await page.getByText(/^vor 3 Stunden \(.+\) · 50,3 MB$/).waitFor();
    assert.equal(await page.getByText('„doctor“').count(), 0);
    await owner.query(`UPDATE backup_folder SET made_at = now() - interval '50 hours'`);
    await page.reload();
    await page.getByText('Die letzte Sicherung ist zu alt.').waitFor();
    await owner.query(`SELECT note_background_work('backup', 'the disk is full')`);
    await page.reload();
    await page.getByText('Die letzte Sicherung ist fehlgeschlagen.').waitFor();
    assert.deepEqual(await findBarriers(page), []);
    assert.deepEqual(complaints, []);
  });

  test('an invited colleague of the role Pflege sees master data and can change nothing', async () => {
    const { page } = visit;
    const { call } = await createPerson(office);
    const created = await call('POST', '/customer', { ...validCustomer, companyName: 'Nur lesen GmbH' });
    const { id } = created.json();
    await page.goto(`${office.origin}/settings/people`);
    await page.getByRole('button', { name: 'Einladen' }).click();
    await page.getByLabel('E-Mail').fill('jonas@blattwerk.example');
    await page.getByRole('button', { name: 'Link erstellen' }).click();
    const link = await page.getByRole('dialog').locator('code').textContent();

    const guest = await office.visit();
    await guest.page.goto(link!);
    await guest.page.getByLabel('Ihr Name').fill('Jonas Harms');
    await guest.page.getByRole('textbox', { name: 'Passwort' }).fill(password);
    await guest.page.getByRole('button', { name: 'Einladung annehmen' }).click();
    await guest.page.getByText('Jonas Harms').first().waitFor();
    await guest.page.goto(`${office.origin}/data/customers/${id}`);
    await guest.page.getByRole('heading', { name: 'Nur lesen GmbH' }).waitFor();
    assert.equal(await guest.page.getByRole('link', { name: 'Bearbeiten' }).count(), 0);
    assert.equal(await guest.page.getByRole('link', { name: 'API-Anfragen' }).count(), 0);
    const status = await guest.page.evaluate<number>(
      `fetch('/app/customers/${id}', { method: 'PATCH', headers: { 'Content-Type': 'application/json' }, body: '{"companyName":"x"}' }).then((answer) => answer.status)`,
    );
    assert.equal(status, 403);
    assert.deepEqual(guest.complaints, []);
  });

  test('a changed password ends the other sessions', async () => {
    const { email } = await createPerson(office, { name: 'Birte Schröder' });
    const here = await office.enter(email);
    const there = await office.enter(email);
    await here.page.goto(`${office.origin}/settings`);
    await here.page.getByRole('textbox', { name: 'Bisheriges Passwort' }).fill(password);
    await here.page.getByRole('textbox', { name: 'Neues Passwort' }).fill('vier Farne im Flur');
    await here.page.getByRole('button', { name: 'Passwort ändern' }).click();
    await here.page.getByText('Passwort geändert').waitFor();
    await there.page.goto(`${office.origin}/data/sites`);
    await there.page.waitForURL(/\/sign-in/);
  });

  test('a colleague who is invited again gets a link for a new password instead', async () => {
    const { page } = visit;
    const { email } = await createPerson(office, { name: 'Vergesslich Weber' });
    await page.goto(`${office.origin}/settings/people`);
    await page.getByRole('button', { name: 'Einladen' }).click();
    await page.getByRole('textbox', { name: 'E-Mail' }).fill(email);
    await page.getByRole('button', { name: 'Link erstellen' }).click();
    await page.getByRole('button', { name: 'Passwort zurücksetzen' }).click();
    await page.getByRole('button', { name: 'Link erstellen' }).click();
    const link = await page.getByRole('dialog').locator('code').textContent();
    const colleague = await office.visit();
    await colleague.page.goto(link!);
    await colleague.page.getByRole('textbox', { name: 'Passwort' }).fill('vier Farne im Flur');
    await colleague.page.getByRole('button', { name: 'Passwort speichern' }).click();
    await colleague.page.getByText('Ihr neues Passwort ist gespeichert.').waitFor();
    assert.deepEqual(colleague.complaints, []);
  });

  test('Verwaltung signs a colleague out everywhere, who signs out everywhere too', async () => {
    const { page } = visit;
    const { email } = await createPerson(office, { name: 'Karla Überall', role: 'PFLEGE' });
    const colleague = await office.enter(email);
    await page.goto(`${office.origin}/settings/people`);
    await page.getByRole('button', { name: 'Aktionen für Karla Überall' }).click();
    assert.deepEqual(await findBarriers(page), []);
    await page.getByRole('menuitem', { name: 'Überall abmelden' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Abmelden' }).click();
    await page.getByText('Karla Überall wurde überall abgemeldet').waitFor();
    await colleague.page.goto(`${office.origin}/settings`);
    await colleague.page.waitForURL(/\/sign-in/);

    const [here, there] = [await office.enter(email), await office.enter(email)];
    await here.page.goto(`${office.origin}/settings`);
    await here.page.getByRole('button', { name: 'Überall abmelden' }).click();
    await here.page.getByRole('dialog').getByRole('button', { name: 'Überall abmelden' }).click();
    await here.page.waitForURL(/\/sign-in/);
    await there.page.goto(`${office.origin}/settings`);
    await there.page.waitForURL(/\/sign-in/);
  });

  test('the own name and address can be changed', async () => {
    const { email } = await createPerson(office, { name: 'Alter Name' });
    const { page, complaints } = await office.enter(email);
    await page.goto(`${office.origin}/settings`);
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Neuer Name');
    await page.getByRole('textbox', { name: 'E-Mail' }).fill(`neu-${email}`);
    await page.getByRole('textbox', { name: 'Ihr Passwort' }).fill(password);
    assert.deepEqual(await findBarriers(page), []);
    await page.getByRole('button', { name: 'Speichern' }).first().click();
    await page.getByRole('heading', { name: 'Neuer Name' }).waitFor();
    const kept = await page.evaluate<string>(
      `fetch('/app/session').then((answer) => answer.json()).then(({ person }) => person.email)`,
    );
    assert.equal(kept, `neu-${email}`);
    assert.deepEqual(complaints, []);
  });
});
