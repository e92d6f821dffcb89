// Results that must wait until all lines are known. Their file has no name, so the kernel removes it with the process.
// After the first rejected line only rejected ones are kept, and not all of them.
import { type FileHandle, lstat, mkdtemp, open, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { expected } from '../../telemetry/expected.ts';
import { maxChunkLines } from './lines.ts';
import type { LineResult } from './results.ts';

const maxFieldErrors = 10_000;
const maxRejectedBytes = 64 * 1024 * 1024;

/** The result of an accepted line is shorter than the line. The type is its place in a list. */
type Short = [line: number, outcome: number, id: unknown, type?: number, externalId?: unknown, more?: object];

const outcomes = ['created', 'replaced', 'unchanged', 'deleted'] as const;

function buildShortForm() {
  const types: unknown[] = [];

  function placeOf(type: unknown): number {
    if (!types.includes(type)) types.push(type);
    return types.indexOf(type);
  }

  return {
    shorten({ outcome, answer }: LineResult): Short {
      const { line, status: _status, id = null, type, externalId = null, ...more } = answer;
      const short: Short = [line, outcomes.indexOf(outcome as (typeof outcomes)[number]), id];
      const hasMore = Object.keys(more).length > 0;
      if (type !== undefined || hasMore) short.push(placeOf(type));
      if (externalId !== null || hasMore) short.push(externalId);
      if (hasMore) short.push(more);
      return short;
    },

    lengthen([line, outcome, id, type, externalId, more]: Short): LineResult {
      const name = type === undefined ? undefined : types[type];
      const named = { ...(name !== undefined && { type: name }), ...(externalId ? { externalId } : {}) };
      const answer = { line, status: outcome === 0 ? 201 : 200, ...named, ...(id ? { id } : {}), ...more };
      return { outcome: outcomes[outcome]!, answer: answer as LineResult['answer'] };
    },
  };
}

export function buildSpool() {
  const { shorten, lengthen } = buildShortForm();
  let file: FileHandle | undefined;
  let bytes = 0;
  let rejected = 0;
  let unlistedErrors = 0;

  async function append(records: readonly string[]): Promise<void> {
    if (records.length === 0) return;
    file ??= await openNamelessFile();
    await file.appendFile(records.join(''));
  }

  function toRecord(result: LineResult | Short): string {
    const record = `${JSON.stringify(result)}\n`;
    bytes += Buffer.byteLength(record);
    return record;
  }

  async function writeRejected(failed: readonly LineResult[]): Promise<void> {
    if (rejected === 0) {
      await file?.truncate();
      bytes = 0;
    }
    const kept: string[] = [];
    for (const result of failed) {
      rejected++;
      if (rejected <= maxFieldErrors && bytes < maxRejectedBytes) kept.push(toRecord(result));
      else unlistedErrors++;
    }
    await append(kept);
  }

  return {
    get unlistedErrors() {
      return unlistedErrors;
    },

    /** The length of the file. */
    get bytes() {
      return bytes;
    },

    async write(results: readonly LineResult[]): Promise<void> {
      const failed = results.filter(({ outcome }) => outcome === 'failed');
      if (failed.length > 0) await writeRejected(failed);
      else if (rejected === 0) await append(results.map((result) => toRecord(shorten(result))));
    },

    /** All results, or all rejected ones that were kept. */
    async *read(): AsyncGenerator<LineResult[]> {
      if (!file) return;
      let some: LineResult[] = [];
      const input = file.createReadStream({ start: 0, autoClose: false });
      for await (const text of createInterface({ input })) {
        const record = JSON.parse(text);
        some.push(Array.isArray(record) ? lengthen(record as Short) : record);
        if (some.length === maxChunkLines) {
          yield some;
          some = [];
        }
      }
      if (some.length > 0) yield some;
    },

    async close(): Promise<void> {
      await file?.close();
    },
  };
}

const folderName = 'stamm-import-';

async function openNamelessFile(): Promise<FileHandle> {
  const folder = await mkdtemp(path.join(tmpdir(), folderName));
  try {
    return await open(path.join(folder, 'results.ndjson'), 'ax+', 0o600);
  } finally {
    await rm(folder, { recursive: true });
  }
}

const staleAfterMs = 3_600_000;

/**
 * A process that was killed between two lines above leaves an empty folder; older versions left their results. Another
 * process may still use a young one. Only our own are touched, and in a folder of ours nobody else can plant a link.
 */
export async function removeStaleSpools(): Promise<void> {
  const names = await readdir(tmpdir()).catch(() => []);
  const folders = names
    .filter((name) => /^stamm-import-\w{6}$/.test(name))
    .map((name) => path.join(tmpdir(), name));
  await Promise.all(folders.map((folder) => removeIfStale(folder).catch(expected)));
}

async function removeIfStale(folder: string): Promise<void> {
  const contents = await readdir(folder);
  const paths = [folder, ...contents.map((name) => path.join(folder, name))];
  const found = await Promise.all(paths.map((name) => lstat(name)));
  const isOurs = found[0]!.isDirectory() && found[0]!.uid === process.getuid?.();
  const isStale = found.every(({ mtimeMs }) => Date.now() - mtimeMs > staleAfterMs);
  if (isOurs && isStale) await rm(folder, { recursive: true });
}
