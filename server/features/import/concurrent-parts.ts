// Parts of an import that do not concern each other are written at the same time. The order of lines keeps its meaning: a
// part begins only when the one before it is decided, and if it names nothing of it. It is stored after the one before it.
import { setTimeout as sleep } from 'node:timers/promises';
import { keyOf } from '../../engine/write/resource.ts';
import type { Footprint } from '../../engine/write/write.ts';
import { expected } from '../../telemetry/expected.ts';
import type { CheckedLine, RejectedLine } from './line-check.ts';

/** A part beside the one before it. */
export interface Turn {
  onDecided(footprint: Footprint): void;
  /** Whether the part before it is stored, and this one can be. If not, it has to be taken back. */
  isNext(): Promise<boolean>;
  /** Waits for the end of the part before it. What stands on this part is taken back. */
  fail(): Promise<void>;
}

/** The part before it may wait for a lock of this one. */
const longestWaitMs = 1000;

interface Part {
  checked: CheckedLine | RejectedLine;
}

interface Running<Result> {
  result: Promise<Result>;
  /** Undefined if it ends before it is decided. */
  footprint: Promise<Footprint | undefined>;
  /** False as soon as it fails for the first time. */
  isStored: Promise<boolean>;
}

/**
 * Yields the results in the order of the parts, each without waiting for more input. Once `isOver`, no part begins. Those
 * under way still have a result, because they may be stored.
 */
export async function* writePartsConcurrently<Chunk extends readonly Part[], Result>(
  input: AsyncIterable<Chunk>,
  most: number,
  write: (chunk: Chunk, turn: Turn) => Promise<Result>,
  isOver: () => boolean,
): AsyncGenerator<Result> {
  const running: Running<Result>[] = [];
  const iterator = input[Symbol.asyncIterator]();
  const read = () => {
    const next = iterator.next();
    // The next `await` reports a failure. Without this it would also count as unhandled.
    next.catch(expected);
    return next;
  };
  try {
    let next: Promise<IteratorResult<Chunk>> | undefined = read();
    while ((next && !isOver()) || running.length > 0) {
      const oldest = running[0]?.result.then(() => 'written' as const);
      const arrived: Promise<IteratorResult<Chunk>> | undefined =
        running.length < most && !isOver() ? next : undefined;
      const event: IteratorResult<Chunk> | 'written' = await Promise.race(
        [arrived, oldest].filter((promise) => promise !== undefined),
      );
      if (event === 'written') {
        yield await running.shift()!.result;
        continue;
      }
      next = event.done ? undefined : read();
      if (event.done) continue;
      while (running[0] && concerns(event.value, await running[0].footprint))
        yield await running.shift()!.result;
      if (!isOver()) running.push(begin(event.value, write, running.at(-1)));
    }
  } finally {
    // What has begun ends before the connections do.
    await Promise.allSettled(running.map(({ result }) => result));
    // Not awaited: it may be waiting for input that never comes.
    void iterator.return?.().catch(expected);
  }
}

function begin<Chunk extends readonly Part[], Result>(
  chunk: Chunk,
  write: (chunk: Chunk, turn: Turn) => Promise<Result>,
  before: Running<Result> | undefined,
): Running<Result> {
  const footprint = Promise.withResolvers<Footprint | undefined>();
  const isStored = Promise.withResolvers<boolean>();
  const turn: Turn = {
    onDecided: footprint.resolve,
    isNext: async () =>
      !before || Promise.race([before.isStored, sleep(longestWaitMs, false, { ref: false })]),
    async fail() {
      isStored.resolve(false);
      await before?.result;
    },
  };
  const result = write(chunk, turn).finally(() => {
    footprint.resolve(undefined);
    isStored.resolve(true);
  });
  return { result, footprint: footprint.promise, isStored: isStored.promise };
}

function concerns(chunk: readonly Part[], footprint: Footprint | undefined): boolean {
  if (!footprint || footprint.hasDeletion) return true;
  return chunk.some(({ checked: line }) => {
    if ('error' in line) return false;
    const { definition, references, uniqueColumns } = line.resource;
    const { row } = line.checked;
    const isTouched = (resource: string, column: string, value: unknown) =>
      value !== undefined && footprint.keys.has(keyOf(resource, column, String(value)));
    return (
      line.action === 'delete' ||
      footprint.freed.has(definition.name) ||
      isTouched(definition.name, 'id', row.id) ||
      uniqueColumns.some(({ name }) => isTouched(definition.name, name, row[name])) ||
      references.some(({ isOwner, resources, externalColumn }) =>
        resources.some(
          (resource) =>
            (!isOwner && footprint.named.has(resource)) ||
            isTouched(resource, 'external_id', row[externalColumn]),
        ),
      )
    );
  });
}
