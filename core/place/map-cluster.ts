/** Sites that lie close together on the map, shown as one mark. */
export interface MapCluster {
  lat: number;
  lng: number;
  count: number;
  /** How many of them are placed by postcode or town. */
  approximate?: number;
  /** Of a single site. */
  id?: string;
  name?: string;
  /** Of sites in one place, which no zoom parts. */
  sites?: { id: string; name: string }[];
  /** Of too many approximate sites to name them. */
  zipCode?: string;
}
