import { double, type Fields, group, text } from '../engine/definition/fields.ts';

const location: Fields = {
  lat: double({
    de: 'Breitengrad',
    en: 'Latitude',
    minimum: -90,
    maximum: 90,
    description: 'Latitude in degrees.',
    example: 53.5503,
  }),
  lng: double({
    de: 'Längengrad',
    en: 'Longitude',
    minimum: -180,
    maximum: 180,
    description: 'Longitude in degrees.',
    example: 9.9928,
  }),
};

/** The published interface sets no lengths here, so there are none but that of the body. */
export const address = group({
  de: 'Adresse',
  isRequired: true,
  description: 'Postal address.',
  fields: {
    streetName: text({
      de: 'Straße',
      en: 'Street',
      isRequired: true,
      description: 'Street.',
      example: 'Ballindamm',
    }),
    houseNumber: text({
      de: 'Hausnummer',
      isRequired: true,
      mayBeEmpty: true,
      description: 'House number. May be empty, since places without one exist.',
      example: '17a',
    }),
    zipCode: text({
      de: 'PLZ',
      en: 'Postcode',
      isRequired: true,
      filter: 'start',
      description: 'Postal code.',
      example: '20095',
    }),
    city: text({ de: 'Ort', isRequired: true, filter: 'start', description: 'City.', example: 'Hamburg' }),
    location: group({ de: 'Position', description: 'Geographic position.', fields: location }),
  },
});

export const addressWords = ['streetName', 'houseNumber', 'zipCode', 'city'].map((name) => `address.${name}`);

export const addressExample = {
  streetName: 'Ballindamm',
  houseNumber: '17a',
  zipCode: '20095',
  city: 'Hamburg',
  location: { lat: 53.5503, lng: 9.9928 },
};
