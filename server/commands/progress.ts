// How far an import is: a bar that is drawn over where somebody watches, otherwise a line now and then.
import type { WriteStream } from 'node:tty';

export interface Progress {
  noteBytes(bytes: number): void;
  noteRows(rows: number, rejected: number): void;
  end(): void;
}

const barWidth = 24;
const terminalIntervalMs = 200;
const logIntervalMs = 5000;

export function startProgress(output: WriteStream | NodeJS.WriteStream, totalBytes: number): Progress {
  const began = performance.now();
  let bytes = 0;
  let rows = 0;
  let rejected = 0;

  function describe(): string {
    const seconds = (performance.now() - began) / 1000;
    const share = totalBytes === 0 ? 1 : Math.min(1, bytes / totalBytes);
    const remaining = share > 0 && share < 1 ? `${toClock((seconds / share) * (1 - share))} left` : '';
    const rate = `${Math.round(rows / Math.max(seconds, 0.001)).toLocaleString('en')}/s`;
    const line = `${rows.toLocaleString('en')} rows  ${rate}  ${rejected.toLocaleString('en')} rejected`;
    return [`${Math.floor(share * 100)} %`.padStart(5), line, remaining].filter(Boolean).join('  ');
  }

  function draw(): void {
    const filled =
      totalBytes === 0 ? barWidth : Math.round((Math.min(bytes, totalBytes) / totalBytes) * barWidth);
    output.write(`\r\x1b[K[${'='.repeat(filled)}${' '.repeat(barWidth - filled)}] ${describe()}`);
  }

  const isWatched = output.isTTY === true;
  const timer = isWatched
    ? setInterval(draw, terminalIntervalMs)
    : setInterval(() => output.write(`${describe()}\n`), logIntervalMs);
  return {
    noteBytes: (read) => {
      bytes = read;
    },
    noteRows: (moreRows, moreRejected) => {
      rows += moreRows;
      rejected += moreRejected;
    },
    end: () => {
      clearInterval(timer);
      if (!isWatched) return;
      draw();
      output.write('\n');
    },
  };
}

function toClock(seconds: number): string {
  const whole = Math.ceil(seconds);
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, '0')}`;
}
