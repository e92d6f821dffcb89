import type { FastifyInstance, FastifyRequest } from 'fastify';
import { findApproximatePosition } from '../../../core/place/postcodes.ts';
import type { Database } from '../../database/database.ts';
import { isUuid } from '../../engine/definition/formats.ts';
import { ApiError, type FieldError, validationError } from '../../errors.ts';
import { refuseUnknownParameters } from '../../http/conventions.ts';
import { findClusters, findEmployees, type MapView } from './clusters.ts';
import { findPositions } from './positions.ts';
import { listProposals, rejectProposal } from './proposals.ts';
import { type MapConfig, tileRoutes } from './tile-routes.ts';

const maxZoom = 22;

const proposalsPerPage = 50;
const maxPositions = 200;
const bodiless = { config: { takesNoBody: true } } as const;

interface MapOptions {
  database: Database;
  config: MapConfig;
}

export async function mapRoutes(app: FastifyInstance, { database, config }: MapOptions): Promise<void> {
  await app.register(tileRoutes, { config });

  app.get('/map', { config: { isHeavyRead: true } }, async (request) => {
    const [clusters, employees] = await Promise.all([
      findClusters(database, request.tenantId, readView(request)),
      findEmployees(database, request.tenantId),
    ]);
    return { clusters, employees };
  });

  app.get('/map/approximate-position', async (request) => {
    refuseUnknownParameters(request, ['zipCode', 'city']);
    const { zipCode = '', city = '' } = request.query as Record<string, unknown>;
    const position = findApproximatePosition({ zipCode: String(zipCode), city: String(city) });
    return { approximatePosition: position ?? null };
  });

  app.get('/map/positions', async (request) => {
    refuseUnknownParameters(request, ['siteId']);
    const siteIds = String((request.query as Record<string, unknown>).siteId ?? '').split(',');
    if (siteIds.length > maxPositions || !siteIds.every(isUuid))
      throw validationError([{ path: ['siteId'], code: 'type', params: { type: 'uuid' } }]);
    return { data: await findPositions(database, request.tenantId, siteIds) };
  });

  app.get('/map/proposals', { config: { isHeavyRead: true } }, async (request) => {
    refuseUnknownParameters(request, ['after']);
    const { after = nothing } = request.query as Record<string, string>;
    if (!isUuid(after)) throw validationError([{ path: ['after'], code: 'invalid_cursor' }]);
    const { proposals, total } = await listProposals(database, request.tenantId, {
      after,
      limit: proposalsPerPage,
    });
    return {
      data: proposals.map((proposal) => ({
        ...proposal,
        approximatePosition: findApproximatePosition(proposal) ?? null,
      })),
      nextAfter: proposals.length === proposalsPerPage ? proposals.at(-1)!.siteId : null,
      total,
    };
  });

  app.post<{ Params: { siteId: string } }>(
    '/map/proposals/:siteId/rejection',
    bodiless,
    async (request, reply) => {
      const { siteId } = request.params;
      const wasThere = isUuid(siteId) && (await rejectProposal(database, request.tenantId, siteId));
      if (!wasThere) throw new ApiError('not_found');
      reply.code(204);
    },
  );
}

const nothing = '00000000-0000-0000-0000-000000000000';

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
