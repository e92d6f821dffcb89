import { defineResource } from '../crud/definition.ts';
import { date, decimal, flag, integer, list, reference, text } from '../crud/fields.ts';
import { address, addressExample } from './address.ts';

export const site = defineResource({
  name: 'site',
  table: 'site',
  path: '/customer/site',
  title: 'Site',
  description: 'A place of a customer where plants stand and are cared for.',
  fields: {
    customerId: reference('customer', {
      isOwner: true,
      isRequired: true,
      description: 'Customer that owns the site.',
    }),
    name: text({
      isRequired: true,
      maxLength: 60,
      description: 'Designation of the site.',
      example: 'Lobby and bar',
    }),
    address,
    needsAppointment: flag({
      isRequired: true,
      description: 'Whether appointments must be planned for the site.',
    }),
    hasKey: flag({ isRequired: true, description: 'Whether a key for access exists.' }),
    comment: text({ maxLength: 150, description: 'Free note.', example: 'Ring at the side entrance.' }),
    appointmentPreparationTimeInMinutes: integer({
      minimum: 0,
      description: 'Time buffer in minutes planned before an appointment at the site.',
      example: 15,
    }),
    attendingIntervals: list({
      maxItems: 100,
      description:
        'Visit intervals of the site. Any object is accepted and returned unchanged; the shape that is planned with has `frequency`, `interval`, `byDay`, `startDate` and others.',
      example: [{ frequency: 'WEEKLY', interval: 2, byDay: ['TUESDAY'] }],
    }),
    openingHours: list({
      maxItems: 100,
      default: [],
      description:
        'Opening hours of the site. Any object is accepted and returned unchanged; the shape that is shown as a week has `dayOfWeek`, `opens`, `closes` and optionally `validFrom`, `validUntil`.',
      example: [{ dayOfWeek: 'MONDAY', opens: '08:00', closes: '18:00' }],
    }),
    serviceRecordRecipientId: reference('contact-person', {
      description: 'Recipient of the service records for the site: a contact person or a customer.',
    }),
    callOutFee: decimal({
      minimum: 0,
      description: 'Call-out fee for the site, kept as the exact decimal.',
      example: 24.9,
    }),
    assignedEmployeeId: reference('employee', { description: 'Employee assigned by default.' }),
    contactPersonId: reference('contact-person', { description: 'Contact person at the site.' }),
    contractId: reference('contract', { description: 'Associated contract.' }),
    validFrom: date({ description: 'Start of validity.', example: '2026-01-01' }),
    validUntil: date({ description: 'End of validity.', example: '2027-12-31' }),
    timeZone: text({
      format: 'time-zone',
      default: 'Europe/Berlin',
      description: 'IANA name of the time zone of opening hours and visits.',
    }),
  },
  dateOrders: [['validFrom', 'validUntil']],
  example: {
    customerId: '0198c0de-0000-7000-8000-000000000001',
    name: 'Lobby and bar',
    address: addressExample,
    needsAppointment: true,
    hasKey: false,
  },
});
