// The lines of an import until it has to end: nobody waits for a line that may never come.

import { expected } from '../../../telemetry/expected.ts';
import type { Line } from '../lines.ts';

interface Taking {
  signal: AbortSignal;
  idleMs: number;
  /** Called when no complete line has come for `idleMs`. */
  onIdle(): void;
  onLines(count: number): void;
}

/** Counts only the time in which lines are wanted: a busy service must not end an import whose lines wait. */
export async function* takeLines(
  input: AsyncIterable<Line[]>,
  { signal, idleMs, onIdle, onLines }: Taking,
): AsyncGenerator<Line[]> {
  const iterator = input[Symbol.asyncIterator]();

  // Not Promise.race() with the signal: it would keep every chunk until the end of the import.
  function nextOrEnd(): Promise<IteratorResult<Line[]> | undefined> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(onIdle, idleMs);
      const settle = () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', settle);
        resolve(undefined);
      };
      signal.addEventListener('abort', settle);
      iterator.next().then(resolve, reject).finally(settle);
    });
  }

  try {
    while (!signal.aborted) {
      const next = await nextOrEnd();
      if (!next || next.done) return;
      onLines(next.value.length);
      yield next.value;
    }
  } finally {
    // Not awaited: it may be waiting for input that never comes.
    void iterator.return?.()?.catch(expected);
  }
}
