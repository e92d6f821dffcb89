// What GET /visits declares.
import { appointmentStatuses } from '../../../core/calendar/appointments.ts';
import { visitConflicts, visitReasons } from '../../../core/calendar/visit-plan.ts';
import { visitStatuses } from '../../../core/calendar/visit-status.ts';
import { externalIdSchema, type JsonSchema } from '../../engine/definition/fields.ts';
import { answer, errorResponses } from '../../engine/openapi/answers.ts';
import { exampleId } from '../../engine/openapi/examples.ts';
import { severalOf } from '../../engine/openapi/parameters.ts';
import { maxIds, maxListed } from '../../engine/read/list-filters.ts';
import { defaultLimit, maxLimit } from '../../engine/read/list-query.ts';
import { maxDays, visitInclusions } from './visit-request.ts';

const day = (description: string, example: string) => ({
  type: 'string',
  format: 'date',
  description,
  examples: [example],
});
const id = (description: string) => ({ type: 'string', format: 'uuid', description });
const text = (description?: string) => ({ type: 'string', ...(description && { description }) });
const included = (name: string, properties: Record<string, JsonSchema>, required: string[]): JsonSchema => ({
  type: 'object',
  description: `With \`include=${name}\`.`,
  properties,
  required,
});

export const visitSchemas: readonly JsonSchema[] = [
  {
    $id: 'Visit',
    title: 'Visit',
    type: 'object',
    properties: {
      date: day('Day of the visit; of a skipped one, the day on which it would be.', '2026-12-24'),
      siteId: id('Site that is visited.'),
      customerId: id('Customer that owns the site.'),
      employeeId: id(
        'Employee who comes: of the appointment or the site, or the substitute of one who is absent.',
      ),
      absentEmployeeId: id('Employee who would come, but is absent.'),
      status: {
        type: 'string',
        enum: visitStatuses,
        description:
          'Whether the visit takes place as planned, on another day, as an appointment says, or not at all: `SKIPPED` by the calendar, `CANCELLED` by an appointment.',
      },
      plannedDate: day(
        'The day of the calculated visit that the appointment replaces. An extra appointment has none.',
        '2026-12-25',
      ),
      movedFrom: day('The planned day, if the visit is on another one.', '2026-12-25'),
      reason: { type: 'string', enum: visitReasons, description: 'Why it is moved or skipped.' },
      holiday: text('The public holiday, in the language of the request.'),
      windows: {
        type: 'array',
        description:
          'Times at which the visit is possible. Empty if they are unknown, or if the visit is skipped.',
        items: {
          type: 'object',
          properties: {
            from: text('`HH:mm` on the clock of the site.'),
            until: text('Up to `24:00`. A time that is not after `from` is on the next day.'),
          },
          required: ['from', 'until'],
        },
      },
      timeZone: text('IANA name of the time zone of `windows`.'),
      durationInMinutes: { type: 'integer', description: 'Length of the visit.' },
      preparationInMinutes: { type: 'integer', description: 'Preparation time before it.' },
      appointmentId: id('Appointment that replaces the visit, or adds it.'),
      appointmentStatus: { type: 'string', enum: appointmentStatuses, description: 'Its status.' },
      appointmentComment: text('Its note.'),
      conflicts: {
        type: 'array',
        items: { type: 'string', enum: visitConflicts },
        description:
          'Conflicts: `closed` that day, `window_too_short` for the visit, no active employee (`no_employee`), no position (`no_position`), not even an approximate one. Of an appointment: `outside_hours` of the site, and `double_booked` if its times overlap with another of the employee. `too_much_for_the_day`: the employee has more than ten hours, see the description.',
      },
      siteExternalId: text('With `include=externalIds`.'),
      customerExternalId: text('With `include=externalIds`.'),
      employeeExternalId: text('With `include=externalIds`.'),
      site: included(
        'site',
        {
          name: text(),
          address: {
            type: 'object',
            properties: {
              streetName: text(),
              houseNumber: text(),
              zipCode: text(),
              city: text(),
              location: {
                type: 'object',
                properties: { lat: { type: 'number' }, lng: { type: 'number' } },
                required: ['lat', 'lng'],
              },
            },
            required: ['streetName', 'houseNumber', 'zipCode', 'city'],
            description: 'The first 200 characters of each text.',
          },
          approximateLocation: {
            type: 'object',
            description: 'Middle of the postcode or town, if the address has no `location`.',
            properties: {
              lat: { type: 'number' },
              lng: { type: 'number' },
              source: { type: 'string', enum: ['postcode', 'town'] },
            },
            required: ['lat', 'lng', 'source'],
          },
          hasKey: { type: 'boolean' },
          needsAppointment: { type: 'boolean' },
          comment: text(),
        },
        ['name', 'address', 'hasKey', 'needsAppointment'],
      ),
      customer: included('customer', { companyName: text(), phone: text() }, ['companyName']),
      employee: included('employee', { firstName: text(), lastName: text() }, ['firstName', 'lastName']),
      contactPerson: included(
        'contactPerson',
        { firstName: text(), lastName: text(), phone: text(), mobile: text(), email: text() },
        ['lastName'],
      ),
    },
    required: ['date', 'siteId', 'customerId', 'status', 'windows', 'timeZone', 'conflicts'],
  },
  {
    $id: 'VisitPage',
    title: 'Page of visits',
    type: 'object',
    properties: {
      data: { type: 'array', items: { $ref: 'Visit#' } },
      nextCursor: {
        type: ['string', 'null'],
        description: 'Where the next page begins; null on the last one.',
      },
    },
    required: ['data', 'nextCursor'],
  },
];

