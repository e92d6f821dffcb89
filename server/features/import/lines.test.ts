import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import fc from 'fast-check';
import { type Line, readLines } from './lines.ts';

const maxLineBytes = 20;

async function read(pieces: readonly string[]): Promise<[number: number, text: string | undefined][]> {
  const lines: Line[] = [];
  const input = Readable.from(pieces.map((piece) => Buffer.from(piece)));
  for await (const chunk of readLines(input, maxLineBytes)) lines.push(...chunk);
  return lines.map(({ number, bytes }) => [number, bytes?.toString()]);
}

test('blank lines count and are left out, with any cuts of the text into pieces', async () => {
  const line = fc.constantFrom('', ' ', '\r', ' \t', '{}', ' {} ', 'x'.repeat(21), ' '.repeat(21), '\t{}\r');
  const cuts = fc.array(fc.nat({ max: 100 }), { maxLength: 5 });
  const property = fc.asyncProperty(fc.array(line, { maxLength: 12 }), cuts, async (lines, places) => {
    const text = lines.join('\n');
    const edges = [0, ...places.toSorted((one, other) => one - other), text.length];
    const pieces = edges.slice(1).map((edge, index) => text.slice(edges[index], edge));
    const expected = lines.flatMap((own, index): [number: number, text: string | undefined][] => {
      if (own.length > maxLineBytes) return [[index + 1, undefined]];
      return own.trim() === '' ? [] : [[index + 1, own]];
    });
    assert.deepEqual(await read(pieces.filter((piece) => piece !== '')), expected);
  });
  await fc.assert(property);
});

test('a mark before the first line is no part of it', async () => {
  assert.deepEqual(await read(['\ufeff{}\n', '{}']), [
    [1, '{}'],
    [2, '{}'],
  ]);
});

test('a million blank lines make no buffer each', async ({ mock }) => {
  const cutting = mock.method(Buffer.prototype, 'subarray');
  const piece = '\n\r\n \n'.repeat(10_000);
  const lines = await read([...Array.from({ length: 40 }, () => piece), '{}']);
  assert.deepEqual(lines, [[1_200_001, '{}']]);
  assert.ok(cutting.mock.callCount() < 100, `${cutting.mock.callCount()} buffers`);
});
