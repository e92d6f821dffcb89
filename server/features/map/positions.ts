// Finds positions of given sites: their own, or the approximate one of their address.
import { findApproximatePosition } from '../../../core/place/postcodes.ts';
import type { Database } from '../../database/database.ts';

interface Row {
  id: string;
  name: string;
  lat: number | null;
  lng: number | null;
  zipCode: string;
  city: string;
}

export async function findPositions(database: Database, tenantId: string, siteIds: readonly string[]) {
  const { rows } = await database.queryInTenants<Row>([tenantId], {
    text: `SELECT id, name, address_location_lat AS lat, address_location_lng AS lng,
        address_zip_code AS "zipCode", address_city AS city
      FROM site WHERE tenant_id = $1 AND id = ANY ($2::uuid[]) ORDER BY sort_name, id`,
    values: [tenantId, siteIds],
  });
  return rows.map(({ id, name, lat, lng, ...address }) => {
    const position = lat === null || lng === null ? null : { lat, lng };
    const approximatePosition = position ? null : (findApproximatePosition(address) ?? null);
    return { id, name, position, approximatePosition };
  });
}
