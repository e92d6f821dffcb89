import { defineResource } from '../engine/definition/definition.ts';
import { choice, date, decimal, integer, owner, text } from '../engine/definition/fields.ts';

export const contract = defineResource({
  name: 'contract',
  table: 'contract',
  path: '/customer/contract',
  collection: 'contracts',
  title: 'Contract',
  de: 'Vertrag',
  plural: { en: 'Contracts', de: 'Verträge' },
  description: 'What was agreed with a customer.',
  nameField: 'contractNumber',
  fields: {
    customerId: owner('customer', {
      de: 'Kunde',
      isRequired: true,
      description: 'Customer that the contract is with.',
    }),
    startDate: date({
      de: 'Beginn',
      isRequired: true,
      filter: 'range',
      description: 'First day.',
      example: '2026-01-01',
    }),
    type: choice({
      de: 'Art',
      isRequired: true,
      choices: { CARE: 'Pflege', RENTAL: 'Miete', CARE_AND_RENTAL: 'Pflege und Miete', ONE_OFF: 'Einmalig' },
      description: 'What the contract is about.',
    }),
    contractNumber: text({
      de: 'Vertragsnummer',
      maxLength: 40,
      mayBeEmpty: false,
      description: 'Number of the contract, unique among your contracts.',
      example: 'V-2026-017',
    }),
    endDate: date({ de: 'Ende', filter: 'range', description: 'Last day.', example: '2028-12-31' }),
    noticePeriodInMonths: integer({
      de: 'Kündigungsfrist in Monaten',
      minimum: 0,
      maximum: 120,
      description: 'Notice period in months.',
      example: 3,
    }),
    netPrice: decimal({
      de: 'Nettopreis',
      minimum: 0,
      filter: 'range',
      description: 'Net price of a billing interval, kept as the exact decimal.',
      example: 189.5,
    }),
    billingInterval: choice({
      de: 'Abrechnung',
      choices: {
        MONTHLY: 'Monatlich',
        QUARTERLY: 'Vierteljährlich',
        YEARLY: 'Jährlich',
        PER_VISIT: 'Je Besuch',
      },
      description: 'How often is billed.',
    }),
    status: choice({
      de: 'Status',
      choices: { DRAFT: 'Entwurf', ACTIVE: 'Aktiv', TERMINATED: 'Gekündigt', EXPIRED: 'Abgelaufen' },
      description: 'State of the contract.',
    }),
  },
  uniqueFields: ['contractNumber'],
  dateOrders: [['startDate', 'endDate']],
  hiddenFromCare: ['netPrice'],
  example: {
    externalId: 'ERP-4711-V1',
    customerExternalId: 'ERP-4711',
    startDate: '2026-01-01',
    type: 'CARE',
  },
});
