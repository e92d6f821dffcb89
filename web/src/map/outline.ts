// The countries of the world, rivers and lakes as shapes, projected once. Moving the map only moves them.
import worldUrl from 'world-atlas/countries-50m.json?url';
import europeUrl from '../../generated/europe.json?url';
import watersUrl from '../../generated/waters.json?url';
import { isInEurope } from './europe.ts';
import { type Position, toPosition, toWorld } from './view.ts';

interface Topology {
  objects: { countries: { geometries: { type: string; id?: string; arcs: number[][] | number[][][] }[] } };
  arcs: [number, number][][];
  transform: { scale: [number, number]; translate: [number, number] };
}

/** Lines from point to point in hundredths of a degree, longitude first, each relative to the one before. */
interface Waters {
  rivers: number[][];
  lakes: number[][][];
}

export interface Shape {
  path: Path2D;
  left: number;
  top: number;
  right: number;
  bottom: number;
}

export interface Outline {
  countries: readonly Shape[];
  lakes: readonly Shape[];
  rivers: readonly Shape[];
}

/** Shapes are relative to this place, since graphics calculate with few digits, and most customers are near it. */
export const origin = toWorld({ lat: 51, lng: 10 });

let outline: Promise<Outline> | undefined;

/** Loads the files together. A failure is not remembered. */
export function loadOutline(): Promise<Outline> {
  outline ??= Promise.all([
    loadFile<Topology>(worldUrl),
    loadFile<Topology>(europeUrl),
    loadFile<Waters>(watersUrl),
  ])
    .then(([world, europe, { lakes, rivers }]) => {
      const near = new Set(europe.objects.countries.geometries.map(({ id }) => id));
      return {
        countries: [
          // Overseas parts of European countries come with the world.
          ...toCountries(world, (id, isNear) => !near.has(id) || !isNear),
          ...toCountries(europe, () => true),
        ],
        lakes: lakes.map((rings) => toShape(rings.map(pointsOf), true)),
        rivers: rivers.map((line) => toShape([pointsOf(line)], false)),
      };
    })
    .catch((error) => {
      outline = undefined;
      throw error;
    });
  return outline;
}

async function loadFile<Content>(url: string): Promise<Content> {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url}: ${response.status}`);
  return response.json();
}

function pointsOf(line: readonly number[]): Point[] {
  const points: Point[] = [];
  let [lng, lat] = [0, 0];
  for (let index = 0; index < line.length; index += 2) {
    lng += line[index]! / 100;
    lat += line[index + 1]! / 100;
    points.push(fromOrigin({ lat, lng }));
  }
  return points;
}

function fromOrigin(position: Position): Point {
  const { x, y } = toWorld(position);
  return [x - origin.x, y - origin.y];
}

/** It goes around the pole, which this projection does not show. */
const antarctica = '010';

type Point = readonly [x: number, y: number];

function toCountries(
  { objects, arcs, transform }: Topology,
  isWanted: (id: string | undefined, isNear: boolean) => boolean,
): Shape[] {
  const { scale, translate } = transform;
  const decoded = arcs.map((arc) => {
    let [x, y] = [0, 0];
    return arc.map(([dx, dy]): Point => {
      x += dx;
      y += dy;
      return fromOrigin({ lat: y * scale[1] + translate[1], lng: x * scale[0] + translate[0] });
    });
  });
  const ringOf = (numbers: readonly number[]) =>
    unwrap(
      numbers.flatMap((number, index) => {
        const arc = number < 0 ? decoded[~number]!.toReversed() : decoded[number]!;
        // An arc begins where the one before it ends.
        return index === 0 ? arc : arc.slice(1);
      }),
    );
  return objects.countries.geometries.flatMap(({ type, id, arcs: numbers }) => {
    const polygons = (type === 'Polygon' ? [numbers] : numbers) as number[][][];
    return polygons
      .map((polygon) => toShape(polygon.map(ringOf), true))
      .filter((country) => id !== antarctica && isWanted(id, isInEurope(cornersOf(country))));
  });
}

/** A shape across the date line goes on beyond the edge of the world, instead of back through it. */
function unwrap(ring: readonly Point[]): Point[] {
  let shift = 0;
  return ring.map(([x, y], index) => {
    const step = index === 0 ? 0 : x - ring[index - 1]![0];
    if (Math.abs(step) > 0.5) shift -= Math.sign(step);
    return [x + shift, y];
  });
}

function cornersOf({ left, top, right, bottom }: Shape): Position[] {
  return [
    toPosition({ x: left + origin.x, y: top + origin.y }),
    toPosition({ x: right + origin.x, y: bottom + origin.y }),
  ];
}

function toShape(rings: readonly (readonly Point[])[], isClosed: boolean): Shape {
  const path = new Path2D();
  for (const ring of rings) {
    ring.forEach(([x, y], index) => {
      if (index === 0) path.moveTo(x, y);
      else path.lineTo(x, y);
    });
    if (isClosed) path.closePath();
  }
  const outer = rings[0]!;
  const box = { left: 1, top: 1, right: -1, bottom: -1 };
  for (const [x, y] of outer) {
    box.left = Math.min(box.left, x);
    box.right = Math.max(box.right, x);
    box.top = Math.min(box.top, y);
    box.bottom = Math.max(box.bottom, y);
  }
  return { path, ...box };
}
