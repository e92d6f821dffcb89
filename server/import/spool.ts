// Results that cannot be answered before all lines are known: kept in a file, since there may be any number of them.
import { createReadStream } from 'node:fs';
import { mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { maxChunkLines } from './lines.ts';
import type { LineResult } from './results.ts';

export async function openSpool() {
  const folder = await mkdtemp(path.join(tmpdir(), 'stamm-import-'));
  const name = path.join(folder, 'results.ndjson');
  const file = await open(name, 'w', 0o600);
  return {
    async write(results: readonly LineResult[]): Promise<void> {
      await file.write(results.map((result) => `${JSON.stringify(result)}\n`).join(''));
    },

    async *read(): AsyncGenerator<LineResult[]> {
      let some: LineResult[] = [];
      for await (const line of createInterface({ input: createReadStream(name) })) {
        some.push(JSON.parse(line));
        if (some.length === maxChunkLines) {
          yield some;
          some = [];
        }
      }
      if (some.length > 0) yield some;
    },

    async close(): Promise<void> {
      await file.close();
      await rm(folder, { recursive: true });
    },
  };
}
