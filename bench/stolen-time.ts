// Processor time that the host of a virtual machine gave to others while this machine wanted it. Linux counts it.
import { existsSync, openSync, readSync } from 'node:fs';

/** In which Linux counts processor time. */
export const tickMs = 10;

const file = '/proc/stat';
const statistics = existsSync(file) ? openSync(file, 'r') : undefined;
const firstLine = Buffer.alloc(256);

/** Of all processors since the machine was started; nothing is known of it elsewhere than on Linux. */
export function readProcessorTicks(): { all: number; stolen: number } {
  if (statistics === undefined) return { all: 0, stolen: 0 };
  const size = readSync(statistics, firstLine, 0, firstLine.length, 0);
  // User, nice, system, idle, waiting for a disk, interrupts, soft interrupts, stolen; what follows is part of the first two.
  const ticks = firstLine.toString('latin1', 0, size).split(/\s+/, 9).slice(1).map(Number);
  return { all: ticks.reduce((sum, count) => sum + count, 0), stolen: ticks[7]! };
}

/** The share of the processors' time that was stolen until it is stopped; undefined where nobody counts it. */
export function watchStolenTime(): { stop(): number | undefined } {
  const before = readProcessorTicks();
  return {
    stop() {
      const after = readProcessorTicks();
      const all = after.all - before.all;
      return all > 0 ? (after.stolen - before.stolen) / all : undefined;
    },
  };
}
