import { fromDayNumber, toDayNumber } from '../../core/calendar/calendar-days.ts';
import { openingHoursShape } from '../../core/calendar/opening-hours.ts';
import { firstClosedVisit } from '../../core/calendar/visit-plan.ts';
import { attendingIntervalShape } from '../../core/calendar/visits.ts';
import type { Steps } from '../../core/pace.ts';
import { type Business, defineResource, type Verdict } from '../engine/definition/definition.ts';
import { date, decimal, flag, integer, list, owner, reference, text } from '../engine/definition/fields.ts';
import { address, addressExample, addressWords } from './address.ts';
import { approximatePositionOf, type PlanRow, planColumns, planLists, toSitePlan } from './site-plan.ts';

const hasVisits = `json_array_length(subject.attending_intervals) > 0 AND subject.attending_intervals_is_known
  AND (subject.valid_until IS NULL OR subject.valid_until >= current_date)`;

/** Visits on closed days are found three months before. */
const lookAheadDays = 92;
/** Further days are looked at, so that a verdict holds for weeks. */
const heldDays = 28;

const plannedRows = { columns: planColumns, lists: planLists };

interface Outlook {
  /** Undefined for a site that cannot be planned. */
  plan: { closedOn: number | undefined } | undefined;
}

/** Two checks ask about the same row. */
const outlooks = new WeakMap<PlanRow, Outlook>();

function* planAhead(row: PlanRow, business: Business): Steps<Outlook> {
  const outlook = outlooks.get(row) ?? (yield* findOutlook(row, business));
  outlooks.set(row, outlook);
  return outlook;
}

function* findOutlook(row: PlanRow, { holidayRule, today }: Business): Steps<Outlook> {
  try {
    const plan = yield* toSitePlan(row, holidayRule);
    return { plan: { closedOn: yield* firstClosedVisit(plan, today, lookAheadDays + heldDays) } };
  } catch {
    return { plan: undefined };
  }
}

/** A site that cannot be planned has an entry of its own. */
function judgeClosedVisits({ plan }: Outlook, today: string): Verdict {
  if (!plan) return { needsAttention: false, until: today };
  const start = toDayNumber(today);
  const closedOn = plan.closedOn ?? start + lookAheadDays + heldDays;
  return closedOn < start + lookAheadDays
    ? { needsAttention: true, until: fromDayNumber(closedOn) }
    : { needsAttention: false, until: fromDayNumber(closedOn - lookAheadDays) };
}

