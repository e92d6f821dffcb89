// The demo's business as bodies for the API. Except for ids, every run of a day has the same. Its dates are counted from
// today, so the demo never grows old.
import { cityCustomers } from './customers-city.ts';
import { regionCustomers } from './customers-region.ts';
import type { Body, Business, DemoCustomer, Making } from './demo-data.ts';
import { buildGreenery, type Place } from './greenery.ts';
import { kinds } from './kinds.ts';
import { duplicateCustomer, endedSites, oddities } from './oddities.ts';
import { employees, lastNames, mensNames, womensNames } from './people.ts';
import { type SeededChoice, seededChoice } from './seeded-choice.ts';

export const businessName = 'Grün & Gut Raumbegrünung GmbH';

/** Days from now, so the start page always has some. */
const contractsEndingIn: Record<string, number> = { 'VT-10003-1': 19, 'VT-10011-1': 44, 'VT-10021-1': 75 };

export function buildBusiness(idOf: (externalId: string) => string, today: Temporal.PlainDate): Business {
  const choice = seededChoice(20_457);
  const business: Business = {
    employee: employees.map((employee, index) => ({
      ...employee,
      externalId: `MA-0${index + 1}`,
      employeeNumber: `M-0${index + 1}`,
      email: `${employee.email}@gruenundgut.example`,
      phone: mobileNumber(index),
    })),
    customer: [],
    'contact-person': [],
    contract: [],
    site: [],
  };
  const places = [...cityCustomers, ...regionCustomers].flatMap((customer, index) =>
    addCustomer(business, customer, 10_001 + index, { choice, idOf, today }),
  );
  business.customer!.push({ ...duplicateCustomer });
  Object.assign(business, buildGreenery(places, { choice, idOf, today }));
  for (const contract of business.contract!) {
    const days = contractsEndingIn[contract.externalId];
    if (days !== undefined) contract.endDate = today.add({ days }).toString();
  }
  for (const site of business.site!) {
    const days = endedSites[site.externalId];
    if (days !== undefined) site.validUntil = today.subtract({ days }).toString();
  }
  for (const body of Object.values(business).flat()) applyOddity(body, oddities[body.externalId] ?? {});
  return business;
}

function addCustomer(
  business: Business,
  customer: DemoCustomer,
  number: number,
  { choice, idOf, today }: Making,
): Place[] {
  const kind = kinds[customer.kind];
  const externalId = `KD-${number}`;
  const customerId = idOf(externalId);
  business.customer!.push({
    externalId,
    companyName: customer.name,
    address: parseAddress(customer.at),
    customerNumber: `K-${number}`,
    email: `info@${customer.domain}.example`,
    phone: phoneNumber(choice),
    ...(choice.chance(80) && { vatId: `DE${choice.between(100_000_000, 399_999_999)}` }),
    ...(customer.comment && { comment: customer.comment }),
    status: choice.chance(95) ? 'ACTIVE' : 'INACTIVE',
  });

  const persons = customer.sites.length > 5 ? 4 : 2;
  for (let person = 1; person <= persons; person++) {
    const personId = `AP-${number}-${person}`;
    business['contact-person']!.push({
      externalId: personId,
      customerId,
      ...makePerson(choice, customer.domain),
      role: kind.roles[(person - 1) % kind.roles.length],
    });
  }

  const year = today.year - choice.between(1, 7);
  const startDate = `${year}-0${choice.between(1, 9)}-01`;
  const isRental = choice.chance(35);
  business.contract!.push({
    externalId: `VT-${number}-1`,
    customerId,
    contractNumber: `V-${year}-${number - 10_000}`,
    type: isRental ? 'CARE_AND_RENTAL' : 'CARE',
    startDate,
    ...(choice.chance(60) && { endDate: `${year + choice.between(6, 9)}-12-31` }),
    noticePeriodInMonths: choice.oneOf([1, 3, 3, 6]),
    netPrice: kind.netPrice,
    billingInterval: choice.oneOf(['MONTHLY', 'MONTHLY', 'QUARTERLY', 'YEARLY']),
    status: 'ACTIVE',
  });
  if (choice.chance(20)) {
    business.contract!.push({
      externalId: `VT-${number}-2`,
      customerId,
      contractNumber: `V-${today.year}-${number - 10_000}-E`,
      type: 'ONE_OFF',
      startDate: today.with({ day: 1 }).toString(),
      netPrice: choice.between(180, 2400),
      billingInterval: 'PER_VISIT',
      status: 'DRAFT',
    });
  }

  const employee = `MA-0${1 + (number % 7)}`;
  return customer.sites.map((site, index) => {
    const [name, at] = typeof site === 'string' ? [site, customer.at] : site;
    const address = parseAddress(at);
    const body: Body = {
      externalId: `ST-${number}-${index + 1}`,
      customerId,
      name,
      address,
      needsAppointment: kind.needsAppointment,
      hasKey: choice.chance(40),
      openingHours: kind.openingHours,
      ...(choice.chance(75) && { attendingIntervals: [makeInterval(kind.weeksBetweenVisits, choice)] }),
      ...(choice.chance(25) && { comment: choice.oneOf(siteComments) }),
      ...(kind.needsAppointment && { appointmentPreparationTimeInMinutes: choice.oneOf([10, 15, 30]) }),
      callOutFee: address.city === 'Hamburg' ? 24.9 : 39.5,
      assignedEmployeeId: idOf(employee),
      contactPersonId: idOf(`AP-${number}-${1 + (index % persons)}`),
      serviceRecordRecipientId: choice.chance(30) ? customerId : idOf(`AP-${number}-1`),
      contractId: idOf(`VT-${number}-1`),
      validFrom: startDate,
      ...(choice.chance(15) && { validUntil: `${today.year + 3}-12-31` }),
    };
    business.site!.push(body);
    return { site: body, name, rooms: kind.rooms };
  });
}

