// Employees on the map: whose sites have which colour.
import type { MapEmployee } from '../../../core/place/map-cluster.ts';

export interface People {
  names: ReadonlyMap<string, string>;
  /** The style sheet's variable for each. */
  colourNames: ReadonlyMap<string, string>;
}

/** The style sheet has so many. More employees share them. */
const colours = 8;

export function toPeople(employees: readonly MapEmployee[]): People {
  return {
    names: new Map(employees.map(({ id, name }) => [id, name])),
    colourNames: new Map(employees.map(({ id }, place) => [id, `--map-person-${place % colours}`])),
  };
}
