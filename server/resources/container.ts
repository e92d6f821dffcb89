import { defineResource } from '../engine/definition/definition.ts';
import { choice, decimal, flag, integer, owner, reference, text } from '../engine/definition/fields.ts';

function centimetres(de: string, description: string, example: number) {
  return integer({ de, minimum: 1, maximum: 1000, description, example });
}

export const container = defineResource({
  name: 'container',
  table: 'container',
  path: '/customer/site/container',
  collection: 'containers',
  title: 'Container',
  de: 'Gefäß',
  plural: { en: 'Containers', de: 'Gefäße' },
  description: 'A pot or planter, at a site or in stock.',
  nameField: 'name',
  fields: {
    name: text({
      de: 'Bezeichnung',
      isRequired: true,
      maxLength: 60,
      description: 'Name of the container.',
      example: 'Planter at the window',
    }),
    cultureSystem: choice({
      de: 'Kultursystem',
      isRequired: true,
      choices: {
        SOIL: 'Erde',
        HYDROCULTURE: 'Hydrokultur',
        SELF_WATERING: 'Bewässerungssystem',
        SUBSTRATE: 'Substrat',
        OTHER: 'Sonstiges',
      },
      description: 'How plants grow in it.',
    }),
    siteId: owner('site', { de: 'Standort', description: 'Site where it stands; none means in stock.' }),
    productId: reference(['product'], { de: 'Produkt', description: 'Product that it is.' }),
    material: choice({
      de: 'Material',
      choices: {
        PLASTIC: 'Kunststoff',
        CERAMIC: 'Keramik',
        METAL: 'Metall',
        WOOD: 'Holz',
        FIBREGLASS: 'Fiberglas',
        STONE: 'Stein',
        OTHER: 'Sonstiges',
      },
      description: 'What it is made of.',
    }),
    color: text({ de: 'Farbe', maxLength: 30, description: 'Colour.', example: 'anthracite' }),
    lengthInCm: centimetres('Länge in cm', 'Length in centimetres.', 80),
    widthInCm: centimetres('Breite in cm', 'Width in centimetres.', 40),
    heightInCm: centimetres('Höhe in cm', 'Height in centimetres.', 45),
    diameterInCm: centimetres('Durchmesser in cm', 'Diameter in centimetres.', 50),
    volumeInLitres: decimal({
      de: 'Volumen in Litern',
      minimum: 0.1,
      maximum: 5000,
      description: 'Volume in litres.',
      example: 60,
    }),
    hasWaterLevelIndicator: flag({
      de: 'Wasserstandsanzeiger',
      description: 'Whether it has a water level indicator.',
    }),
    ownership: choice({
      de: 'Eigentum',
      choices: { CUSTOMER: 'Kunde', RENTED: 'Gemietet' },
      description: 'Whether it belongs to the customer or is rented out.',
    }),
    labelCode: text({
      de: 'Etikett',
      en: 'Label',
      maxLength: 64,
      mayBeEmpty: false,
      description: 'Code on its label, unique among your containers.',
      example: 'C-000815',
    }),
    comment: text({
      de: 'Bemerkung',
      maxLength: 150,
      description: 'Free note.',
      example: 'Scratch at the back.',
    }),
  },
  uniqueFields: ['labelCode'],
  searchedBy: {
    through: [
      [['siteId', 'site']],
      [
        ['siteId', 'site'],
        ['customerId', 'customer'],
      ],
    ],
  },
  example: {
    externalId: 'ERP-4711-C1',
    siteExternalId: 'ERP-4711-S1',
    name: 'Planter at the window',
    cultureSystem: 'HYDROCULTURE',
  },
});
