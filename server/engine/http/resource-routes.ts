// All routes of a resource.
import type { FastifyInstance } from 'fastify';
import type { Database } from '../../database/database.ts';
import { type Definition, dependantsOf } from '../definition/definition.ts';
import { attentionChecksOf } from '../sql/attention-checks.ts';
import { addExportRoutes } from './export-routes.ts';
import { addReadRoutes } from './read-routes.ts';
import { addWriteRoutes } from './write-routes.ts';

export function addResourceRoutes(
  api: FastifyInstance,
  definition: Definition,
  all: readonly Definition[],
  database: Database,
): void {
  const dependants = dependantsOf(definition, all);
  addWriteRoutes(api, definition, { database, dependants, attentionChecks: attentionChecksOf(definition) });
  addReadRoutes(api, definition, database);
  addExportRoutes(api, definition, database);
}
