// The start of a tour, and the positions of its stops: exact or approximate.
import type { Position } from '../../../core/place/route.ts';
import type { StartAddress, Visit } from './visits-query.ts';

export function positionOf({ site }: Visit): Position | undefined {
  return site?.address.location ?? site?.approximateLocation;
}

export function isApproximate({ site }: Visit): boolean {
  return site?.address.location === undefined && site?.approximateLocation !== undefined;
}

export function startOf(address: StartAddress | null | undefined): Position | undefined {
  return address?.location ?? address?.approximateLocation;
}

export function startText({ street, zipCode, city }: StartAddress): string {
  return `${street}, ${zipCode} ${city}`;
}
