// All routes of a resource.
import type { FastifyInstance } from 'fastify';
import type { Database } from '../../database/database.ts';
import type { Definition } from '../definition/definition.ts';
import { addExportRoutes } from './export-routes.ts';
import { addReadRoutes } from './read-routes.ts';
import { addWriteRoutes } from './write-routes.ts';

export function addResourceRoutes(
  api: FastifyInstance,
  definition: Definition,
  all: readonly Definition[],
  database: Database,
): void {
  addWriteRoutes(api, definition, all, database);
  addReadRoutes(api, definition, all, database);
  addExportRoutes(api, definition, database);
}
