// The sites in a part of the map; those that lie close together come as one. Sites without a position of their own lie
// in the middle of their postcode or town, and count as approximate.
import type { MapCluster, MapEmployee } from '../../../core/place/map-cluster.ts';
import { findApproximatePosition, type PostalAddress } from '../../../core/place/postcodes.ts';
import type { Database } from '../../database/database.ts';

export interface MapView {
  west: number;
  south: number;
  east: number;
  north: number;
  zoom: number;
}

interface NamedSite {
  id: string;
  name: string;
}

interface AddressGroup extends PostalAddress {
  count: number;
  employeeId: string | null;
}

const maxClusters = 2000;
/** In a world that is 256 pixels wide at zoom 0: leaves room between marks. */
const cellPixels = 48;
/** Sites of one house lie about a metre apart, closer than any zoom shows. They are named one by one. */
const sameHouseDegrees = 0.00001;
const maxSitesOfPlace = 50;
/** From here on exact and approximate sites are apart, because zooming in further would not part them. */
const apartZoom = 12;
/** More sites than this are shown as numbers. */
const maxNamed = 500;
/** More than a map has colours for. */
const maxEmployees = 50;
const maxEmployeesLookedAt = 1000;
/** Bounds the memory that a tenant with made-up addresses can take. */
const maxAddressGroups = 10_000;

export async function findClusters(
  database: Database,
  tenantId: string,
  view: MapView,
): Promise<MapCluster[]> {
  const [exact, approximate] = await Promise.all([
    findExact(database, tenantId, view),
    findApproximate(database, tenantId, view),
  ]);
  const clusters =
    view.zoom < apartZoom ? joinCells([...exact, ...approximate], view) : [...exact, ...approximate];
  return clusters
    .toSorted((one, other) => other.count - one.count || one.lng - other.lng || one.lat - other.lat)
    .slice(0, maxClusters);
}

/** Those who have sites, in an order that new ones do not change: each keeps its colour. */
export async function findEmployees(database: Database, tenantId: string): Promise<MapEmployee[]> {
  const { rows } = await database.queryInTenants<MapEmployee>([tenantId], {
    text: `SELECT id, concat_ws(' ', first_name, last_name) AS name FROM (
          SELECT id, first_name, last_name FROM employee WHERE tenant_id = $1 ORDER BY id LIMIT ${maxEmployeesLookedAt}) AS employee
        WHERE EXISTS (SELECT FROM site WHERE tenant_id = $1 AND assigned_employee_id = employee.id)
        ORDER BY id LIMIT ${maxEmployees}`,
    values: [tenantId],
  });
  return rows;
}

/** Of a group of sites: the employee of all, or NULL. */
const sharedEmployee = `CASE WHEN count(assigned_employee_id) = count(*)
  AND min(assigned_employee_id::text) = max(assigned_employee_id::text) THEN min(assigned_employee_id::text) END`;

/** The employee of all members, to be spread into what they become. */
function employeeOf(members: readonly { employeeId?: string | null | undefined }[]): { employeeId?: string } {
  const employeeId = members[0]?.employeeId;
  return employeeId && members.every((one) => one.employeeId === employeeId) ? { employeeId } : {};
}

function cellDegreesOf({ zoom }: MapView): number {
  return (360 * cellPixels) / (256 * 2 ** zoom);
}

async function findExact(database: Database, tenantId: string, view: MapView): Promise<MapCluster[]> {
  const { west, south, east, north } = view;
  // Names are read for the few sites that are shown by name, not for all that are counted.
  const { rows } = await database.queryInTenants([tenantId], {
    text: `SELECT cell.lat, cell.lng, cell.count, cell.employee_id AS "employeeId", named.sites FROM (
          SELECT avg(address_location_lat) AS lat, avg(address_location_lng) AS lng, count(*)::integer AS count,
            ${sharedEmployee} AS employee_id,
            CASE WHEN count(*) <= ${maxSitesOfPlace}
              AND max(address_location_lat) - min(address_location_lat) < ${sameHouseDegrees}
              AND max(address_location_lng) - min(address_location_lng) < ${sameHouseDegrees}
              THEN array_agg(id) END AS ids
          FROM site
          WHERE tenant_id = $1 AND address_location_lat BETWEEN $2 AND $3
            AND CASE WHEN $4::float <= $5::float THEN address_location_lng BETWEEN $4 AND $5
              ELSE address_location_lng >= $4 OR address_location_lng <= $5 END
          GROUP BY ${cellOf('address_location_lng')}, ${cellOf('address_location_lat')}
          ORDER BY count DESC, 2, 1 LIMIT ${maxClusters}) AS cell
        LEFT JOIN LATERAL (
          SELECT json_agg(json_build_object('id', id, 'name', name) ORDER BY sort_name, id) AS sites
          FROM site WHERE tenant_id = $1 AND id = ANY (cell.ids)) AS named ON true
        ORDER BY count DESC, lng, lat`,
    values: [tenantId, south, north, west, east, cellDegreesOf(view)],
  });
  return rows.map(({ sites, employeeId, ...cluster }) => ({
    ...(cluster as MapCluster),
    ...employeeOf([{ employeeId }]),
    ...(sites?.length === 1 ? sites[0] : sites && { sites }),
  }));
}

