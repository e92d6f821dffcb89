// The countries of the world as shapes, decoded from TopoJSON and projected once. Moving the map only moves them.
import worldUrl from 'world-atlas/countries-50m.json?url';
import europeUrl from '../../generated/europe.json?url';
import { isInEurope } from './europe.ts';
import { type Position, toPosition, toWorld } from './view.ts';

interface Topology {
  objects: { countries: { geometries: { type: string; id?: string; arcs: number[][] | number[][][] }[] } };
  arcs: [number, number][][];
  transform: { scale: [number, number]; translate: [number, number] };
}

export interface Country {
  path: Path2D;
  left: number;
  top: number;
  right: number;
  bottom: number;
}

/** Shapes are relative to this place, since graphics calculate with few digits, and most customers are near it. */
export const origin = toWorld({ lat: 51, lng: 10 });

let countries: Promise<Country[]> | undefined;

/** Loads both files together. A failure is not remembered. */
export function loadOutline(): Promise<Country[]> {
  countries ??= Promise.all([loadTopology(worldUrl), loadTopology(europeUrl)])
    .then(([world, europe]) => {
      const near = new Set(europe.objects.countries.geometries.map(({ id }) => id));
      return [
        // Overseas parts of European countries come with the world.
        ...toCountries(world, (id, isNear) => !near.has(id) || !isNear),
        ...toCountries(europe, () => true),
      ];
    })
    .catch((error) => {
      countries = undefined;
      throw error;
    });
  return countries;
}

async function loadTopology(url: string): Promise<Topology> {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url}: ${response.status}`);
  return response.json();
}

/** It goes around the pole, which this projection does not show. */
const antarctica = '010';

type Point = readonly [x: number, y: number];

function toCountries(
  { objects, arcs, transform }: Topology,
  isWanted: (id: string | undefined, isNear: boolean) => boolean,
): Country[] {
  const { scale, translate } = transform;
  const decoded = arcs.map((arc) => {
    let [x, y] = [0, 0];
    return arc.map(([dx, dy]): Point => {
      x += dx;
      y += dy;
      const world = toWorld({ lat: y * scale[1] + translate[1], lng: x * scale[0] + translate[0] });
      return [world.x - origin.x, world.y - origin.y];
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
      .map((polygon) => toCountry(polygon.map(ringOf)))
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

function cornersOf({ left, top, right, bottom }: Country): Position[] {
  return [
    toPosition({ x: left + origin.x, y: top + origin.y }),
    toPosition({ x: right + origin.x, y: bottom + origin.y }),
  ];
}

function toCountry(rings: readonly (readonly Point[])[]): Country {
  const path = new Path2D();
  for (const ring of rings) {
    ring.forEach(([x, y], index) => {
      if (index === 0) path.moveTo(x, y);
      else path.lineTo(x, y);
    });
    path.closePath();
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
