// Rows by their place. A statement that writes looks its rows up one by one, under a LIMIT, and then writes to their
// places. A join by id is planned for the average tenant, and may read all rows of a large one.

export function placeOf(alias: string): string {
  return `${alias}.ctid AS place`;
}

export function isAtPlace(table: string, found: string): string {
  return `${table}.ctid = ${found}.place`;
}
