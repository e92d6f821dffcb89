// The driving order of a day's stops: each time the nearest one that is left, as the crow flies.

export interface Position {
  lat: number;
  lng: number;
}

const earthRadiusInKm = 6371;

export function distanceInKm(from: Position, to: Position): number {
  const radians = (degrees: number) => (degrees * Math.PI) / 180;
  const half = (one: number, other: number) => Math.sin(radians(other - one) / 2) ** 2;
  const chord =
    half(from.lat, to.lat) + Math.cos(radians(from.lat)) * Math.cos(radians(to.lat)) * half(from.lng, to.lng);
  return 2 * earthRadiusInKm * Math.asin(Math.sqrt(Math.min(1, chord)));
}

/** Without a start, the first stop with a position is the start. Stops without a position keep their order at the end. */
export function orderByNearest<Stop>(
  stops: readonly Stop[],
  positionOf: (stop: Stop) => Position | undefined,
  start?: Position,
): Stop[] {
  const left = stops.flatMap((stop) => {
    const position = positionOf(stop);
    return position ? [{ stop, position }] : [];
  });
  const ordered: Stop[] = [];
  let here = start ?? left[0]?.position;
  while (here && left.length > 0) {
    const distances = left.map(({ position }) => distanceInKm(here!, position));
    const nearest = distances.indexOf(Math.min(...distances));
    const [next] = left.splice(nearest, 1);
    ordered.push(next!.stop);
    here = next!.position;
  }
  return [...ordered, ...stops.filter((stop) => positionOf(stop) === undefined)];
}
