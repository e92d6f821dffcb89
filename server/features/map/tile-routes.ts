// Which tiles lie beneath the map, and those of MAP_TILES_FILE themselves. Only people who are signed in get them: the
// service is no tile server for strangers.
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import type { FastifyBaseLogger, FastifyInstance } from 'fastify';
import type { Config } from '../../config.ts';
import { ApiError } from '../../errors.ts';
import { refuseUnknownParameters } from '../../http/conventions.ts';
import { followTileFile, type TileFile } from './tile-file.ts';

export type MapConfig = Partial<
  Pick<Config, 'MAP_TILES_URL' | 'MAP_TILES_FILE' | 'MAP_ATTRIBUTION' | 'GEOCODER_URL'>
>;

/** Unpacked, in bytes. Usual ones have less than a hundredth of it. */
const largestTile = 2 ** 25;

/** The address of a tile changes with the file. */
const keptWeek = 'private, max-age=604800, immutable';

export async function tileRoutes(app: FastifyInstance, { config }: { config: MapConfig }): Promise<void> {
  const readFile = config.MAP_TILES_FILE === undefined ? undefined : followTileFile(config.MAP_TILES_FILE);

  app.get('/map/settings', async (request) => {
    refuseUnknownParameters(request, []);
    const file = await readFile?.().catch((error) => warnOfTileFile(request.log, error));
    return {
      tilesUrl: file ? `/app/map/tiles/${file.version}/{z}/{x}/{y}` : (config.MAP_TILES_URL ?? null),
      tileFile: file ? { kind: file.kind, minZoom: file.minZoom, maxZoom: file.maxZoom } : null,
      attribution: config.MAP_ATTRIBUTION ?? file?.attribution ?? null,
      hasGeocoder: config.GEOCODER_URL !== undefined,
    };
  });

  app.get<{ Params: Record<'version' | 'z' | 'x' | 'y', string> }>(
    '/map/tiles/:version/:z/:x/:y',
    async (request, reply) => {
      refuseUnknownParameters(request, []);
      const { version, ...place } = request.params;
      const [z, x, y] = [place.z, place.x, place.y].map(readNumber) as [number, number, number];
      if (!readFile) throw new ApiError('not_found');
      const [file, tile] = await readTile(readFile, z, x, y);
      // MapLibre then draws a part of the tile above.
      if (!tile) throw new ApiError('not_found');
      if (version === file.version) reply.header('Cache-Control', keptWeek);
      const etag = `"${createHash('sha256').update(tile).digest('base64url').slice(0, 22)}"`;
      reply.headers({ ETag: etag, Vary: 'Accept-Encoding' });
      if (request.headers['if-none-match']?.includes(etag)) return reply.code(304).send();
      reply.type(file.contentType);
      if (!file.isGzip) return reply.send(tile);
      if (!request.headers['accept-encoding']?.includes('gzip'))
        return reply.send(await promisify(gunzip)(tile, { maxOutputLength: largestTile }));
      return reply.header('Content-Encoding', 'gzip').send(tile);
    },
  );
}

function readNumber(text: string): number {
  if (!/^\d{1,8}$/.test(text)) throw new ApiError('not_found');
  return Number(text);
}

/** Tries twice: the file may be replaced meanwhile. */
async function readTile(
  readFile: () => Promise<TileFile>,
  z: number,
  x: number,
  y: number,
): Promise<[TileFile, Buffer | undefined]> {
  const read = async (): Promise<[TileFile, Buffer | undefined]> => {
    const file = await readFile();
    return [file, await file.readTile(z, x, y)];
  };
  return read().catch(read);
}

function warnOfTileFile(log: FastifyBaseLogger, error: Error): undefined {
  log.warn(`The map shows outlines, because MAP_TILES_FILE ${error.message}.`);
}