export const visitDocs = {
  operationId: 'listVisits',
  summary: 'List visits',
  description: `Visits calculated from intervals, opening hours, validity and public holidays of each site, with appointments and absences, ordered by day and site. At most ${maxDays} days per request.

Appointments come before intervals: one with a \`plannedDate\` replaces the visits that the site's intervals name on that day, any other is an extra visit. Send \`movedFrom\`, or \`date\` without it, as the \`plannedDate\` of a visit. While an employee is absent, the visits go to the substitute, or to nobody (\`no_employee\`). \`employeeId\` finds the visits to which this employee comes.

\`double_booked\` and \`too_much_for_the_day\` look at all visits of an employee on a day. They are left out where the employees of a page have more than 2,000 sites together, or the time is up: ask by \`employeeId\`.

Skipped visits are listed with \`status\` \`SKIPPED\` and a reason. Follow \`nextCursor\`: a page may be shorter than \`limit\` and still have a next one.`,
  tags: ['Visits'],
  querystring: {
    type: 'object',
    properties: {
      from: day('First day.', '2026-12-21'),
      until: day(`Last day, at most ${maxDays - 1} days later.`, '2026-12-27'),
      siteId: {
        ...severalOf({ type: 'string', format: 'uuid' }, maxIds),
        description: 'Only of these sites.',
      },
      siteExternalId: {
        type: 'string',
        description: `The same by your own ids, up to ${maxListed} of at most ${externalIdSchema.maxLength} characters, separated by commas.`,
      },
      customerId: {
        ...severalOf({ type: 'string', format: 'uuid' }, maxListed),
        description: 'Only of these customers.',
      },
      customerExternalId: { type: 'string', description: 'The same by your own id.' },
      employeeId: {
        ...severalOf({ type: 'string', format: 'uuid' }, maxListed),
        description: 'Only of these employees.',
      },
      employeeExternalId: { type: 'string', description: 'The same by your own id.' },
      city: { type: 'string', description: 'Only in this city.' },
      zipCode: { type: 'string', description: 'Only where the postcode begins so.' },
      needsAppointment: {
        type: 'string',
        enum: ['true', 'false'],
        description: 'Only of sites that need appointments, or of those that do not.',
      },
      unassigned: {
        type: 'string',
        enum: ['true', 'false'],
        description: 'With `true`: only visits to which nobody comes.',
      },
      limit: {
        type: 'integer',
        minimum: 1,
        maximum: maxLimit,
        default: defaultLimit,
        description: 'Page size.',
      },
      cursor: { type: 'string', description: '`nextCursor` from the previous page.' },
      include: {
        ...severalOf({ type: 'string', enum: visitInclusions }),
        description: 'What to add to each visit.',
        examples: [['site', 'customer']],
      },
    },
    required: ['from', 'until'],
  },
  response: {
    200: answer('A page.', { $ref: 'VisitPage#' }, undefined, {
      moved: {
        data: [
          {
            date: '2026-12-24',
            siteId: exampleId,
            customerId: exampleId,
            status: 'MOVED',
            movedFrom: '2026-12-25',
            reason: 'HOLIDAY',
            holiday: 'Christmas Day',
            windows: [{ from: '08:00', until: '17:00' }],
            timeZone: 'Europe/Berlin',
            durationInMinutes: 60,
            conflicts: ['no_employee'],
          },
        ],
        nextCursor: null,
      },
    }),
    ...errorResponses(400, 401, 403, 429, 500),
  },
};
