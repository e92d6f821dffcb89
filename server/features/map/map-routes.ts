// The sites in a part of the map, those that lie close together as one.
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Database } from '../../database/database.ts';
import { type FieldError, validationError } from '../../errors.ts';
import { refuseUnknownParameters } from '../../http/conventions.ts';

const maxClusters = 2000;
const maxZoom = 22;
/** Of a world that is 256 pixels wide at zoom 0, so that marks have room beside each other. */
const cellPixels = 48;
/** Sites of one house lie closer than any zoom could part them, about a metre, and are named one by one. */
const sameHouseDegrees = 0.00001;
const maxSitesOfHouse = 50;

export async function mapRoutes(app: FastifyInstance, { database }: { database: Database }): Promise<void> {
  app.get('/map', async (request) => {
    const { west, south, east, north, zoom } = readView(request);
    const cellDegrees = (360 * cellPixels) / (256 * 2 ** zoom);
    const { rows } = await database.queryInTenants([request.tenantId], {
      text: `SELECT avg(address_location_lat) AS lat, avg(address_location_lng) AS lng, count(*)::integer AS count,
            CASE WHEN count(*) = 1 THEN min(id::text) END AS id, CASE WHEN count(*) = 1 THEN min(name) END AS name,
            CASE WHEN count(*) BETWEEN 2 AND ${maxSitesOfHouse}
              AND max(address_location_lat) - min(address_location_lat) < ${sameHouseDegrees}
              AND max(address_location_lng) - min(address_location_lng) < ${sameHouseDegrees}
              THEN json_agg(json_build_object('id', id, 'name', name) ORDER BY sort_name, id) END AS sites
          FROM site
          WHERE tenant_id = $1 AND address_location_lat BETWEEN $2 AND $3
            AND CASE WHEN $4::float <= $5::float THEN address_location_lng BETWEEN $4 AND $5
              ELSE address_location_lng >= $4 OR address_location_lng <= $5 END
          GROUP BY floor(address_location_lng / $6::float), floor(address_location_lat / $6::float)
          ORDER BY count DESC, 2, 1 LIMIT ${maxClusters}`,
      values: [request.tenantId, south, north, west, east, cellDegrees],
    });
    const clusters = rows.map(({ id, name, sites, ...cluster }) => ({
      ...cluster,
      ...(id && { id, name }),
      ...(sites && { sites }),
    }));
    return { clusters };
  });
}

/** A view over the date line has its west beyond its east. */
function readView(request: FastifyRequest) {
  refuseUnknownParameters(request, ['west', 'south', 'east', 'north', 'zoom']);
  const query = request.query as Record<string, unknown>;
  const fieldErrors: FieldError[] = [];
  const read = (name: string, min: number, max: number) => {
    const value = query[name];
    const number =
      typeof value === 'string' && /^-?\d{1,3}(\.\d{1,20})?$/.test(value) ? Number(value) : Number.NaN;
    if (value === undefined) fieldErrors.push({ path: [name], code: 'required' });
    else if (Number.isNaN(number))
      fieldErrors.push({ path: [name], code: 'type', params: { type: 'number' } });
    else if (number < min) fieldErrors.push({ path: [name], code: 'too_small', params: { min } });
    else if (number > max) fieldErrors.push({ path: [name], code: 'too_large', params: { max } });
    return number;
  };
  const view = {
    west: read('west', -180, 180),
    south: read('south', -90, 90),
    east: read('east', -180, 180),
    north: read('north', -90, 90),
    zoom: read('zoom', 0, maxZoom),
  };
  if (fieldErrors.length > 0) throw validationError(fieldErrors);
  return view;
}
