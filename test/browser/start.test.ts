import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { makeSetupToken } from '../../server/access/one-time-links.ts';
import { startMailServer } from '../api/sign-in/mail-server.ts';
import { createPerson, password } from '../helpers/office.ts';
import { withoutChromium } from '../helpers/programs.ts';
import { findBarriers, type Office, openOffice, signIn } from './helpers/office.ts';

describe('before anybody has an account', { skip: withoutChromium }, () => {
  let office: Office;
  before(async () => {
    office = await openOffice();
  });

  test('the first page says where the setup link is, and the link makes the first account', async () => {
    const { page, complaints } = await office.visit();
    await page.goto(`${office.origin}/`);
    await page.getByRole('heading', { name: 'Willkommen bei Stamm' }).waitFor();
    await page.getByText(`${office.origin}/setup#…`).waitFor();

    const token = await makeSetupToken(office.database);
    await page.goto(`${office.origin}/setup#${token}`);
    await page.getByRole('heading', { name: 'Stamm einrichten' }).waitFor();
    assert.equal(new URL(page.url()).hash, '');
    await page.getByLabel('Name Ihres Betriebs').fill('Blattwerk GmbH');
    await page.getByLabel('Ihr Name').fill('Anke Petersen');
    await page.getByLabel('Ihre E-Mail').fill('anke@blattwerk.example');
    await page.getByRole('textbox', { name: 'Passwort' }).fill('kurz');
    await page.getByRole('button', { name: 'Einrichten' }).click();
    await page.locator('input[name=password][aria-invalid=true]').waitFor();

    await page.getByRole('textbox', { name: 'Passwort' }).fill(password);
    await page.getByRole('button', { name: 'Einrichten' }).click();
    await page.getByRole('heading', { name: 'Andere Systeme anbinden' }).waitFor();
    await page.getByText('Blattwerk GmbH', { exact: true }).waitFor();

    const late = await office.visit();
    await late.page.goto(`${office.origin}/setup#${token}`);
    await late.page.getByRole('heading', { name: 'Dieser Link gilt nicht mehr' }).waitFor();
    assert.deepEqual(complaints, []);
  });
});

describe('signing in', { skip: withoutChromium }, () => {
  let office: Office;
  let email: string;
  before(async () => {
    office = await openOffice();
    ({ email } = await createPerson(office));
  });

  test('a wrong password shows an error, and the right one leads to the wanted page', async () => {
    const { page, complaints } = await office.visit();
    await page.goto(`${office.origin}/data/sites?sort=-name`);
    await page.waitForURL(/\/sign-in\?to=/);
    await page.locator('input[name=email]').fill(email);
    await page.locator('input[name=password]').fill('something else entirely');
    await page.getByRole('button', { name: 'Anmelden' }).click();
    await page.getByRole('alert').waitFor();
    await signIn(page, email);
    await page.waitForURL(`${office.origin}/data/sites?sort=-name`);
    await page.getByRole('heading', { name: 'Standorte', level: 1 }).waitFor();
    assert.deepEqual(complaints, []);
  });

  test('without mail, the page says who helps, the command of the operator included', async () => {
    const { page, complaints } = await office.visit();
    await page.goto(`${office.origin}/sign-in`);
    await page.getByRole('button', { name: 'Passwort vergessen?' }).click();
    await page.getByText('Einstellungen › Personen').waitFor();
    await page.getByText('npm run --silent stamm -- user password --email …').waitFor();
    assert.deepEqual(await findBarriers(page), []);
    assert.deepEqual(complaints, []);
  });

  test('too many attempts: the page says for how long, and a known browser goes on', async () => {
    const { page } = await office.enter(email);
    await page.goto(office.origin);
    const stranger = await office.visit();
    await stranger.page.goto(`${office.origin}/sign-in`);
    await stranger.page.locator('input[name=email]').fill(email);
    await stranger.page.locator('input[name=password]').fill('something else entirely');
    for (let count = 0; count < 11; count++) {
      const answer = stranger.page.waitForResponse(/\/app\/session$/);
      await stranger.page.getByRole('button', { name: 'Anmelden' }).click();
      await answer;
    }
    await stranger.page.getByText(/Zu viele Versuche aus diesem Netz.*Minuten/).waitFor();
    await page.getByRole('button', { name: 'Anke Petersen' }).click();
    await page.getByRole('button', { name: 'Abmelden' }).click();
    await page.waitForURL(/\/sign-in/);
    await signIn(page, email);
    await page.waitForURL(`${office.origin}/`);
    await office.owner.query('DELETE FROM sign_in_attempt');
  });

  test('an address of two businesses with one password is asked which', async () => {
    const { tenantId } = await office.createTenant('Zweigwerk GmbH');
    const other = await createPerson(office, { tenantId, name: 'Zwei Betriebe' });
    const hash = await office.owner.query('SELECT email_hash FROM sign_in_name WHERE person_id = $1', [
      other.id,
    ]);
    const same = await createPerson(office);
    await office.owner.query('UPDATE sign_in_name SET email_hash = $2 WHERE person_id = $1', [
      same.id,
      hash.rows[0].email_hash,
    ]);
    const { page } = await office.visit();
    await page.goto(`${office.origin}/sign-in`);
    await signIn(page, other.email);
    await page.getByRole('heading', { name: 'Wohin?' }).waitFor();
    await page.getByRole('button', { name: 'Zweigwerk GmbH' }).click();
    await page.waitForURL(`${office.origin}/`);
    await page.getByText('Zweigwerk GmbH', { exact: true }).waitFor();
  });

  test('a link that leads elsewhere after the sign-in is not followed', async () => {
    for (const trap of ['//elsewhere.example/', '/\\\\elsewhere.example/', 'https://elsewhere.example/']) {
      const { page, complaints } = await office.visit();
      await page.goto(`${office.origin}/sign-in?to=${encodeURIComponent(trap)}`);
      await signIn(page, email);
      await page.waitForURL(`${office.origin}/`);
      assert.deepEqual(complaints, []);
    }
  });

  test('a session that has ended leads to the sign-in and back', async () => {
    const { page } = await office.enter(email);
    await page.goto(`${office.origin}/data/customers`);
    await page.getByRole('heading', { name: 'Kunden', level: 1 }).waitFor();
    await page.context().clearCookies();
    await page.getByRole('searchbox').fill('Alster');
    await page.getByText('Ihre Sitzung ist abgelaufen').waitFor();
    await signIn(page, email);
    await page.waitForURL(/\/data\/customers/);
  });

  test('after signing out nothing of the office can be seen', async () => {
    const { page } = await office.enter(email);
    await page.goto(office.origin);
    await page.getByRole('button', { name: 'Anke Petersen' }).click();
    await page.getByRole('button', { name: 'Abmelden' }).click();
    await page.waitForURL(/\/sign-in/);
    await page.goBack();
    await page.waitForURL(/\/sign-in/);
  });

  test('the language comes from the browser, can be switched, and is remembered', async () => {
    const { page } = await office.enter(email, { locale: 'en-US' });
    await page.goto(office.origin);
    await page.getByRole('link', { name: 'Customers' }).first().waitFor();
    assert.equal(await page.locator('html').getAttribute('lang'), 'en');
    await page.getByRole('button', { name: 'Anke Petersen' }).click();
    await page.getByText('Deutsch', { exact: true }).click();
    await page.getByRole('link', { name: 'Kunden' }).first().waitFor();
    await page.reload();
    await page.getByRole('link', { name: 'Kunden' }).first().waitFor();
    assert.equal(await page.locator('html').getAttribute('lang'), 'de');
  });
});

