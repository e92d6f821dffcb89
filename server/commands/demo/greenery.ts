// Products, containers and plants of the demo's business.
import type { Body, Business, Making } from './demo-data.ts';
import {
  accessoryProducts,
  containerProducts,
  type DemoProduct,
  fertilizerProducts,
  plantProducts,
  serviceProducts,
  substrateProducts,
} from './products.ts';
import { indoorSpecies, outdoorSpecies } from './species.ts';

const groups = [
  { kind: 'PLANT', prefix: 'PF', vatRate: 7, products: plantProducts },
  { kind: 'CONTAINER', prefix: 'GF', vatRate: 19, products: containerProducts },
  { kind: 'SUBSTRATE', prefix: 'SU', vatRate: 19, products: substrateProducts },
  { kind: 'FERTILIZER', prefix: 'DU', vatRate: 19, products: fertilizerProducts },
  { kind: 'ACCESSORY', prefix: 'ZB', vatRate: 19, products: accessoryProducts },
  { kind: 'SERVICE', prefix: 'DL', vatRate: 19, products: serviceProducts },
] as const;

/** Where plants stand: a site, its name, and what its customer's rooms are called. */
export interface Place {
  site: Body;
  name: string;
  rooms: readonly string[];
}

const containersInStock = 15;

export function buildGreenery(places: readonly Place[], { choice, idOf, today }: Making): Business {
  const products = groups.flatMap((group, index) => group.products.map(toProduct(group, index)));
  const greenery: Business = { product: products, container: [], plant: [] };

  function addContainer(site: Body | undefined, isOutdoor: boolean): string {
    const suitable = containerProducts.filter(
      ({ name, container }) =>
        site === undefined || name.startsWith('Terrasse') === isOutdoor || container.diameterInCm === 45,
    );
    const { name, container } = choice.oneOf(suitable);
    const number = String(greenery.container!.length + 1).padStart(5, '0');
    greenery.container!.push({
      externalId: `GF-${number}`,
      name,
      ...container,
      ...(site && { siteId: idOf(site.externalId), ownership: choice.chance(35) ? 'RENTED' : 'CUSTOMER' }),
      productId: idOf(products.find((product) => product.name === name)!.externalId),
      hasWaterLevelIndicator:
        container.cultureSystem === 'HYDROCULTURE' || container.cultureSystem === 'SELF_WATERING',
      labelCode: `C-0${number}`,
      ...(choice.chance(6) && { comment: choice.oneOf(containerComments) }),
    });
    return idOf(`GF-${number}`);
  }

  for (const place of places) {
    for (let count = choice.between(5, 10); count > 0; count--) addPlant(place);
  }
  for (let count = 0; count < containersInStock; count++) addContainer(undefined, false);
  return greenery;

  function addPlant({ site, name, rooms }: Place): void {
    const isOutdoor = /terrasse|(?<!winter)garten|innenhof/i.test(name);
    const isOneRoom = !/OG|Haus|Büro|etage|geschoss|Filiale|stelle|center/i.test(name);
    const floor = /\d\. OG/.exec(name)?.[0] ?? 'EG';
    const { botanicalName, commonName, heightInCm } = choice.oneOf(
      isOutdoor ? outdoorSpecies : indoorSpecies,
    );
    const product = products.find(({ name }) => String(name).startsWith(botanicalName));
    const number = String(greenery.plant!.length + 1).padStart(5, '0');
    const status = choice.oneOf(statuses);
    greenery.plant!.push({
      externalId: `PF-${number}`,
      siteId: idOf(site.externalId),
      botanicalName,
      commonName,
      ...(product && { productId: idOf(product.externalId) }),
      quantity: choice.chance(85) ? 1 : choice.between(2, 6),
      ...(choice.chance(45) && { containerId: addContainer(site, isOutdoor) }),
      ...(choice.chance(20) && { building: choice.oneOf(['Vorderhaus', 'Hofgebäude', 'Neubau']) }),
      floor: isOutdoor ? 'außen' : floor,
      ...(!isOneRoom && { room: choice.oneOf(rooms) }),
      position: choice.oneOf(isOutdoor ? outdoorPositions : indoorPositions),
      heightInCm: choice.between(...heightInCm),
      plantedOn: `${today.year - choice.between(1, 7)}-${choice.oneOf(['03', '04', '05', '09', '10'])}-${choice.between(10, 28)}`,
      status,
      ...((status === 'REMOVED' || status === 'REPLACED') && {
        // Behind the last planting, which is in October, on every day of the year.
        removedOn: today.subtract({ days: choice.between(1, 60) }).toString(),
      }),
      ownership: choice.chance(35) ? 'RENTED' : 'CUSTOMER',
      labelCode: `P-0${number}`,
      ...(choice.chance(10) && { comment: choice.oneOf(plantComments) }),
    });
  }
}

function toProduct({ kind, prefix, vatRate }: (typeof groups)[number], group: number) {
  return ({ name, netPrice, unitCode, description, active }: DemoProduct, index: number): Body => {
    const articleNumber = `${prefix}-${String(index + 1).padStart(4, '0')}`;
    const isGoods = kind !== 'SERVICE';
    return {
      externalId: `ART-${articleNumber}`,
      name,
      kind,
      articleNumber,
      // 200 to 299 are for use within a business, and name nobody's goods.
      ...(isGoods && { gtin: withCheckDigit(`2${group}0000${String(index + 1).padStart(6, '0')}`) }),
      netPrice,
      vatRate,
      ...(unitCode && { unitCode }),
      ...(description && { description }),
      ...(active === false && { active }),
    };
  };
}

function withCheckDigit(digits: string): string {
  const sum = [...digits].reduce(
    (total, digit, index) => total + Number(digit) * (index % 2 === 0 ? 1 : 3),
    0,
  );
  return `${digits}${(10 - (sum % 10)) % 10}`;
}

/** As often as they occur. */
const statuses = [
  ...Array<string>(14).fill('HEALTHY'),
  ...['NEEDS_ATTENTION', 'NEEDS_ATTENTION', 'CRITICAL', 'REPLACED', 'REMOVED'],
];

const indoorPositions = [
  'links vom Fenster',
  'rechts der Tür',
  'auf dem Tresen',
  'Fensterbank',
  'zwischen den Sofas',
  'am Pfeiler',
  'vor der Säule',
  'auf dem Sideboard',
  'Ecke hinten links',
  'neben dem Drucker',
];

const outdoorPositions = [
  'am Geländer',
  'neben dem Eingang',
  'Südseite',
  'Windfang',
  'zwischen den Tischen',
  'Treppenabsatz',
];

const plantComments = [
  'Spinnmilben behandelt, in zwei Wochen nachsehen.',
  'Gießrand freihalten, Gäste stellen Gläser hinein.',
  'Vierteldrehung bei jedem Besuch.',
  'Wächst schief zum Licht: anbinden.',
  'Geschenk der Geschäftsführung, nicht ersetzen.',
  'Blätter nur feucht abwischen, kein Blattglanz.',
];

const containerComments = [
  'Kratzer an der Rückseite.',
  'Rollen fehlen.',
  'Wasserstandsanzeiger klemmt.',
  'Überlauf abgedichtet.',
];