const siteComments = [
  'Gießwasser nur aus der Teeküche, der Hahn im Flur führt Brauchwasser.',
  'Nebeneingang benutzen, Klingel „Verwaltung“.',
  'Parken im Hof, Stellplatz 7; Parkschein hinter die Scheibe legen.',
  'Nicht mittags: dann ist der Raum belegt.',
  'Leiter ist vor Ort (Putzkammer).',
  'Fenster steht im Sommer offen: auf Zugluft achten.',
];

function makeInterval(weeks: number, choice: SeededChoice) {
  const byDay = [choice.oneOf(['MONDAY', 'TUESDAY', 'WEDNESDAY', 'THURSDAY', 'FRIDAY'])];
  const durationInMinutes = 15 * choice.between(2, 8);
  if (weeks === 4)
    return { frequency: 'MONTHLY', weekOfMonth: choice.between(1, 4), byDay, durationInMinutes };
  return {
    frequency: 'WEEKLY',
    interval: weeks,
    byDay,
    durationInMinutes,
    toleranceInDays: weeks > 1 ? 2 : 0,
  };
}

function makePerson(choice: SeededChoice, domain: string) {
  const isWoman = choice.chance(52);
  const firstName = choice.oneOf(isWoman ? womensNames : mensNames);
  const lastName = choice.oneOf(lastNames);
  return {
    lastName,
    firstName,
    salutation: isWoman ? 'MRS' : 'MR',
    email: `${toAscii(firstName)[0]}.${toAscii(lastName)}@${domain}.example`,
    phone: phoneNumber(choice),
    ...(choice.chance(50) && { mobile: mobileNumber(choice.between(0, 99)) }),
    language: choice.chance(93) ? 'de' : 'en',
  };
}

function toAscii(name: string): string {
  const spelled = name.toLowerCase().replace(/[äöüßı]/g, (letter) => umlauts[letter]!);
  return spelled.normalize('NFD').replace(/[^a-z]/g, '');
}

const umlauts: Record<string, string> = { ä: 'ae', ö: 'oe', ü: 'ue', ß: 'ss', ı: 'i' };

// The Bundesnetzagentur keeps both ranges free: a call to a demo's number reaches nobody.
function phoneNumber(choice: SeededChoice): string {
  return `+49 40 66969 ${String(choice.between(0, 999)).padStart(3, '0')}`;
}

function mobileNumber(last: number): string {
  return `+49 176 040690${String(last).padStart(2, '0')}`;
}

function parseAddress(at: string) {
  const match = /^(.+) (\d+\w?), (\d{5}) (.+) \(([\d.]+), ([\d.]+)\)$/.exec(at);
  if (!match) throw new Error(`not an address: ${at}`);
  const [, streetName, houseNumber, zipCode, city, lat, lng] = match;
  return { streetName, houseNumber, zipCode, city, location: { lat: Number(lat), lng: Number(lng) } };
}

function applyOddity(body: Body, changes: Record<string, unknown>): void {
  for (const [path, value] of Object.entries(changes)) {
    if (path === 'address.location') body.address = { ...(body.address as object), location: value };
    else body[path] = value;
  }
}
