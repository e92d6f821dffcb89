import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findEncoding, readRows } from './csv-file.ts';

/** Yields the bytes one by one, which cuts every character and line break in two. */
async function* singly(bytes: Uint8Array): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  for (const byte of bytes) yield new Uint8Array([byte]);
}

async function* together(bytes: Uint8Array): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  yield new Uint8Array(bytes);
}

const text = '\ufeffStraße;Ort\r\n"Weg 1\r\nHof";Köln\r\n';

test('the encoding is found by the bytes', async () => {
  assert.equal(await findEncoding(together(Buffer.from(text))), 'utf-8');
  assert.equal(await findEncoding(singly(Buffer.from(text))), 'utf-8');
  assert.equal(await findEncoding(together(Buffer.from(text, 'utf16le'))), 'utf-16le');
  assert.equal(await findEncoding(together(Buffer.from('Straße', 'latin1'))), 'windows-1252');
  assert.equal(
    await findEncoding(singly(Buffer.from('Stra\u00df', 'latin1'))),
    'windows-1252',
    'cut at the end',
  );
  assert.equal(await findEncoding(together(new Uint8Array())), 'utf-8');
});

test('rows are numbered as a spreadsheet does, in each encoding and however the bytes arrive', async () => {
  const expected = [
    { number: 1, cells: ['Straße', 'Ort'] },
    { number: 2, cells: ['Weg 1\r\nHof', 'Köln'] },
  ];
  for (const [bytes, encoding] of [
    [Buffer.from(text), 'utf-8'],
    [Buffer.from(text, 'utf16le'), 'utf-16le'],
    [Buffer.from(text, 'utf16le').swap16(), 'utf-16be'],
    [Buffer.from(text.slice(1), 'latin1'), 'windows-1252'],
  ] as const) {
    for (const pieces of [singly, together]) {
      const rows = await Array.fromAsync(readRows(pieces(bytes), { encoding, separator: ';' }));
      assert.deepEqual(rows.flat(), expected, encoding);
    }
  }
});
