import { defineResource } from '../crud/definition.ts';
import { choice, decimal, flag, text } from '../crud/fields.ts';

export const product = defineResource({
  name: 'product',
  table: 'product',
  path: '/product',
  collection: 'products',
  title: 'Product',
  de: 'Produkt',
  description: 'Something that the business sells or uses.',
  nameField: 'name',
  fields: {
    name: text({
      de: 'Bezeichnung',
      isRequired: true,
      maxLength: 100,
      description: 'Name of the product.',
      example: 'Monstera deliciosa 120 cm',
    }),
    kind: choice({
      de: 'Art',
      isRequired: true,
      choices: ['PLANT', 'CONTAINER', 'SUBSTRATE', 'FERTILIZER', 'ACCESSORY', 'SERVICE'],
      description: 'What the product is.',
    }),
    articleNumber: text({
      de: 'Artikelnummer',
      maxLength: 40,
      mayBeEmpty: false,
      description: 'Article number, unique among your products.',
      example: 'PF-0120',
    }),
    gtin: text({
      de: 'GTIN',
      maxLength: 14,
      format: 'gtin',
      description: 'Global Trade Item Number: 8 to 14 digits with a right check digit.',
      example: '4006381333931',
    }),
    unitCode: text({
      de: 'Einheit',
      maxLength: 3,
      format: 'unit-code',
      default: 'H87',
      description: 'Unit after UN/ECE Recommendation 20; H87 is a piece.',
    }),
    netPrice: decimal({
      de: 'Nettopreis',
      minimum: 0,
      description: 'Net price of one unit, kept as the exact decimal.',
      example: 79.9,
    }),
    currency: text({
      de: 'Währung',
      maxLength: 3,
      format: 'currency',
      default: 'EUR',
      description: 'Currency after ISO 4217.',
    }),
    vatRate: decimal({
      de: 'Mehrwertsteuer in Prozent',
      minimum: 0,
      maximum: 100,
      description: 'VAT rate in per cent.',
      example: 7,
    }),
    description: text({
      de: 'Beschreibung',
      maxLength: 2000,
      description: 'Text for offers and the shop.',
      example: 'Evergreen climber for bright places.',
    }),
    active: flag({ de: 'Aktiv', default: true, description: 'Whether the product is still offered.' }),
  },
  uniqueFields: ['articleNumber'],
  example: { name: 'Monstera deliciosa 120 cm', kind: 'PLANT' },
});
