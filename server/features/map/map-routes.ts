import type { FastifyInstance, FastifyRequest } from 'fastify';
import { findApproximatePosition } from '../../../core/postcodes.ts';
import type { Database } from '../../database/database.ts';
import { type FieldError, validationError } from '../../errors.ts';
import { refuseUnknownParameters } from '../../http/conventions.ts';
import { findClusters, type MapView } from './clusters.ts';

const maxZoom = 22;

export async function mapRoutes(app: FastifyInstance, { database }: { database: Database }): Promise<void> {
  app.get('/map', async (request) => ({
    clusters: await findClusters(database, request.tenantId, readView(request)),
  }));

  app.get('/map/approximate-position', async (request) => {
    refuseUnknownParameters(request, ['zipCode', 'city']);
    const { zipCode = '', city = '' } = request.query as Record<string, unknown>;
    const position = findApproximatePosition({ zipCode: String(zipCode), city: String(city) });
    return { approximatePosition: position ?? null };
  });
}

/** A view over the date line has its west beyond its east. */
function readView(request: FastifyRequest): MapView {
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
