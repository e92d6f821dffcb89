// The mail about an appointment, read by the parser of Thunderbird.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import ICAL from 'ical.js';
import { createPerson } from '../../helpers/office.ts';
import { startService, validSite } from '../../helpers/service.ts';
import { startMailServer } from '../sign-in/mail-server.ts';

const mail = await startMailServer();
const service = await startService({ SMTP_URL: mail.url });

async function agree(contact: object, appointment: object = {}): Promise<string> {
  const customerId = await service.createCustomer();
  const contactPerson = await service.post('/customer/contact-person', {
    ...{ customerId, lastName: 'Petersen', ...contact },
  });
  const site = await service.post('/customer/site', {
    ...validSite(customerId),
    ...{ name: 'Foyer\u2028Süd', contactPersonId: contactPerson.json().id },
  });
  const made = await service.post('/customer/site/appointment', {
    ...{ siteId: site.json().id, date: '2026-12-23', timeFrom: '09:00', timeUntil: '11:00', ...appointment },
  });
  assert.equal(made.statusCode, 201, made.body);
  return made.json().id;
}

/** The calendar entry of a mail, whichever part holds it. */
function eventIn(raw: string): ICAL.Event {
  const part = /(Content-Type: text\/calendar[\s\S]*?)\r?\n\r?\n([\s\S]*?)\r?\n--/.exec(raw)!;
  const [, head = '', encoded = ''] = part;
  const text = /base64/.test(head) ? Buffer.from(encoded, 'base64').toString() : decodeQuoted(encoded);
  return new ICAL.Event(new ICAL.Component(ICAL.parse(text)).getFirstSubcomponent('vevent')!);
}

function decodeQuoted(text: string): string {
  const bytes = text
    .replaceAll(/=\r?\n/g, '')
    .replaceAll(/=([0-9A-F]{2})/g, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(bytes, 'latin1').toString();
}

test('an appointment is mailed to the contact person with an entry for the calendar', async () => {
  const { call } = await createPerson(service, { role: 'BUERO' });
  const id = await agree({ email: 'ida@hotel.example', language: 'de' });
  assert.equal((await call('POST', `/appointments/${id}/mail`)).statusCode, 204);
  const { raw, subject } = await mail.mailTo('ida@hotel.example');
  assert.match(subject, /^Ihr Termin: Mittwoch, 23\. Dezember 2026, Grün & Gut GmbH$/);
  const event = eventIn(raw);
  assert.equal(event.uid, `${id}@stamm`);
  assert.equal(event.startDate.toJSDate().toISOString(), '2026-12-23T08:00:00.000Z');
  assert.equal(event.endDate.toJSDate().toISOString(), '2026-12-23T10:00:00.000Z');
  assert.equal(event.component.getFirstPropertyValue('status'), 'CONFIRMED');
  assert.match(event.location, /^Foyer Süd, /);
});

test('an appointment over the change of clocks and without an end lasts as long as it says', async () => {
  const { call } = await createPerson(service);
  const id = await agree(
    { email: 'en@hotel.example', language: 'en' },
    { date: '2026-10-25', timeFrom: '01:30', timeUntil: undefined, durationInMinutes: 120 },
  );
  await call('POST', `/appointments/${id}/mail`);
  const { raw, subject } = await mail.mailTo('en@hotel.example');
  assert.match(subject, /^Your appointment: Sunday,? 25 October 2026/);
  const event = eventIn(raw);
  assert.equal(event.startDate.toJSDate().toISOString(), '2026-10-24T23:30:00.000Z');
  assert.equal(event.endDate.toJSDate().toISOString(), '2026-10-25T01:30:00.000Z');
});

test('a mailed entry and the same one in a calendar feed have sequences that only grow', async () => {
  const { call } = await createPerson(service);
  const id = await agree(
    { email: 'seq@hotel.example' },
    { date: Temporal.Now.plainDateISO('UTC').toString() },
  );
  const { siteId } = (await call('GET', `/appointments/${id}`)).json();
  const feed = (await call('PUT', `/calendar-feeds/site/${siteId}`, { language: 'de' })).json();
  const inFeed = async () => {
    const { body } = await service.app.inject({ method: 'GET', url: new URL(feed.address).pathname });
    const events = new ICAL.Component(ICAL.parse(body)).getAllSubcomponents('vevent');
    return events.map((event) => new ICAL.Event(event)).find(({ uid }) => uid === `${id}@stamm`)!.sequence;
  };
  const inMail = async (status: string, subjectWord: string) => {
    await service.patch(`/appointments/${id}`, { status });
    await call('POST', `/appointments/${id}/mail`);
    const { raw } = await mail.mailTo('seq@hotel.example', ({ subject }) => subject.startsWith(subjectWord));
    return eventIn(raw).sequence;
  };
  const mailed = await inMail('PROPOSED', 'Terminvorschlag');
  assert.equal(await inFeed(), mailed);
  await service.delete(`/appointments/${id}`);
  await call('POST', `/appointments/${id}/restore`);
  const restored = await inFeed();
  assert.ok(restored > mailed);
  assert.ok((await inMail('CANCELLED', 'Termin abgesagt')) > restored);
});

test('nobody without an address is mailed, and only the office mails', async () => {
  const id = await agree({});
  const office = await createPerson(service, { role: 'BUERO' });
  const refused = await office.call('POST', `/appointments/${id}/mail`);
  assert.equal(refused.statusCode, 400);
  assert.equal(refused.json().errors[0].field, 'contactPersonId.email');
  const carer = await createPerson(service, { role: 'PFLEGE' });
  assert.equal((await carer.call('POST', `/appointments/${id}/mail`)).statusCode, 403);
  const other = await service.createTenant('Blatt & Co.');
  const stranger = await createPerson(service, { tenantId: other.tenantId });
  assert.equal((await stranger.call('POST', `/appointments/${id}/mail`)).statusCode, 404);
});
