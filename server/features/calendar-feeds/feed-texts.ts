// The words of a feed.
import type { PlannedVisit } from '../../../core/calendar/visit-plan.ts';
import type { Language } from '../../messages.ts';
import type { FeedSite } from './feed-data.ts';

interface Words {
  visits: string;
  times: string;
  contact: string;
  customer: string;
  key: string;
  noKey: string;
  appointment: string;
  preparation: (minutes: string) => string;
  moved: (day: string, reason: string) => string;
  closed: string;
  agreed: string;
  proposed: string;
  cancelled: string;
  preparing: string;
  incomplete: string;
  shortened: (day: string) => string;
  moreSites: (count: string) => string;
}

const words: Record<Language, Words> = {
  de: {
    visits: 'Besuche',
    times: 'Geöffnet',
    contact: 'Ansprechpartner',
    customer: 'Kunde',
    key: 'Schlüssel vorhanden',
    noKey: 'Kein Schlüssel',
    appointment: 'Termin nötig',
    preparation: (minutes) => `Vorbereitung: ${minutes} Min.`,
    moved: (day, reason) => `Verschoben vom ${day}: ${reason}`,
    closed: 'geschlossen',
    agreed: 'nach Vereinbarung',
    proposed: 'Termin vorgeschlagen, noch nicht bestätigt',
    cancelled: 'Abgesagt',
    preparing: 'Vorbereitung',
    incomplete: 'Kalender unvollständig',
    shortened: (day) => `Spätere Besuche fehlen: Der Kalender reicht bis ${day}.`,
    moreSites: (count) => `Nur ${count} Standorte sind enthalten.`,
  },
  en: {
    visits: 'Visits',
    times: 'Open',
    contact: 'Contact',
    customer: 'Customer',
    key: 'Key available',
    noKey: 'No key',
    appointment: 'Appointment needed',
    preparation: (minutes) => `Preparation: ${minutes} min`,
    moved: (day, reason) => `Moved from ${day}: ${reason}`,
    closed: 'closed',
    agreed: 'as agreed',
    proposed: 'Appointment proposed, not confirmed yet',
    cancelled: 'Cancelled',
    preparing: 'Preparation',
    incomplete: 'Calendar incomplete',
    shortened: (day) => `Later visits are missing: the calendar ends on ${day}.`,
    moreSites: (count) => `Only ${count} sites are included.`,
  },
};

const locales = { de: 'de-DE', en: 'en-GB' };

function build(language: Language) {
  const text = words[language];
  const dayText = (day: string) =>
    new Intl.DateTimeFormat(locales[language], { dateStyle: 'medium', timeZone: 'UTC' }).format(
      new Date(day),
    );
  const person = (title: string, ...parts: (string | null)[]) =>
    parts.some(Boolean) ? `${title}: ${parts.filter(Boolean).join(', ')}` : '';
  return {
    title: (name: string) => `${text.visits}: ${name}`,
    incomplete: text.incomplete,
    preparation: text.preparing,
    shortened: (day: string) => text.shortened(dayText(day)),
    moreSites: (count: number) => text.moreSites(count.toLocaleString(locales[language])),
    description(site: FeedSite, { windows, movedFrom, reason, holiday, appointment }: PlannedVisit): string {
      const cause = appointment ? text.agreed : (reason === 'HOLIDAY' && holiday?.[language]) || text.closed;
      return [
        appointment?.status === 'CANCELLED' && text.cancelled,
        appointment?.status === 'PROPOSED' && text.proposed,
        movedFrom && text.moved(dayText(movedFrom), cause),
        appointment?.comment,
        windows.length > 0 &&
          !appointment?.timeFrom &&
          `${text.times}: ${windows.map(({ from, until }) => `${from}–${until}`).join(', ')}`,
        person(text.customer, site.customer, site.customer_phone),
        person(text.contact, site.contact, site.contact_phone),
        site.has_key ? text.key : text.noKey,
        site.needs_appointment && appointment?.status !== 'CONFIRMED' && text.appointment,
        site.preparation !== null && text.preparation(site.preparation),
        site.comment,
      ]
        .filter(Boolean)
        .join('\n');
    },
  };
}

export const feedTexts = { de: build('de'), en: build('en') };
