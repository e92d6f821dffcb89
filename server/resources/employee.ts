import { defineResource } from '../engine/definition/definition.ts';
import { flag, text } from '../engine/definition/fields.ts';

export const employee = defineResource({
  name: 'employee',
  table: 'employee',
  path: '/employee',
  collection: 'employees',
  title: 'Employee',
  de: 'Mitarbeiter',
  plural: { en: 'Employees', de: 'Mitarbeiter' },
  description: 'Somebody who works for the business. Personal data: it can be exported and erased.',
  isPersonal: true,
  nameField: 'lastName',
  fields: {
    firstName: text({
      de: 'Vorname',
      isRequired: true,
      maxLength: 60,
      description: 'Given name.',
      example: 'Jonas',
    }),
    lastName: text({
      de: 'Nachname',
      isRequired: true,
      maxLength: 60,
      description: 'Family name.',
      example: 'Harms',
    }),
    employeeNumber: text({
      de: 'Personalnummer',
      maxLength: 30,
      mayBeEmpty: false,
      description: 'Number, unique among your employees.',
      example: 'M-12',
    }),
    email: text({
      de: 'E-Mail',
      maxLength: 254,
      format: 'idn-email',
      description: 'E-mail address.',
      example: 'j.harms@gruenundgut.example',
    }),
    phone: text({
      de: 'Telefon',
      maxLength: 30,
      description: 'Telephone number.',
      example: '+49 170 1234567',
    }),
    active: flag({ de: 'Aktiv', default: true, description: 'Whether the person works here at present.' }),
  },
  uniqueFields: ['employeeNumber'],
  searchedBy: {
    names: ['lastName', 'firstName', 'employeeNumber'],
    words: ['email'],
    phones: ['phone'],
  },
  example: { externalId: 'HR-12', firstName: 'Jonas', lastName: 'Harms' },
});
