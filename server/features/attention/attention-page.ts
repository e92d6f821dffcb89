// A page of the attention list. Only the last page is empty: out of time with nothing found is an error to retry.
import { ApiError } from '../../errors.ts';
import type { Pass } from './attention-passes.ts';
import { type Part, type Place, type Reader, readPart } from './attention-scan.ts';

/** A statement and its answer take less. */
const reserveMs = 900;

export function isTimeUp({ deadline }: Reader): boolean {
  return performance.now() > deadline - reserveMs;
}

export interface PageRequest {
  limit: number;
  passes: readonly Pass[];
  from: Place;
  /** The filters as one text. */
  filters: string;
}

const keptMs = 60_000;
const maxKept = 1000;

/** Where pages went out of time, so that a retry goes on there and a clean business of any size has an end. */
export class InterruptedPages {
  readonly #places = new Map<string, { place: Place; until: number }>();

  find(key: string): Place | undefined {
    const kept = this.#places.get(key);
    return kept && kept.until > performance.now() ? kept.place : undefined;
  }

  keep(key: string, place: Place): void {
    if (this.#places.size >= maxKept) this.#places.clear();
    this.#places.set(key, { place, until: performance.now() + keptMs });
  }

  forget(key: string): void {
    this.#places.delete(key);
  }
}

/** One statement fills the page, except in a large business where most rows need no attention. */
export async function readPage(
  reader: Reader,
  { passes, from, limit, filters }: PageRequest,
  interrupted: InterruptedPages,
  { mustEnd = () => isTimeUp(reader), maxRows }: { mustEnd?: () => boolean; maxRows?: number } = {},
): Promise<Part> {
  const key = JSON.stringify([reader.tenantId, filters, from]);
  for (let place = interrupted.find(key) ?? from; ; ) {
    const part = await readPart(reader, passes, place, limit, maxRows);
    if (!part.next || part.findings.length > 0) {
      interrupted.forget(key);
      return part;
    }
    place = part.next;
    if (!mustEnd()) continue;
    interrupted.keep(key, place);
    throw new ApiError('overloaded');
  }
}
