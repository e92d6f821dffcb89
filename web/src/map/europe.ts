// The part of the world with more map detail. The middle of a shape decides, since it is the same in both outlines.
import type { Position } from './view.ts';

const box = { west: -32, south: 27, east: 45, north: 72 };

export function isInEurope(corners: readonly Position[]): boolean {
  const middle = (values: readonly number[]) => (Math.min(...values) + Math.max(...values)) / 2;
  const lat = middle(corners.map((corner) => corner.lat));
  const lng = middle(corners.map((corner) => corner.lng));
  return lng > box.west && lng < box.east && lat > box.south && lat < box.north;
}
