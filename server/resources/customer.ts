import { defineResource } from '../engine/definition/definition.ts';
import { choice, text } from '../engine/definition/fields.ts';
import { address, addressExample, addressWords } from './address.ts';

export const customer = defineResource({
  name: 'customer',
  table: 'customer',
  path: '/customer',
  collection: 'customers',
  title: 'Customer',
  de: 'Kunde',
  plural: { en: 'Customers', de: 'Kunden' },
  description:
    'A customer of the business: who has the plants. One who is a person can be exported and erased.',
  isPersonal: true,
  nameField: 'companyName',
  fields: {
    companyName: text({
      de: 'Firma',
      isRequired: true,
      maxLength: 100,
      description: 'Name of the company.',
      example: 'Hotel Alsterblick GmbH',
    }),
    address,
    customerNumber: text({
      de: 'Kundennummer',
      maxLength: 30,
      mayBeEmpty: false,
      description: 'Number of the customer in your books, unique among your customers.',
      example: 'K-10023',
    }),
    email: text({
      de: 'E-Mail',
      maxLength: 254,
      format: 'idn-email',
      description: 'E-mail address.',
      example: 'empfang@alsterblick.example',
    }),
    phone: text({ de: 'Telefon', maxLength: 30, description: 'Telephone number.', example: '+49 40 123456' }),
    vatId: text({
      de: 'USt-IdNr.',
      en: 'VAT number',
      maxLength: 20,
      description: 'VAT identification number.',
      example: 'DE123456789',
    }),
    comment: text({
      de: 'Bemerkung',
      maxLength: 150,
      description: 'Free note.',
      example: 'Deliveries through the yard.',
    }),
    status: choice({
      de: 'Status',
      choices: { ACTIVE: 'Aktiv', INACTIVE: 'Inaktiv' },
      default: 'ACTIVE',
      description: 'Whether the customer is being served.',
    }),
  },
  uniqueFields: ['customerNumber'],
  searchedBy: {
    words: [...addressWords, 'email'],
    codes: ['vatId'],
    phones: ['phone'],
  },
  duplicateFields: ['address.streetName', 'address.houseNumber', 'address.zipCode', 'address.city'],
  example: { externalId: 'ERP-4711', companyName: 'Hotel Alsterblick GmbH', address: addressExample },
});
