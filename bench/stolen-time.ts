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

export interface StolenTimeWatch {
  /** What the host does while `work` lasts does not count. */
  leaveOut(work: () => Promise<void>): Promise<void>;
  /** The share of the processors' time that was stolen; undefined where nobody counts it. */
  stop(): number | undefined;
}

export function watchStolenTime(read = readProcessorTicks): StolenTimeWatch {
  const from = read();
  return {
    async leaveOut(work) {
      const before = read();
      await work();
      const after = read();
      from.all += after.all - before.all;
      from.stolen += after.stolen - before.stolen;
    },
    stop() {
      const now = read();
      const all = now.all - from.all;
      return all > 0 ? (now.stolen - from.stolen) / all : undefined;
    },
  };
}
