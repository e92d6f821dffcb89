import { defineResource } from '../engine/definition/definition.ts';
import { choice, date, owner, reference, text } from '../engine/definition/fields.ts';

export const absence = defineResource({
  name: 'absence',
  table: 'absence',
  path: '/employee/absence',
  collection: 'absences',
  title: 'Absence',
  de: 'Abwesenheit',
  plural: { en: 'Absences', de: 'Abwesenheiten' },
  description: 'Days on which an employee does not work, and who takes the visits over.',
  nameField: 'from',
  fields: {
    employeeId: owner('employee', {
      de: 'Mitarbeiter',
      isRequired: true,
      description: 'Employee who is absent.',
    }),
    from: date({
      de: 'Von',
      isRequired: true,
      filter: 'range',
      description: 'First day.',
      example: '2026-12-21',
    }),
    until: date({
      de: 'Bis',
      isRequired: true,
      filter: 'range',
      description: 'Last day.',
      example: '2027-01-08',
    }),
    substituteEmployeeId: reference(['employee'], {
      de: 'Vertretung',
      en: 'Substitute id',
      description: 'Employee who takes the visits over. Without one, the visits have no employee.',
    }),
    reason: choice({
      de: 'Grund',
      choices: { HOLIDAY: 'Urlaub', SICK: 'Krank', TRAINING: 'Fortbildung', OTHER: 'Sonstiges' },
      description: 'Why the employee is absent.',
    }),
    comment: text({ de: 'Bemerkung', maxLength: 150, description: 'Free note.', example: 'Back on Monday.' }),
  },
  dateOrders: [['from', 'until']],
  searchedBy: {
    words: ['comment'],
    through: [[['employeeId', 'employee']], [['substituteEmployeeId', 'employee']]],
  },
  // Colleagues need not know who is ill.
  isHiddenFromCare: true,
  example: {
    externalId: 'HR-12-A1',
    employeeExternalId: 'HR-12',
    from: '2026-12-21',
    until: '2027-01-08',
    reason: 'HOLIDAY',
  },
});
