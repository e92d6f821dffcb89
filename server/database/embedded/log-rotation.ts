// Keeps postgres.log short while the server runs. The server holds the file open, so its content moves, not the file.
// The server goes on at the new end.
import {
  closeSync,
  constants,
  fstatSync,
  ftruncateSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';

const largestLogBytes = 10 * 1024 * 1024;
const keptLogs = 5;
const checkIntervalMs = 60_000;

/** Keeps the end of a log that grew beyond the bound meanwhile. Synchronous: fewer lines are lost between copy and cut. */
export function rotateLog(logFile: string, largestBytes = largestLogBytes): boolean {
  const size = statSync(logFile, { throwIfNoEntry: false })?.size ?? 0;
  if (size <= largestBytes) return false;
  const draft = `${logFile}.new`;
  rmSync(draft, { force: true });
  // Root may do this in a folder of another account, so it must not follow links.
  const log = openSync(logFile, constants.O_RDWR | constants.O_NOFOLLOW);
  try {
    writeFileSync(draft, readEnd(log, largestLogBytes), { flag: 'wx', mode: 0o600 });
    ftruncateSync(log);
  } finally {
    closeSync(log);
  }
  for (let number = keptLogs - 1; number >= 1; number--) {
    const older = `${logFile}.${number}`;
    if (statSync(older, { throwIfNoEntry: false })) renameSync(older, `${logFile}.${number + 1}`);
  }
  renameSync(draft, `${logFile}.1`);
  return true;
}

function readEnd(file: number, mostBytes: number): Buffer {
  const { size } = fstatSync(file);
  const bytes = Buffer.alloc(Math.min(size, mostBytes));
  return bytes.subarray(0, readSync(file, bytes, 0, bytes.length, size - bytes.length));
}

/** Returns a function that stops it. */
export function startLogRotation(logFile: string, onError: (error: Error) => void): () => void {
  const timer = setInterval(() => {
    try {
      rotateLog(logFile);
    } catch (error) {
      onError(error as Error);
    }
  }, checkIntervalMs).unref();
  return () => clearInterval(timer);
}
