// Routes without key or session: the web app, its reference, and the health checks.
import type { FastifyInstance } from 'fastify';
import type { Config } from '../config.ts';
import type { Database } from '../database/database.ts';
import { guideRoutes } from '../features/guide/guide-routes.ts';
import { healthRoutes } from '../features/health/health-routes.ts';
import type { MapConfig } from '../features/map/tile-routes.ts';
import { openapiRoutes } from '../features/reference/openapi-document.ts';
import { referenceRoutes } from '../features/reference/reference-routes.ts';
import { addWebApp } from '../features/web-app/web-app.ts';
import { addCompression } from '../http/answer-compression.ts';

export async function addPublicRoutes(
  app: FastifyInstance,
  database: Database,
  { PUBLIC_URL: publicUrl, MAP_TILES_URL }: Pick<Config, 'PUBLIC_URL'> & MapConfig,
): Promise<void> {
  await addWebApp(app, MAP_TILES_URL);
  await app.register(healthRoutes, { database });
  await app.register(async (scope) => {
    addCompression(scope);
    await scope.register(openapiRoutes, { publicUrl });
    await scope.register(guideRoutes);
    await scope.register(referenceRoutes);
  });
}
