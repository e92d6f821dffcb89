// How many entries there are of each kind, as far as there is time.
import type { Pass } from './attention-passes.ts';
import { type Part, type Place, type Reader, readPart } from './attention-scan.ts';

export interface AttentionCount {
  resource: string;
  code: string;
  count: number;
}

export async function countFrom(
  reader: Reader,
  passes: readonly Pass[],
  from: Place,
  mustEnd: () => boolean,
  maxRows?: number,
): Promise<{ counts: AttentionCount[]; next: Place | undefined }> {
  const counts = new Map<string, AttentionCount>();
  let place: Place | undefined = from;
  do {
    const part: Part = await readPart(reader, passes, place, undefined, maxRows);
    for (const { check } of part.findings) {
      const { resource, code } = check;
      counts.getOrInsertComputed(`${resource} ${code}`, () => ({ resource, code, count: 0 })).count++;
    }
    place = part.next;
  } while (place && !mustEnd());
  return { counts: [...counts.values()], next: place };
}