describe('a forgotten password', { skip: withoutChromium }, () => {
  test('with mail, the person sets a new one alone and signs in with it', async () => {
    const mail = await startMailServer();
    const office = await openOffice({ SMTP_URL: mail.url, PUBLIC_URL: 'https://stamm.example.com' });
    const { email } = await createPerson(office);
    const { page, complaints } = await office.visit();
    await page.goto(`${office.origin}/sign-in`);
    await page.getByRole('link', { name: 'Passwort vergessen?' }).click();
    await page.getByLabel('E-Mail').fill(email);
    await page.getByRole('button', { name: 'Link schicken' }).click();
    await page.getByRole('heading', { name: 'Sehen Sie in Ihr Postfach' }).waitFor();
    const { body } = await mail.mailTo(email, (received) => received.body.includes('/reset#'));
    const [, token] = /\/reset#([\w-]{43})/.exec(body)!;

    await page.goto(`${office.origin}/reset#${token}`);
    await page.getByText(email).waitFor();
    assert.equal(new URL(page.url()).hash, '');
    await page.getByRole('textbox', { name: 'Passwort' }).fill('Sommer2026');
    await page.getByRole('button', { name: 'Passwort speichern' }).click();
    await page.getByText('Dieses Passwort ist leicht zu erraten.').waitFor();
    assert.deepEqual(await findBarriers(page), []);
    await page.getByRole('textbox', { name: 'Passwort' }).fill('vier Farne im Flur');
    await page.getByRole('button', { name: 'Passwort speichern' }).click();
    await page.getByText('Ihr neues Passwort ist gespeichert.').waitFor();
    await page.locator('input[name=email]').fill(email);
    await page.locator('input[name=password]').fill('vier Farne im Flur');
    await page.getByRole('button', { name: 'Anmelden' }).click();
    await page.waitForURL(`${office.origin}/`);
    assert.deepEqual(complaints, []);

    const late = await office.visit({ locale: 'en-US' });
    await late.page.goto(`${office.origin}/reset#${token}`);
    await late.page.getByRole('heading', { name: 'This link no longer works' }).waitFor();
    await late.page.getByRole('link', { name: 'Forgot password?' }).waitFor();
  });
});
