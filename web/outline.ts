// The outline of Europe for the map, detailed enough for one country, with rivers and lakes. It is cut from Natural Earth
// (public domain), which is four times as large. Written where the app finds it, whenever the app is built.
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { isInEurope } from './src/map/europe.ts';

interface Geometry {
  type: 'Polygon' | 'MultiPolygon';
  id?: string;
  arcs: number[][] | number[][][];
}

interface Topology {
  objects: { countries: { geometries: Geometry[] } };
  arcs: [number, number][][];
  transform: { scale: [number, number]; translate: [number, number] };
}

/** Countries after ISO 3166-1: those where an outline is looked at closely. */
const europe = new Set(
  `008 020 040 056 070 100 112 191 196 203 208 233 234 246 248 250 276 292 300 336 348 352 372 380 428 438 440 442 470
   492 498 499 528 578 616 620 642 674 688 703 705 724 752 756 804 807 826 831 832 833`.split(/\s+/),
);

export function writeEurope(): void {
  const source = createRequire(import.meta.url).resolve('world-atlas/countries-10m.json');
  const world: Topology = JSON.parse(readFileSync(source, 'utf8'));
  writeGenerated('europe.json', cutEurope(world));
}

export function writeWaters(): void {
  const source = path.join(import.meta.dirname, '../reference/waters.json');
  writeGenerated('waters.json', JSON.parse(readFileSync(source, 'utf8')));
}

/** Several builds may run together, and each must find a whole file. */
export function writeGenerated(name: string, content: unknown): void {
  const target = path.join(import.meta.dirname, 'generated', name);
  mkdirSync(path.dirname(target), { recursive: true });
  writeFileSync(`${target}.${process.pid}`, JSON.stringify(content));
  renameSync(`${target}.${process.pid}`, target);
}

function cutEurope({ objects, arcs, transform }: Topology): Topology {
  const kept = new Map<number, number>();
  /** An arc that is run through backwards has the complement of its number. */
  const keep = (arc: number) => {
    const number = arc < 0 ? ~arc : arc;
    const place = kept.getOrInsert(number, kept.size);
    return arc < 0 ? ~place : place;
  };
  const positionsOf = (arc: number) => {
    let [x, y] = [0, 0];
    return arcs[arc < 0 ? ~arc : arc]!.map(([dx, dy]) => {
      x += dx;
      y += dy;
      return {
        lng: x * transform.scale[0] + transform.translate[0],
        lat: y * transform.scale[1] + transform.translate[1],
      };
    });
  };
  const geometries = objects.countries.geometries
    .filter(({ id }) => id !== undefined && europe.has(id))
    .map(({ type, id, arcs: rings }): Geometry => {
      const polygons = (type === 'Polygon' ? [rings] : rings) as number[][][];
      // Overseas parts are drawn as the rest of the world is.
      const near = polygons.filter(([outer]) => isInEurope(outer!.flatMap(positionsOf)));
      return { type: 'MultiPolygon', id, arcs: near.map((polygon) => polygon.map((ring) => ring.map(keep))) };
    });
  return {
    objects: { countries: { geometries } },
    arcs: [...kept.keys()].map((number) => arcs[number]!),
    transform,
  };
}
