// What the office finds on its attention list: what other systems sent and nobody has looked at yet.

const nowhere = '0198c0de-0000-7000-8000-00000000dead';

/** Changes to the generated data, by external id; undefined takes a field away. */
export const oddities: Record<string, Record<string, unknown>> = {
  // References to what never arrived.
  'ST-10002-3': { contactPersonId: nowhere },
  'ST-10019-5': { contractId: nowhere },
  'ST-10024-2': { assignedEmployeeId: nowhere, serviceRecordRecipientId: nowhere },
  'PF-00017': { productId: nowhere },
  'PF-00311': { containerId: nowhere },
  'GF-00008': { productId: nowhere },
  // Opening hours and intervals as other programs write them.
  'ST-10005-2': { openingHours: [{ tage: 'Mo–Fr', zeiten: '8 bis 18 Uhr, mittags zu' }] },
  'ST-10014-1': { openingHours: [{ dayOfWeek: 'Dienstag', opens: '11.30', closes: '23.00' }] },
  'ST-10033-2': { openingHours: [{ text: 'nach Vereinbarung' }] },
  'ST-10022-4': { attendingIntervals: [{ rhythmus: '14-tägig', wochentag: 'Di' }] },
  'ST-10028-1': { attendingIntervals: [{ frequency: 'WEEKLY', interval: 0 }] },
  // Only one of latitude and longitude.
  'ST-10010-2': { 'address.location': { lat: 53.5535 } },
  'ST-10030-2': { 'address.location': { lng: 9.9833 } },
  'KD-10026': { 'address.location': { lat: 53.5879 } },
  // No position of their own: the postcode says where they are approximately.
  'ST-10025-4': { 'address.location': undefined },
  'ST-10035-1': { 'address.location': undefined },
  'ST-10038-3': { 'address.location': undefined },
  // Neither a position nor a postcode.
  'ST-10013-2': {
    address: { streetName: 'Am Anleger', houseNumber: '3', zipCode: '00000', city: 'Elbe, Kilometer 623' },
  },
  // Visits on a closed day, and visits that nobody makes.
  'ST-10004-1': {
    openingHours: [{ dayOfWeek: 'MONDAY', opens: '08:00', closes: '17:00' }],
    attendingIntervals: [{ frequency: 'WEEKLY', byDay: ['SUNDAY'], durationInMinutes: 45 }],
  },
  'ST-10006-1': {
    attendingIntervals: [{ frequency: 'WEEKLY', interval: 2, byDay: ['TUESDAY'], durationInMinutes: 60 }],
    assignedEmployeeId: undefined,
  },
};

/** Days since their contract ran out; the sites are still there. */
export const endedSites: Record<string, number> = { 'ST-10008-4': 20, 'ST-10016-2': 75, 'ST-10030-3': 45 };

/** The shop sent a customer whom the ERP had sent already. */
export const duplicateCustomer = {
  externalId: 'SHOP-88213',
  companyName: 'HOTEL ELBKONTOR GmbH & Co. KG',
  address: { streetName: 'Rödingsmarkt', houseNumber: '20', zipCode: '20459', city: 'Hamburg' },
  email: 'bestellung@hotel-elbkontor.example',
};
