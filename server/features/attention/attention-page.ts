// A page of the attention list. Only the last page is empty: out of time with nothing found is an error to retry.
import { isOverloaded } from '../../database/errors.ts';
import { ApiError } from '../../errors.ts';
import type { InterruptedPages } from '../../http/interrupted-pages.ts';
import type { Pass } from './attention-passes.ts';
import { isTimeUp, type Part, type Place, type Reader, readPart, scannedRows } from './attention-scan.ts';

export interface PageRequest {
  limit: number;
  passes: readonly Pass[];
  from: Place;
  /** The filters as one text. */
  filters: string;
}

/** Where a page ran out of time, and how many rows its next statement looks at: fewer than one that found no end. */
export interface Interruption {
  place: Place;
  rows: number;
}

const fewestRows = 100;

/** Of the rows of a statement that took too long. */
export function halfOf(rows: number): number {
  return Math.max(Math.floor(rows / 2), fewestRows);
}

/** One statement fills the page, except in a large business where most rows need no attention. */
export async function readPage(
  reader: Reader,
  { passes, from, limit, filters }: PageRequest,
  interrupted: InterruptedPages<Interruption>,
  { mustEnd = () => isTimeUp(reader), maxRows = scannedRows } = {},
): Promise<Part> {
  const { tenantId } = reader;
  const key = JSON.stringify([filters, from]);
  let { place, rows } = interrupted.find(tenantId, key) ?? { place: from, rows: maxRows };
  for (;;) {
    const part = await readPart(reader, passes, place, limit, rows).catch((error) => {
      if (isOverloaded(error)) interrupted.keep(tenantId, key, { place, rows: halfOf(rows) });
      throw error;
    });
    if (!part.next || part.findings.length > 0) {
      interrupted.forget(tenantId, key);
      return part;
    }
    place = part.next;
    interrupted.keep(tenantId, key, { place, rows });
    if (mustEnd()) throw new ApiError('overloaded');
  }
}
