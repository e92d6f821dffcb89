// Lines whose owner has not been seen yet. Each is tried again beside a line that may bring its owner, and at the end of the
// input: the order of lines does not matter. There is room for so many; what comes beyond has to come after its owner.
import type { Outcome } from '../../engine/write/intent.ts';
import type { WrittenResource } from '../../engine/write/resource.ts';
import type { CheckedLine } from './line-check.ts';
import { type Line, maxChunkLines } from './lines.ts';
import type { LineResult } from './results.ts';

const maxLines = 10_000;
const maxBytes = 32 * 1024 * 1024;

/** A line that waits, or its result, which is answered at the end. */
interface Kept {
  line: Line & { bytes: Buffer };
  result?: LineResult;
}

export function keepLinesWithoutOwner(resources: readonly WrittenResource[]) {
  const kept = new Map<WrittenResource, Set<Kept>>();
  const waiting = new Map<string, Set<Kept>>();
  let count = 0;
  let bytes = 0;

  return {
    /** Keeps a line, unless there is no room. */
    add(checked: CheckedLine): boolean {
      const { line, resource } = checked;
      if (count >= maxLines || bytes + line.bytes.length > maxBytes) return false;
      count++;
      bytes += line.bytes.length;
      // A copy, because the bytes of a line keep everything in memory that arrived together with it.
      const one: Kept = { line: { ...line, bytes: Buffer.from(line.bytes) } };
      kept.getOrInsertComputed(resource, () => new Set()).add(one);
      for (const name of ownersOf(checked)) waiting.getOrInsertComputed(name, () => new Set()).add(one);
      return true;
    },

    /** The lines whose owners these lines may bring, in their order. */
    awaiting(lines: readonly CheckedLine[]): Kept[] {
      const found = new Set<Kept>();
      if (waiting.size === 0) return [];
      for (const name of lines.flatMap(broughtBy)) for (const one of waiting.get(name) ?? []) found.add(one);
      return [...found]
        .filter(({ result }) => !result)
        .sort((one, other) => one.line.number - other.line.number);
    },

    /** All that was kept, owners first, in chunks. */
    *take(): Generator<Kept[]> {
      const all = resources.flatMap((resource) => [...(kept.get(resource) ?? [])]);
      for (let start = 0; start < all.length; start += maxChunkLines) {
        yield all.slice(start, start + maxChunkLines);
      }
    },
  };
}

/** The lines of `waiting` whose owners `lines` may bring. */
export function wokenBy(lines: readonly CheckedLine[], waiting: readonly CheckedLine[]): CheckedLine[] {
  const brought = new Set(waiting.length > 0 ? lines.flatMap(broughtBy) : []);
  return waiting.filter((one) => ownersOf(one).some((name) => brought.has(name)));
}

function ownersOf({ resource, checked }: CheckedLine): string[] {
  return resource.owners.flatMap(({ resource: owner, externalColumn }) => {
    const externalId = checked.row[externalColumn];
    return externalId === undefined ? [] : [`${owner} ${externalId}`];
  });
}

function broughtBy({ action, resource, checked }: CheckedLine): string[] {
  const { external_id: externalId } = checked.row;
  return action === 'delete' || externalId === undefined ? [] : [`${resource.definition.name} ${externalId}`];
}

/** Whether a line can become right by another one that brings its owner. */
export function isOwnerMissing({ resource }: CheckedLine, outcome: Outcome): boolean {
  if (!('fieldErrors' in outcome)) return false;
  return outcome.fieldErrors.some(
    ({ code, path }) =>
      code === 'reference_not_found' && resource.owners.some(({ externalName }) => externalName === path[0]),
  );
}
