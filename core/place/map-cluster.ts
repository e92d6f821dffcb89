export interface MapEmployee {
  id: string;
  name: string;
}

/** Sites that lie close together on the map, shown as one mark. */
export interface MapCluster {
  lat: number;
  lng: number;
  count: number;
  /** Number of sites that are placed by postcode or town. */
  approximate?: number;
  /** Set for a single site. */
  id?: string;
  name?: string;
  /** Set for sites in one place, which no zoom parts. */
  sites?: { id: string; name: string }[];
  /** The employee of all these sites, if they have the same one. */
  employeeId?: string;
  /** Set for approximate sites that are too many to name. */
  zipCode?: string;
}
