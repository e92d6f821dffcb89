// Results that must wait until all lines are known. Their file loses its name before anything is in it, so the kernel
// removes it with the process. After the first rejected line only rejected ones are kept, and not all of them.
import { randomUUID } from 'node:crypto';
import { type FileHandle, open, unlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { readLines } from '../lines.ts';
import type { LineResult } from '../results.ts';

const maxRejected = 10_000;
const maxRejectedBytes = 64 * 1024 * 1024;

export function buildSpool() {
  let file: FileHandle | undefined;
  let rejected = 0;
  let rejectedBytes = 0;
  let unlistedErrors = 0;

  async function append(records: readonly string[]): Promise<void> {
    if (records.length === 0) return;
    file ??= await openNamelessFile();
    await file.appendFile(records.join(''));
  }

  async function appendRejected(results: readonly LineResult[]): Promise<void> {
    if (rejected === 0) await file?.truncate();
    const kept: string[] = [];
    for (const result of results) {
      rejected++;
      if (rejected > maxRejected || rejectedBytes >= maxRejectedBytes) {
        unlistedErrors++;
        continue;
      }
      const record = toRecord(result);
      rejectedBytes += Buffer.byteLength(record);
      kept.push(record);
    }
    await append(kept);
  }

  return {
    get unlistedErrors() {
      return unlistedErrors;
    },

    async write(results: readonly LineResult[]): Promise<void> {
      const failed = results.filter(({ outcome }) => outcome === 'failed');
      if (failed.length > 0) await appendRejected(failed);
      else if (rejected === 0) await append(results.map(toRecord));
    },

    /** All results, or all rejected ones that were kept. */
    async *read(): AsyncGenerator<LineResult[]> {
      if (!file) return;
      const input = file.createReadStream({ start: 0, autoClose: false });
      for await (const lines of readLines(input, Number.POSITIVE_INFINITY))
        yield lines.map(({ bytes }) => JSON.parse(bytes!.toString()));
    },

    async close(): Promise<void> {
      await file?.close();
    },
  };
}

function toRecord(result: LineResult): string {
  return `${JSON.stringify(result)}\n`;
}

async function openNamelessFile(): Promise<FileHandle> {
  const name = path.join(tmpdir(), `stamm-import-${randomUUID()}`);
  const file = await open(name, 'ax+', 0o600);
  await unlink(name);
  return file;
}
