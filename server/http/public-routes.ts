// What anybody may ask for without a key or a session: the web app, its reference, and whether the service is well.
import type { FastifyInstance } from 'fastify';
import type { Database } from '../database/database.ts';
import { guideRoutes } from '../features/guide/guide-routes.ts';
import { healthRoutes } from '../features/health/health-routes.ts';
import { openapiRoutes } from '../features/reference/openapi-document.ts';
import { referenceRoutes } from '../features/reference/reference-routes.ts';
import { addWebApp } from '../features/web-app/web-app.ts';
import { addCompression } from './answer-compression.ts';

export async function addPublicRoutes(
  app: FastifyInstance,
  database: Database,
  publicUrl: string | undefined,
): Promise<void> {
  await addWebApp(app);
  await app.register(healthRoutes, { database });
  await app.register(async (scope) => {
    addCompression(scope);
    await scope.register(openapiRoutes, { publicUrl });
    await scope.register(guideRoutes);
    await scope.register(referenceRoutes);
  });
}
