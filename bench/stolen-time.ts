// Processor time that the host of a virtual machine gave to others. Linux counts it.
import { existsSync, readFileSync } from 'node:fs';

const file = '/proc/stat';

/** Since boot, over all processors; zero where the system does not count it. */
export function readProcessorTicks(): { all: number; stolen: number } {
  if (!existsSync(file)) return { all: 0, stolen: 0 };
  // User, nice, system, idle, disk wait, interrupts, soft interrupts, stolen; later columns are part of the first two.
  const ticks = readFileSync(file, 'latin1').split(/\s+/, 9).slice(1).map(Number);
  return { all: ticks.reduce((sum, count) => sum + count, 0), stolen: ticks[7]! };
}

/** Returns a function that tells the share stolen since now; undefined where nobody counts it. */
export function watchStolenTime(): () => number | undefined {
  const before = readProcessorTicks();
  return () => {
    const now = readProcessorTicks();
    const all = now.all - before.all;
    return all > 0 ? (now.stolen - before.stolen) / all : undefined;
  };
}
