// An appointment as a mail: plain text, and the same as an entry for a calendar program.
import ical, { ICalCalendarMethod, ICalEventStatus } from 'ical-generator';
import type { Mail } from '../../mail/mailer.ts';
import type { Language } from '../../messages.ts';

export interface AgreedAppointment {
  id: string;
  /** As in calendar feeds, which have the same entry: it never falls. */
  sequence: number;
  status: 'PROPOSED' | 'CONFIRMED' | 'CANCELLED';
  date: string;
  time_from: string | null;
  time_until: string | null;
  duration_in_minutes: number | null;
  updated_at: Date;
  site: string;
  time_zone: string;
  street: string;
  zip_code: string;
  city: string;
  email: string;
  language: Language | null;
  business: string;
}

const texts = {
  de: {
    subject: { PROPOSED: 'Terminvorschlag', CONFIRMED: 'Ihr Termin', CANCELLED: 'Termin abgesagt' },
    time: (from: string, until: string | null) => (until ? `${from} bis ${until} Uhr` : `${from} Uhr`),
    summary: (business: string) => `Pflanzenpflege, ${business}`,
    body: {
      PROPOSED: 'wir schlagen Ihnen diesen Termin für die Pflege Ihrer Pflanzen vor:',
      CONFIRMED: 'wir haben diesen Termin für die Pflege Ihrer Pflanzen vereinbart:',
      CANCELLED: 'dieser Termin für die Pflege Ihrer Pflanzen entfällt:',
    },
    greeting: 'Guten Tag,',
    farewell: 'Freundliche Grüße',
  },
  en: {
    subject: {
      PROPOSED: 'Proposed appointment',
      CONFIRMED: 'Your appointment',
      CANCELLED: 'Appointment cancelled',
    },
    time: (from: string, until: string | null) => (until ? `${from} to ${until}` : from),
    summary: (business: string) => `Plant care, ${business}`,
    body: {
      PROPOSED: 'we propose this appointment for the care of your plants:',
      CONFIRMED: 'we have arranged this appointment for the care of your plants:',
      CANCELLED: 'this appointment for the care of your plants is cancelled:',
    },
    greeting: 'Hello,',
    farewell: 'Kind regards',
  },
} as const;

const locales = { de: 'de-DE', en: 'en-GB' } as const;

/** One line: a line break would begin a header or a property of its own. */
function toLine(text: string): string {
  return text.replaceAll(/[\p{Cc}\u2028\u2029]+/gu, ' ').trim();
}

export function writeAppointmentMail(appointment: AgreedAppointment): Mail {
  const { date, status, business, email, time_from: from, time_until: until } = appointment;
  const language = appointment.language ?? 'de';
  const words = texts[language];
  const day = new Intl.DateTimeFormat(locales[language], { dateStyle: 'full', timeZone: 'UTC' }).format(
    new Date(`${date}T00:00:00Z`),
  );
  const place = toLine(
    `${appointment.site}, ${appointment.street}, ${appointment.zip_code} ${appointment.city}`,
  );
  const time = from ? `, ${words.time(from, until)}` : '';
  return {
    to: email,
    subject: toLine(`${words.subject[status]}: ${day}, ${business}`),
    text: `${words.greeting}\n\n${words.body[status]}\n\n${day}${time}\n${place}\n\n${words.farewell}\n${toLine(business)}\n`,
    icalEvent: {
      method: 'PUBLISH',
      filename: 'termin.ics',
      content: toCalendar(appointment, place, words.summary(toLine(business))),
    },
  };
}

const statuses = {
  PROPOSED: ICalEventStatus.TENTATIVE,
  CONFIRMED: ICalEventStatus.CONFIRMED,
  CANCELLED: ICalEventStatus.CANCELLED,
};

function toCalendar(appointment: AgreedAppointment, location: string, summary: string): string {
  const calendar = ical({
    prodId: { company: 'Stamm', product: 'Appointments' },
    method: ICalCalendarMethod.PUBLISH,
  });
  calendar.createEvent({
    id: `${appointment.id}@stamm`,
    sequence: appointment.sequence,
    stamp: appointment.updated_at,
    status: statuses[appointment.status],
    ...{ summary, location },
    ...timesOf(appointment),
  });
  return calendar.toString();
}

const usualMinutes = 60;

/** In UTC, which every program knows. Without a time, the whole day. */
function timesOf({ date, time_zone: timeZone, ...appointment }: AgreedAppointment) {
  const day = Temporal.PlainDate.from(date);
  const { time_from: from, time_until: until, duration_in_minutes: minutes } = appointment;
  if (!from) return { start: day, allDay: true };
  const at = (onDay: Temporal.PlainDate, time: string) =>
    onDay
      .add({ days: time === '24:00' ? 1 : 0 })
      .toZonedDateTime({ timeZone, plainTime: time === '24:00' ? '00:00' : time });
  const start = at(day, from);
  const end = until
    ? at(until > from ? day : day.add({ days: 1 }), until)
    : start.add({ minutes: minutes ?? usualMinutes });
  return { start: new Date(start.epochMilliseconds), end: new Date(end.epochMilliseconds) };
}
