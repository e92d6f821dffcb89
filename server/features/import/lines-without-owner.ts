// Lines whose owner has not been seen yet. They are tried again at the end of the input: the order of lines does not
// matter. There is room for so many; what comes beyond has to come after its owner.
import type { CheckedLine, ImportedResource } from './line-check.ts';
import type { LineOutcome } from './line-outcomes.ts';
import { type Line, maxChunkLines } from './lines.ts';

const maxLines = 10_000;
const maxBytes = 32 * 1024 * 1024;

export function keepLinesWithoutOwner(resources: readonly ImportedResource[]) {
  const lines = new Map<ImportedResource, Line[]>();
  let count = 0;
  let bytes = 0;

  return {
    /** Keeps a line, unless there is no room. */
    add({ line, resource }: CheckedLine): boolean {
      if (count >= maxLines || bytes + line.bytes.length > maxBytes) return false;
      count++;
      bytes += line.bytes.length;
      // A copy, because the bytes of a line keep everything in memory that arrived together with it.
      lines.getOrInsertComputed(resource, () => []).push({ ...line, bytes: Buffer.from(line.bytes) });
      return true;
    },

    /** All that was kept, owners first, in chunks. */
    *take(): Generator<Line[]> {
      const all = resources.flatMap((resource) => lines.get(resource) ?? []);
      for (let start = 0; start < all.length; start += maxChunkLines) {
        yield all.slice(start, start + maxChunkLines);
      }
    },
  };
}

/** Whether a line can become right by another one that brings its owner. */
export function isOwnerMissing({ resource }: CheckedLine, outcome: LineOutcome): boolean {
  if (!('fieldErrors' in outcome)) return false;
  return outcome.fieldErrors.some(
    ({ code, path }) =>
      code === 'reference_not_found' && resource.owners.some(({ externalName }) => externalName === path[0]),
  );
}
