import { defineResource } from '../engine/definition/definition.ts';
import { choice, date, integer, owner, reference, text } from '../engine/definition/fields.ts';

export const appointment = defineResource({
  name: 'appointment',
  table: 'appointment',
  path: '/customer/site/appointment',
  collection: 'appointments',
  title: 'Appointment',
  de: 'Termin',
  plural: { en: 'Appointments', de: 'Termine' },
  description:
    'What was agreed about one visit: another day, time or employee, a cancellation, or an extra visit.',
  nameField: 'date',
  fields: {
    siteId: owner('site', { de: 'Standort', isRequired: true, description: 'Site that is visited.' }),
    date: date({
      de: 'Tag',
      isRequired: true,
      filter: 'range',
      description: 'Day of the visit; of a cancelled one, the day on which it would be.',
      example: '2026-12-23',
    }),
    plannedDate: date({
      de: 'Statt Besuch am',
      en: 'Instead of visit',
      description:
        'The day of the calculated visit that it replaces, as the interval names it. At most one appointment per site has it. Without it, the visit is an extra one.',
      example: '2026-12-24',
    }),
    timeFrom: text({
      de: 'Von',
      en: 'From',
      maxLength: 5,
      format: 'local-time',
      description: 'Agreed time at the site, `HH:mm`.',
      example: '09:00',
    }),
    timeUntil: text({
      de: 'Bis',
      en: 'Until',
      maxLength: 5,
      format: 'local-end-time',
      description: 'Latest end, up to `24:00`. A time that is not after `timeFrom` is on the next day.',
      example: '11:00',
    }),
    durationInMinutes: integer({
      de: 'Dauer in Minuten',
      minimum: 1,
      maximum: 1440,
      description: 'Length of the visit. Without it, the interval decides.',
      example: 60,
    }),
    employeeId: reference(['employee'], {
      de: 'Mitarbeiter',
      description: 'Employee who comes. Without it, the employee of the site.',
    }),
    status: choice({
      de: 'Status',
      choices: { PROPOSED: 'Vorgeschlagen', CONFIRMED: 'Bestätigt', CANCELLED: 'Abgesagt' },
      default: 'CONFIRMED',
      description: 'A cancelled appointment cancels the visit.',
    }),
    comment: text({
      de: 'Bemerkung',
      maxLength: 150,
      description: 'Free note.',
      example: 'Ring at the side entrance.',
    }),
  },
  uniqueTogether: [['siteId', 'plannedDate']],
  searchedBy: {
    words: ['comment'],
    through: [
      [['siteId', 'site']],
      [
        ['siteId', 'site'],
        ['customerId', 'customer'],
      ],
      [['employeeId', 'employee']],
    ],
  },
  example: {
    externalId: 'ERP-4711-T1',
    siteExternalId: 'ERP-4711-S1',
    date: '2026-12-23',
    plannedDate: '2026-12-24',
    timeFrom: '09:00',
  },
});
