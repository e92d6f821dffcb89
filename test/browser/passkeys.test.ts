// Passkeys in a real browser, with Chromium's virtual authenticator.
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { createPerson, password } from '../helpers/office.ts';
import { withoutChromium } from '../helpers/programs.ts';
import { until } from '../helpers/waiting.ts';
import { findBarriers, type Office, openOffice, signIn, type Visit } from './helpers/office.ts';

/** Shows a finger whenever it is asked. */
async function addAuthenticator(page: Page): Promise<void> {
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('WebAuthn.enable');
  await devtools.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
}

describe('passkeys', { skip: withoutChromium }, () => {
  let office: Office;
  before(async () => {
    office = await openOffice({ hostname: 'localhost' });
  });

  const ageProof = (person: { id: string }) =>
    office.owner.query(`UPDATE session SET proved_at = now() - interval '1 hour' WHERE person_id = $1`, [
      person.id,
    ]);

  async function signOut({ page }: Visit): Promise<void> {
    await page.context().clearCookies();
    await page.goto(`${office.origin}/sign-in`);
  }

  /** Answers with the recovery codes that come with the first passkey. */
  async function addFirstPasskey({ page }: Visit): Promise<string[]> {
    await addAuthenticator(page);
    await page.goto(`${office.origin}/settings`);
    await page.getByRole('button', { name: 'Passkey hinzufügen' }).click();
    const codes = page.getByRole('dialog', { name: 'Ihre Notfallcodes' });
    await codes.getByRole('listitem').first().waitFor();
    const texts = await codes.getByRole('listitem').allTextContents();
    assert.deepEqual(await findBarriers(page), []);
    await codes.getByRole('button', { name: 'Codes gesichert' }).click();
    return texts;
  }

  test('a passkey is added, renamed, and signs in instead of a password', async () => {
    const person = await createPerson(office);
    const visit = await office.enter(person.email);
    const { page, complaints } = visit;
    assert.equal((await addFirstPasskey(visit)).length, 10);
    await page.getByText('10 Notfallcodes übrig').waitFor();
    await page.getByRole('button', { name: 'Umbenennen: Chrome, Linux' }).click();
    await page.getByRole('dialog').getByLabel('Name', { exact: true }).fill('Büro-PC');
    await page.getByRole('dialog').getByRole('button', { name: 'Speichern' }).click();
    await page.getByText('Büro-PC').waitFor();
    assert.deepEqual(await findBarriers(page), []);

    await signOut(visit);
    await page.getByRole('button', { name: 'Mit Passkey anmelden' }).click();
    await page.waitForURL(`${office.origin}/`);
    await page.goto(`${office.origin}/settings`);
    await page.getByRole('button', { name: 'Entfernen: Büro-PC' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Entfernen' }).click();
    await page.getByText('Passkey entfernt').waitFor();
    await until('it is gone', async () => (await page.getByText('Büro-PC').count()) === 0);
    assert.deepEqual(complaints, []);
  });

  test('after the password the passkey is asked for, or a recovery code', async () => {
    const person = await createPerson(office);
    const visit = await office.enter(person.email);
    const { page, complaints } = visit;
    const [code] = await addFirstPasskey(visit);
    await signOut(visit);
    await signIn(page, person.email);
    await page.getByRole('heading', { name: 'Noch ein Schritt' }).waitFor();
    assert.deepEqual(await findBarriers(page), []);
    await page.getByRole('button', { name: 'Passkey verwenden' }).click();
    await page.waitForURL(`${office.origin}/`);

    await signOut(visit);
    await signIn(page, person.email);
    await page.getByRole('button', { name: 'Notfallcode eingeben' }).click();
    await page.getByLabel('Notfallcode').fill('falsch');
    await page.getByRole('button', { name: 'Anmelden' }).click();
    await page.getByText('falsch oder verbraucht').waitFor();
    await page.getByLabel('Notfallcode').fill(code!.toUpperCase());
    await page.getByRole('button', { name: 'Anmelden' }).click();
    await page.getByText('Sie haben noch 9 Codes').waitFor();
    await page.waitForURL(`${office.origin}/`);
    assert.deepEqual(complaints, []);
  });

  test('an old proof is asked for over the page, which keeps what was typed and goes on', async () => {
    const person = await createPerson(office);
    const visit = await office.enter(person.email);
    const { page, complaints } = visit;
    await addFirstPasskey(visit);
    await page.goto(`${office.origin}/settings/people`);
    const invite = async (email: string) => {
      await page.getByRole('button', { name: 'Einladen' }).click();
      await page.getByRole('dialog').getByLabel('E-Mail').fill(email);
      await page.getByRole('button', { name: 'Link erstellen' }).click();
    };
    const question = page.getByRole('dialog', { name: 'Sind Sie es?' });
    const link = page.getByRole('dialog', { name: 'Verschicken Sie diesen Link' });

    await ageProof(person);
    await invite('jonas@blattwerk.example');
    await question.getByRole('textbox', { name: 'Passwort' }).waitFor();
    assert.deepEqual(await findBarriers(page), []);
    await page.keyboard.press('Escape');
    await question.waitFor({ state: 'hidden' });
    const email = page.getByRole('dialog').getByLabel('E-Mail');
    assert.equal(await email.inputValue(), 'jonas@blattwerk.example');
    await page.getByRole('button', { name: 'Link erstellen' }).click();
    await question.getByRole('textbox', { name: 'Passwort' }).fill('falsch');
    await question.getByRole('button', { name: 'Bestätigen' }).click();
    await question.getByText('Das bisherige Passwort ist falsch.').waitFor();
    await question.getByRole('textbox', { name: 'Passwort' }).fill(password);
    await question.getByRole('button', { name: 'Bestätigen' }).click();
    await link.locator('code').waitFor();
    await link.getByRole('button', { name: 'Schließen' }).last().click();

    await ageProof(person);
    await invite('birte@blattwerk.example');
    await question.getByRole('button', { name: 'Passkey verwenden' }).click();
    await link.locator('code').waitFor();
    assert.deepEqual(complaints, []);
  });

  test('a business that requires passkeys stops people without one until they add it', async () => {
    const { tenantId } = await office.createTenant('Blatt & Co.');
    const vera = await createPerson(office, { tenantId, name: 'Vera' });
    const paul = await createPerson(office, { tenantId, name: 'Paul', role: 'PFLEGE' });
    const admin = await office.enter(vera.email);
    const colleague = await office.enter(paul.email);
    await colleague.page.goto(office.origin);
    await admin.page.goto(`${office.origin}/settings/people`);
    const requirement = admin.page.getByRole('switch', { name: 'Passkeys verlangen' });
    await requirement.waitFor();
    assert.ok(await requirement.isDisabled());
    await addFirstPasskey(admin);
    await admin.page.goto(`${office.origin}/settings/people`);
    await requirement.click();
    await admin.page.getByText('Ab jetzt brauchen alle einen Passkey').waitFor();
    assert.deepEqual(await findBarriers(admin.page), []);

    const { page } = colleague;
    await addAuthenticator(page);
    await page.getByRole('complementary').getByRole('link', { name: 'Standorte' }).click();
    await page.waitForURL(/required-passkey/);
    await page.getByText('Blatt & Co. verlangt einen Passkey').waitFor();
    assert.deepEqual(await findBarriers(page), []);
    await page.goto(`${office.origin}/data/sites`);
    await page.waitForURL(/required-passkey/);
    await page.getByRole('button', { name: 'Passkey hinzufügen' }).click();
    await page.getByRole('heading', { name: 'Ihre Notfallcodes' }).waitFor();
    await page.getByRole('button', { name: 'Codes gesichert' }).click();
    await page.waitForURL(`${office.origin}/`);
    await page.getByRole('complementary').getByRole('link', { name: 'Standorte' }).click();
    await page.getByRole('heading', { name: 'Standorte', exact: true }).waitFor();

    await admin.page.reload();
    await admin.page.getByRole('button', { name: 'Zurücksetzen: Paul' }).click();
    await admin.page.getByRole('dialog').getByRole('button', { name: 'Zurücksetzen' }).click();
    await admin.page.getByText('Passkeys von Paul entfernt').waitFor();
    await page.goto(`${office.origin}/data/sites`);
    await page.waitForURL(/sign-in/);
    assert.deepEqual([...admin.complaints, ...colleague.complaints], []);
  });

  test('at an IP address the pages say where passkeys work', async () => {
    const person = await createPerson(office);
    const { page } = await office.visit();
    const origin = office.origin.replace('localhost', '127.0.0.1');
    await page.goto(`${origin}/sign-in`);
    await page.getByRole('button', { name: 'Anmelden' }).waitFor();
    assert.equal(await page.getByRole('button', { name: 'Mit Passkey anmelden' }).count(), 0);
    await signIn(page, person.email);
    await page.waitForURL(`${origin}/`);
    await page.goto(`${origin}/settings`);
    await page.getByText('nicht unter einer IP-Adresse').waitFor();
    assert.equal(await page.getByRole('button', { name: 'Passkey hinzufügen' }).count(), 0);
    assert.deepEqual(await findBarriers(page), []);
  });
});
