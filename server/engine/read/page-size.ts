// Limits a page to about 4 MB. PostgreSQL estimates row sizes while it reads and leaves out the JSON beyond the limit; the
// exact cut follows here.

export const maxPageBytes = 4 * 1024 * 1024;

/** `selection` for rows in `order` (as in ORDER BY) until their estimated sizes reach the bound, NULL for the others. */
export function selectWithinPage(
  selection: string,
  { sizes, order, maxBytes = maxPageBytes }: { sizes: readonly string[]; order: string; maxBytes?: number },
): string {
  if (sizes.length === 0) return selection;
  const window = `(ORDER BY ${order} ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)`;
  return `CASE WHEN sum(${sizes.join(' + ')}) OVER ${window} < ${maxBytes} IS NOT FALSE THEN ${selection} END`;
}

/** The size of a text, which PostgreSQL knows without reading the value. */
export function textBytes(column: string): string {
  return `coalesce(octet_length(${column}), 0)`;
}

/** The size of json; only a compressed value has to be read. */
export function jsonBytes(column: string): string {
  return `coalesce(CASE WHEN pg_column_compression(${column}) IS NULL THEN pg_column_size(${column})
    ELSE octet_length(${column}::text) END, 0)`;
}

/** The rows of a page: at most `limit` and about 4 MB, and at least one if there is any. */
export function cutPage<Row extends { json: string | null }>(
  rows: readonly Row[],
  limit: number,
  maxBytes = maxPageBytes,
): (Row & { json: string })[] {
  const page: (Row & { json: string })[] = [];
  let bytes = 0;
  for (const row of rows.slice(0, limit)) {
    if (row.json === null) break;
    bytes += Buffer.byteLength(row.json);
    if (bytes > maxBytes && page.length > 0) break;
    page.push(row as Row & { json: string });
  }
  return page;
}
