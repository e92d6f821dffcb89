// Chunks of an import that do not concern each other are written in parallel. The next is checked meanwhile. A chunk
// that names an object of an earlier chunk waits for it: the order of lines keeps its meaning.
import type { CheckedLine, RejectedLine } from './line-check.ts';
import type { Line } from './lines.ts';

interface Names {
  /** What only one object may be called, of those that the chunk brings. */
  brought: Set<string>;
  /** The same, and what it calls other objects. */
  named: string[];
  /** A deletion may concern any object. */
  hasDeletion: boolean;
}

interface Chunk<Result> extends Names {
  write(): Promise<Result>;
}

/**
 * Yields the results in the order of the chunks, each without waiting for more input. Once `isOver`, no chunk begins. Those
 * under way still have a result, because they may be stored.
 */
export async function* writeInParallel<Result>(
  input: AsyncIterable<Line[]>,
  lanes: number,
  prepare: (lines: Line[]) => Chunk<Result>,
  isOver: () => boolean,
): AsyncGenerator<Result> {
  const running: { chunk: Chunk<Result>; result: Promise<Result> }[] = [];
  const iterator = input[Symbol.asyncIterator]();
  try {
    let next: Promise<IteratorResult<Line[]>> | undefined = iterator.next();
    while ((next && !isOver()) || running.length > 0) {
      const oldest = running[0]?.result.then(() => 'written' as const);
      const arrived: Promise<IteratorResult<Line[]>> | undefined =
        running.length < lanes && !isOver() ? next : undefined;
      const event: IteratorResult<Line[]> | 'written' = await Promise.race(
        [arrived, oldest].filter((promise) => promise !== undefined),
      );
      if (event === 'written') {
        yield await running.shift()!.result;
        continue;
      }
      next = event.done ? undefined : iterator.next();
      // The next `await` reports a failure. Without this it would also count as unhandled.
      next?.catch(() => {});
      if (event.done) continue;
      const chunk = prepare(event.value);
      while (running.some((before) => concerns(chunk, before.chunk))) yield await running.shift()!.result;
      if (!isOver()) running.push({ chunk, result: chunk.write() });
    }
  } finally {
    // What has begun ends before the connections do.
    await Promise.allSettled(running.map(({ result }) => result));
    // Not awaited: it may be waiting for input that never comes.
    void iterator.return?.().catch(() => {});
  }
}

function concerns(chunk: Names, before: Names): boolean {
  if (chunk.hasDeletion || before.hasDeletion) return true;
  return chunk.named.some((name) => before.brought.has(name));
}

/** What the sound lines of a chunk are called, and what they call others. */
export function namesIn(lines: readonly (CheckedLine | RejectedLine)[]): Names {
  const names: Names = { brought: new Set(), named: [], hasDeletion: false };
  for (const line of lines) {
    if ('error' in line) continue;
    names.hasDeletion ||= line.action === 'delete';
    const { row } = line.checked;
    const { definition, uniqueColumns, references } = line.resource;
    for (const column of uniqueColumns) {
      if (row[column] !== undefined) names.brought.add(`${definition.name} ${column} ${row[column]}`);
    }
    for (const { externalColumn, resources } of references) {
      if (row[externalColumn] === undefined) continue;
      for (const resource of resources) names.named.push(`${resource} external_id ${row[externalColumn]}`);
    }
  }
  names.named.push(...names.brought);
  return names;
}
