// Writes PMTiles files (version 3) and the vector tiles in them, as small as tests need them.
import { gzipSync } from 'node:zlib';
import { zxyToTileId } from 'pmtiles';

function varint(value: number): number[] {
  const bytes: number[] = [];
  let rest = value;
  for (; rest > 127; rest = Math.floor(rest / 128)) bytes.push((rest % 128) + 128);
  return [...bytes, rest];
}

interface Contents {
  /** By "z/x/y". */
  tiles: Readonly<Record<string, Buffer>>;
  metadata: object;
  /** As PMTiles numbers them: 1 is MVT, 2 PNG. */
  tileType: number;
}

/** One directory, whose entries are the tiles in the order of their numbers. */
export function pmtilesFile({ tiles, metadata, tileType }: Contents): Buffer {
  const isVector = tileType === 1;
  const entries = Object.entries(tiles)
    .map(([place, content]) => {
      const [z, x, y] = place.split('/').map(Number) as [number, number, number];
      return { z, id: zxyToTileId(z, x, y), content: isVector ? gzipSync(content) : content };
    })
    .sort((a, b) => a.id - b.id);
  const column = (readEntry: (index: number) => number) =>
    entries.flatMap((_, index) => varint(readEntry(index)));
  const directory = gzipSync(
    Buffer.from([
      ...varint(entries.length),
      ...column((index) => entries[index]!.id - (entries[index - 1]?.id ?? 0)),
      ...column(() => 1),
      ...column((index) => entries[index]!.content.length),
      // 0 means: right behind the one before.
      ...column((index) => (index === 0 ? 1 : 0)),
    ]),
  );
  const json = gzipSync(JSON.stringify(metadata));
  const data = Buffer.concat(entries.map(({ content }) => content));
  const header = Buffer.alloc(127);
  header.write('PMTiles\x03', 'latin1');
  const parts = [directory.length, json.length, 0, data.length];
  let offset = header.length;
  for (const [index, length] of parts.entries()) {
    header.writeBigUInt64LE(BigInt(offset), 8 + index * 16);
    header.writeBigUInt64LE(BigInt(length), 16 + index * 16);
    offset += length;
  }
  for (const at of [72, 80, 88]) header.writeBigUInt64LE(BigInt(entries.length), at);
  const zooms = entries.map(({ z }) => z);
  header.set([1, 2, isVector ? 2 : 1, tileType, Math.min(...zooms), Math.max(...zooms)], 96);
  return Buffer.concat([header, directory, json, data]);
}

type Feature = {
  type: 1 | 2 | 3;
  geometry: readonly number[];
  values?: Readonly<Record<string, string | number>>;
};

const field = (number: number, bytes: readonly number[] | Buffer) => [
  ...varint(number * 8 + 2),
  ...varint(bytes.length),
  ...bytes,
];

/** A vector tile by its layers, 4096 units wide. Geometries are MVT's commands. */
export function vectorTile(layers: Readonly<Record<string, readonly Feature[]>>): Buffer {
  return Buffer.from(
    Object.entries(layers).flatMap(([name, features]) => {
      const keys = [...new Set(features.flatMap(({ values = {} }) => Object.keys(values)))];
      const values = [...new Set(features.flatMap(({ values = {} }) => Object.values(values)))];
      const layer = [
        ...field(1, Buffer.from(name)),
        ...features.flatMap(({ type, geometry, values: own = {} }) => {
          const tags = Object.entries(own).flatMap(([key, value]) => [
            keys.indexOf(key),
            values.indexOf(value),
          ]);
          const packed = (numbers: readonly number[]) => numbers.flatMap(varint);
          return field(2, [...field(2, packed(tags)), 24, type, ...field(4, packed(geometry))]);
        }),
        ...keys.flatMap((key) => field(3, Buffer.from(key))),
        ...values.flatMap((value) =>
          field(4, typeof value === 'string' ? field(1, Buffer.from(value)) : [5 * 8, ...varint(value)]),
        ),
        ...[5 * 8, ...varint(4096), 15 * 8, 2],
      ];
      return field(3, layer);
    }),
  );
}

const zigzag = (value: number) => (value < 0 ? -value * 2 - 1 : value * 2);

/** From one corner to the opposite one. */
export function rectangle(left: number, top: number, right: number, bottom: number): number[] {
  const [width, height] = [right - left, bottom - top];
  const steps = [width, 0, 0, height, -width, 0].map(zigzag);
  return [9, zigzag(left), zigzag(top), 26, ...steps, 15];
}

/** Metadata that names the layers of a basemap by Protomaps. */
export const basemapLayers = {
  vector_layers: ['boundaries', 'buildings', 'earth', 'landuse', 'places', 'roads', 'water'].map((id) => ({
    id,
  })),
};