export const site = defineResource({
  name: 'site',
  table: 'site',
  path: '/customer/site',
  collection: 'sites',
  title: 'Site',
  de: 'Standort',
  plural: { en: 'Sites', de: 'Standorte' },
  description: 'A place of a customer where plants stand and are cared for.',
  nameField: 'name',
  fields: {
    customerId: owner('customer', {
      de: 'Kunde',
      isRequired: true,
      description: 'Customer that owns the site.',
    }),
    name: text({
      de: 'Bezeichnung',
      isRequired: true,
      maxLength: 60,
      description: 'Designation of the site.',
      example: 'Lobby and bar',
    }),
    address,
    needsAppointment: flag({
      de: 'Termin nötig',
      en: 'Appointment needed',
      isRequired: true,
      description: 'Whether appointments must be planned for the site.',
    }),
    hasKey: flag({
      de: 'Schlüssel vorhanden',
      en: 'Key available',
      isRequired: true,
      description: 'Whether a key for access exists.',
    }),
    comment: text({
      de: 'Bemerkung',
      maxLength: 150,
      description: 'Free note.',
      example: 'Ring at the side entrance.',
    }),
    appointmentPreparationTimeInMinutes: integer({
      de: 'Vorbereitungszeit in Minuten',
      en: 'Preparation in minutes',
      minimum: 0,
      description: 'Time buffer in minutes planned before an appointment at the site.',
      example: 15,
    }),
    attendingIntervals: list({
      de: 'Besuchsintervalle',
      en: 'Visit intervals',
      maxItems: 100,
      knownItem: attendingIntervalShape,
      description:
        'Visit intervals of the site. Any object is accepted and returned unchanged; visits are planned with the shape `AttendingInterval`, and any other is put on the attention list.',
      example: [{ frequency: 'WEEKLY', interval: 2, byDay: ['TUESDAY'] }],
    }),
    openingHours: list({
      de: 'Öffnungszeiten',
      maxItems: 100,
      default: [],
      knownItem: openingHoursShape,
      description:
        'Opening hours of the site. Any object is accepted and returned unchanged; the office shows the shape `OpeningHours` as a week, and any other is put on the attention list. No item means unknown, not closed.',
      example: [{ dayOfWeek: 'MONDAY', opens: '08:00', closes: '18:00' }],
    }),
    serviceRecordRecipientId: reference(['contact-person', 'customer'], {
      de: 'Empfänger der Servicenachweise',
      description: 'Recipient of the service records for the site: a contact person or a customer.',
    }),
    callOutFee: decimal({
      de: 'Anfahrtspauschale',
      en: 'Call-out fee',
      minimum: 0,
      description: 'Call-out fee for the site, kept as the exact decimal.',
      example: 24.9,
    }),
    assignedEmployeeId: reference(['employee'], {
      de: 'Mitarbeiter',
      description: 'Employee assigned by default.',
    }),
    contactPersonId: reference(['contact-person'], {
      de: 'Ansprechpartner',
      description: 'Contact person at the site.',
    }),
    contractId: reference(['contract'], { de: 'Vertrag', description: 'Associated contract.' }),
    validFrom: date({ de: 'Gültig ab', description: 'Start of validity.', example: '2026-01-01' }),
    validUntil: date({ de: 'Gültig bis', description: 'End of validity.', example: '2027-12-31' }),
    timeZone: text({
      de: 'Zeitzone',
      format: 'time-zone',
      default: 'Europe/Berlin',
      description: 'IANA name of the time zone of opening hours and visits.',
    }),
  },
  dateOrders: [['validFrom', 'validUntil']],
  searchedBy: {
    words: addressWords,
    through: [[['customerId', 'customer']], [['assignedEmployeeId', 'employee']]],
  },
  duplicateFields: ['customerId'],
  attentions: [
    {
      code: 'validity_ended',
      field: 'validUntil',
      condition: 'subject.valid_until < current_date',
      finding: 'subject.valid_until::text',
    },
    {
      code: 'no_position',
      field: 'address.location',
      condition: 'subject.address_location_lat IS NULL AND subject.address_location_lng IS NULL',
      finding: `concat_ws(' ', subject.address_street_name, subject.address_zip_code, subject.address_city)`,
      judge: {
        columns: { zip_code: planColumns.zip_code, city: planColumns.city },
        lists: [],
        *judge(row: PlanRow) {
          yield;
          return { needsAttention: approximatePositionOf(row) === undefined };
        },
      },
    },
    {
      code: 'no_employee',
      field: 'assignedEmployeeId',
      // An employee who is unknown or awaited has an entry of its own. What most rows fail comes first.
      condition: `subject.assigned_employee_external_id IS NULL AND (subject.assigned_employee_id IS NULL OR EXISTS
        (SELECT FROM employee AS assigned WHERE assigned.tenant_id = subject.tenant_id AND assigned.id = subject.assigned_employee_id
          AND NOT assigned.active OFFSET 0))
        AND ${hasVisits} AND EXISTS (SELECT FROM json_array_elements(subject.attending_intervals) AS planned
          WHERE (planned ->> 'endDate' < current_date::text) IS NOT TRUE)`,
      finding: 'subject.assigned_employee_id::text',
      reads: ['employee'],
    },
    {
      code: 'closed_visit',
      field: 'attendingIntervals',
      condition: `${hasVisits} AND json_array_length(subject.opening_hours) > 0`,
      finding: `concat_ws(' ', subject.attending_intervals, subject.opening_hours)`,
      judge: {
        ...plannedRows,
        *judge(row, business) {
          return judgeClosedVisits(yield* planAhead(row, business), business.today);
        },
      },
    },
    {
      code: 'plan_failed',
      field: 'attendingIntervals',
      condition: 'json_array_length(subject.attending_intervals) > 0',
      finding: `concat_ws(' ', subject.attending_intervals, subject.opening_hours, subject.address_zip_code, subject.time_zone)`,
      judge: {
        ...plannedRows,
        *judge(row, business) {
          const { plan } = yield* planAhead(row, business);
          return plan ? { needsAttention: false } : { needsAttention: true, until: business.today };
        },
      },
    },
  ],
  hiddenFromCare: ['callOutFee'],
  example: {
    externalId: 'ERP-4711-S1',
    customerExternalId: 'ERP-4711',
    name: 'Lobby and bar',
    address: addressExample,
    needsAppointment: true,
    hasKey: false,
    openingHours: [{ dayOfWeek: 'MONDAY', opens: '08:00', closes: '18:00' }],
    attendingIntervals: [{ frequency: 'WEEKLY', interval: 2, byDay: ['TUESDAY'] }],
  },
});
