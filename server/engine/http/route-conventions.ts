// Conventions that routes of one tenant and one object share.
import type { FastifyRequest } from 'fastify';
import type pg from 'pg';
import type { Database } from '../../database/database.ts';
import { ApiError } from '../../errors.ts';
import { isUuid } from '../definition/formats.ts';

export interface IdRoute {
  Params: { id: string };
}

export function idOf({ params: { id } }: FastifyRequest<IdRoute>): string {
  if (!isUuid(id)) throw new ApiError('not_found');
  return id.toLowerCase();
}

/** A transaction of the request's tenant that ends with the request's deadline. */
export function inTenantOf<Result>(
  { tenantId, deadline }: FastifyRequest,
  database: Database,
  work: (client: pg.ClientBase) => Promise<Result>,
): Promise<Result> {
  return database.inTenants([tenantId], work, { deadline });
}
