// A page of the attention list. Only the last page is empty: out of time with nothing found is an error to retry.
import { ApiError } from '../../errors.ts';
import type { InterruptedPages } from '../../http/interrupted-pages.ts';
import type { Pass } from './attention-passes.ts';
import { isTimeUp, type Part, type Place, type Reader, readPart } from './attention-scan.ts';

export interface PageRequest {
  limit: number;
  passes: readonly Pass[];
  from: Place;
  /** The filters as one text. */
  filters: string;
}

/** One statement fills the page, except in a large business where most rows need no attention. */
export async function readPage(
  reader: Reader,
  { passes, from, limit, filters }: PageRequest,
  interrupted: InterruptedPages<Place>,
  { mustEnd = () => isTimeUp(reader), maxRows }: { mustEnd?: () => boolean; maxRows?: number } = {},
): Promise<Part> {
  const { tenantId } = reader;
  const key = JSON.stringify([filters, from]);
  for (let place = interrupted.find(tenantId, key) ?? from; ; ) {
    const part = await readPart(reader, passes, place, limit, maxRows);
    if (!part.next || part.findings.length > 0) {
      interrupted.forget(tenantId, key);
      return part;
    }
    place = part.next;
    interrupted.keep(tenantId, key, place);
    if (mustEnd()) throw new ApiError('overloaded');
  }
}
