import { defineResource } from '../engine/definition/definition.ts';
import { choice, owner, text } from '../engine/definition/fields.ts';

export const contactPerson = defineResource({
  name: 'contact-person',
  table: 'contact_person',
  path: '/customer/contact-person',
  collection: 'contact-persons',
  title: 'Contact person',
  de: 'Ansprechpartner',
  plural: { en: 'Contact persons', de: 'Ansprechpartner' },
  description: 'A person at a customer. Personal data: it can be exported and erased.',
  isPersonal: true,
  nameField: 'lastName',
  fields: {
    customerId: owner('customer', {
      de: 'Kunde',
      isRequired: true,
      description: 'Customer that the person works for.',
    }),
    lastName: text({
      de: 'Nachname',
      isRequired: true,
      maxLength: 60,
      description: 'Family name.',
      example: 'Petersen',
    }),
    firstName: text({ de: 'Vorname', maxLength: 60, description: 'Given name.', example: 'Anke' }),
    salutation: choice({
      de: 'Anrede',
      choices: { MR: 'Herr', MRS: 'Frau', DIVERSE: 'Divers', NONE: 'Keine' },
      description: 'How the person is addressed.',
    }),
    role: text({
      de: 'Funktion',
      maxLength: 60,
      description: 'Role at the customer.',
      example: 'Facility manager',
    }),
    email: text({
      de: 'E-Mail',
      maxLength: 254,
      format: 'idn-email',
      description: 'E-mail address.',
      example: 'a.petersen@alsterblick.example',
    }),
    phone: text({ de: 'Telefon', maxLength: 30, description: 'Telephone number.', example: '+49 40 123456' }),
    mobile: text({ de: 'Mobil', maxLength: 30, description: 'Mobile number.', example: '+49 170 1234567' }),
    language: choice({
      de: 'Sprache',
      choices: { de: { en: 'German', de: 'Deutsch' }, en: { en: 'English', de: 'Englisch' } },
      description: 'Language to write in.',
    }),
    comment: text({ de: 'Bemerkung', maxLength: 150, description: 'Free note.', example: 'Mornings only.' }),
  },
  searchedBy: {
    names: ['lastName', 'firstName'],
    words: ['role', 'email'],
    phones: ['phone', 'mobile'],
  },
  duplicateFields: ['customerId', 'firstName'],
  hiddenFromCare: ['mobile'],
  example: {
    externalId: 'ERP-4711-P1',
    customerExternalId: 'ERP-4711',
    lastName: 'Petersen',
    firstName: 'Anke',
  },
});