/** Counted from far in the west: PostgreSQL rejects a division of floats whose result is too small for one. */
function cellOf(column: string): string {
  return `floor((${column} + 1e6 * $6::float) / $6::float)`;
}

async function findApproximate(database: Database, tenantId: string, view: MapView): Promise<MapCluster[]> {
  const groups = await findAddressGroups(database, tenantId);
  const placed = groups.flatMap((group) => {
    const position = findApproximatePosition(group);
    return position && isInside(position, view) ? [{ ...group, lat: position.lat, lng: position.lng }] : [];
  });
  // Towns of one postcode lie in one place.
  const places = [...Map.groupBy(placed, ({ lat, lng }) => `${lat} ${lng}`).values()].map((members) => ({
    ...members[0]!,
    count: members.reduce((sum, { count }) => sum + count, 0),
    addresses: members.map(keyOf),
    shared: employeeOf(members),
  }));
  const sum = places.reduce((total, { count }) => total + count, 0);
  const names = sum <= maxNamed ? await findNames(database, tenantId, placed) : undefined;
  const clusters = places.map(({ lat, lng, count, zipCode, addresses, shared }): MapCluster => {
    const place = { lat, lng, count, approximate: count, ...shared };
    const sites = addresses.flatMap((address) => names?.get(address) ?? []);
    if (sites.length !== count || count > maxSitesOfPlace) return { ...place, zipCode };
    return count === 1 ? { ...place, ...sites[0]! } : { ...place, sites };
  });
  return joinCells(clusters, view);
}

async function findAddressGroups(database: Database, tenantId: string): Promise<AddressGroup[]> {
  const { rows } = await database.queryInTenants<AddressGroup>([tenantId], {
    text: `SELECT address_zip_code AS "zipCode", address_city AS city, count(*)::integer AS count,
        ${sharedEmployee} AS "employeeId"
      FROM site
      WHERE tenant_id = $1 AND address_location_lat IS NULL AND address_location_lng IS NULL
      GROUP BY address_zip_code, address_city ORDER BY count DESC LIMIT ${maxAddressGroups}`,
    values: [tenantId],
  });
  return rows;
}

function keyOf({ zipCode, city }: PostalAddress): string {
  return `${zipCode}\n${city}`;
}

async function findNames(
  database: Database,
  tenantId: string,
  addresses: readonly PostalAddress[],
): Promise<Map<string, NamedSite[]>> {
  const zipCodes = [...new Set(addresses.map(({ zipCode }) => zipCode))];
  const { rows } = await database.queryInTenants<NamedSite & PostalAddress>([tenantId], {
    text: `SELECT id, name, address_zip_code AS "zipCode", address_city AS city FROM site
      WHERE tenant_id = $1 AND address_location_lat IS NULL AND address_location_lng IS NULL
        AND address_zip_code = ANY ($2::text[])
      ORDER BY sort_name, id LIMIT ${2 * maxNamed}`,
    values: [tenantId, zipCodes],
  });
  const names = new Map<string, NamedSite[]>();
  for (const { id, name, ...address } of rows) {
    const key = keyOf(address);
    names.set(key, [...(names.get(key) ?? []), { id, name }]);
  }
  return names;
}

function isInside(
  { lat, lng }: { lat: number; lng: number },
  { west, south, east, north }: MapView,
): boolean {
  const isBetween = west <= east ? lng >= west && lng <= east : lng >= west || lng <= east;
  return lat >= south && lat <= north && isBetween;
}

/** Marks of one cell would cover each other, so they become one. */
function joinCells(clusters: readonly MapCluster[], view: MapView): MapCluster[] {
  const cellDegrees = cellDegreesOf(view);
  const cells = Map.groupBy(
    clusters,
    ({ lat, lng }) => `${Math.floor(lng / cellDegrees)} ${Math.floor(lat / cellDegrees)}`,
  );
  return [...cells.values()].map((members) => {
    if (members.length === 1) return members[0]!;
    const sum = (value: (cluster: MapCluster) => number) =>
      members.reduce((total, one) => total + value(one), 0);
    const count = sum((one) => one.count);
    const approximate = sum((one) => one.approximate ?? 0);
    return {
      lat: sum((one) => one.lat * one.count) / count,
      lng: sum((one) => one.lng * one.count) / count,
      count,
      ...(approximate > 0 && { approximate }),
      ...employeeOf(members),
    };
  });
}
