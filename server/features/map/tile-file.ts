// Reads tiles from the PMTiles file of MAP_TILES_FILE. The file may be replaced at any time: each read opens it anew.
import { createHash } from 'node:crypto';
import type { BigIntStats } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { promisify } from 'node:util';
import zlib from 'node:zlib';
import { Compression, type Header, PMTiles, ResolvedValueCache, type Source, TileType } from 'pmtiles';

export interface TileFile {
  /** Changes with the content, and is the same on every node that has this file. */
  version: string;
  kind: 'VECTOR' | 'RASTER';
  minZoom: number;
  maxZoom: number;
  contentType: string;
  isGzip: boolean;
  attribution: string | null;
  readTile(z: number, x: number, y: number): Promise<Buffer | undefined>;
}

export class TileFileError extends Error {}

const mostBytes = 16 * 1024 * 1024;
/** A directory has some thousand entries, a country has a few hundred directories. */
const mostDirectories = 64;
const startBytes = 16_384;
/** The highest zoom that PMTiles can number. */
const highestZoom = 26;

const contentTypes: Partial<Record<TileType, string>> = {
  [TileType.Mvt]: 'application/vnd.mapbox-vector-tile',
  [TileType.Png]: 'image/png',
  [TileType.Jpeg]: 'image/jpeg',
  [TileType.Webp]: 'image/webp',
  [TileType.Avif]: 'image/avif',
};

/** The layers of Protomaps' basemap that the office draws. */
const neededLayers = ['earth', 'water', 'roads'];

/** Why the file cannot be used. Completes the sentence "MAP_TILES_FILE …". */
export async function findTileFileTrouble(file: string): Promise<string | undefined> {
  return followTileFile(file)().then(
    () => undefined,
    ({ message }) => message,
  );
}

/** Returns a function that reads the file as it is now. It throws a TileFileError if the file cannot be used. */
export function followTileFile(file: string): () => Promise<TileFile> {
  let known: { state: string; tileFile: Promise<TileFile> } | undefined;
  return async () => {
    const state = describe(await stat(file, { bigint: true }).catch(throwReason));
    if (known?.state === state) return known.tileFile;
    const read = { state, tileFile: openTileFile(file, state).catch(throwReason) };
    known = read;
    try {
      return await read.tileFile;
    } catch (error) {
      // The next request tries again: a disk may have been away for a moment.
      if (known === read) known = undefined;
      throw error;
    }
  };
}

async function openTileFile(file: string, state: string): Promise<TileFile> {
  const source: Source = {
    getKey: () => file,
    getBytes: async (offset, length) => ({ data: await readBytes(file, state, offset, length) }),
  };
  const start = Buffer.from(await readBytes(file, state, 0, startBytes));
  if (start.toString('latin1', 0, 7) !== 'PMTiles' || start[7] !== 3)
    throw new TileFileError(`${file} is not a PMTiles file (version 3)`);
  // Tiles stay compressed. Directories are not, by the cache's own default.
  const archive = new PMTiles(source, new ResolvedValueCache(mostDirectories), async (bytes) => bytes);
  const header = await archive.getHeader();
  const { tileType, tileCompression, minZoom, maxZoom, tileDataOffset, tileDataLength = 0 } = header;
  const contentType = contentTypes[tileType];
  if (!contentType) throw new TileFileError(`${file} holds neither vector tiles (MVT) nor pictures`);
  if (tileCompression !== Compression.Gzip && tileCompression !== Compression.None)
    throw new TileFileError(`${file} is compressed in another way than gzip`);
  // A copy may not be complete.
  if (tileDataLength > 0) await source.getBytes(tileDataOffset + tileDataLength - 1, 1);
  const metadata = await readMetadata(source, header);
  const kind = tileType === TileType.Mvt ? 'VECTOR' : 'RASTER';
  const missing = kind === 'VECTOR' ? neededLayers.filter((layer) => !metadata.layers.has(layer)) : [];
  if (missing.length > 0)
    throw new TileFileError(`${file} is no basemap of Protomaps (version 4): it lacks ${missing.join(', ')}`);
  return {
    version: createHash('sha256').update(start).digest('base64url').slice(0, 16),
    kind,
    minZoom,
    maxZoom,
    contentType,
    isGzip: tileCompression === Compression.Gzip,
    attribution: metadata.attribution ?? (kind === 'VECTOR' ? '© OpenStreetMap' : null),
    async readTile(z, x, y) {
      if (z > highestZoom || x >= 2 ** z || y >= 2 ** z) return undefined;
      const tile = await archive.getZxy(z, x, y).catch(throwReason);
      return tile && Buffer.from(tile.data);
    },
  };
}

/** Differs once the file is another one, or was written to. */
function describe(stats: BigIntStats): string {
  if (!stats.isFile()) throw new TileFileError('must name a file');
  const { dev, ino, size, mtimeNs, ctimeNs } = stats;
  return [dev, ino, size, mtimeNs, ctimeNs].join(' ');
}

async function readBytes(file: string, state: string, offset: number, length: number): Promise<ArrayBuffer> {
  if (!(length <= mostBytes)) throw new TileFileError(`${file} is damaged: a part has ${length} bytes`);
  await using handle = await open(file);
  if (describe(await handle.stat({ bigint: true })) !== state)
    throw new TileFileError(`${file} was replaced just now`);
  const bytes = new Uint8Array(length);
  const { bytesRead } = await handle.read(bytes, 0, length, offset);
  if (bytesRead < length && offset > 0) throw new TileFileError(`${file} is cut off`);
  return bytes.buffer.slice(0, bytesRead);
}

async function readMetadata(source: Source, header: Header) {
  const { data } = await source.getBytes(header.jsonMetadataOffset, header.jsonMetadataLength);
  const bytes = new Uint8Array(data);
  const text =
    header.internalCompression === Compression.Gzip
      ? await promisify(zlib.gunzip)(bytes, { maxOutputLength: mostBytes })
      : bytes;
  const { attribution, vector_layers: layers } = JSON.parse(new TextDecoder().decode(text) || '{}');
  return {
    attribution: typeof attribution === 'string' ? plainText(attribution) : undefined,
    layers: new Set(Array.isArray(layers) ? layers.map(({ id }) => id) : []),
  };
}

/** Licence lines are HTML in most files. The page shows a text. */
function plainText(html: string): string | undefined {
  const text = html
    .replace(/<[^>]*>/g, '')
    .replace(/&copy;|&#169;/g, '©')
    .replace(/&amp;/g, '&')
    .replace(/\s+/g, ' ')
    .trim();
  return text === '' ? undefined : text.slice(0, 200);
}

function throwReason(error: unknown): never {
  if (error instanceof TileFileError) throw error;
  throw new TileFileError(`cannot be read: ${(error as Error).message}`, { cause: error });
}
