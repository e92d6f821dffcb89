// Geocoding as a part of the process: beside requests, with connections of its own.
import type { FastifyBaseLogger } from 'fastify';
import type pg from 'pg';
import type { Config } from '../config.ts';
import { openDatabase } from '../database/database.ts';
import { startGeocoding as start } from '../features/map/geocoding.ts';

/** Returns a function that stops it. */
export function startGeocoding(
  { GEOCODER_URL, PUBLIC_URL }: Config,
  connection: pg.ClientConfig,
  log: FastifyBaseLogger,
): () => Promise<void> {
  if (GEOCODER_URL === undefined) return async () => {};
  const database = openDatabase(connection, { maxConnections: 1 });
  const stop = start({ url: GEOCODER_URL, publicUrl: PUBLIC_URL, database, log });
  return async () => {
    await stop();
    await database.close();
  };
}
