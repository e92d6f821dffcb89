// A tar archive (POSIX ustar) of text files, without times and owners.

const blockBytes = 512;

export function writeTar(files: Iterable<readonly [name: string, content: string]>): Buffer {
  const parts: Buffer[] = [];
  for (const [name, text] of files) {
    const content = Buffer.from(text);
    const padding = Buffer.alloc((blockBytes - (content.length % blockBytes)) % blockBytes);
    // What begins with #! is a program.
    const mode = text.startsWith('#!') ? 0o755 : 0o644;
    parts.push(header(name, content.length, mode), content, padding);
  }
  return Buffer.concat([...parts, Buffer.alloc(2 * blockBytes)]);
}

function header(name: string, size: number, mode: number): Buffer {
  const block = Buffer.alloc(blockBytes);
  const octal = (value: number, length: number) => `${value.toString(8).padStart(length - 1, '0')}\0`;
  if (Buffer.byteLength(name) > 100) throw new Error(`The name is too long for this archive: ${name}`);
  block.write(name, 0);
  block.write(octal(mode, 8), 100);
  block.write(octal(0, 8), 108);
  block.write(octal(0, 8), 116);
  block.write(octal(size, 12), 124);
  block.write(octal(0, 12), 136);
  // The checksum counts its own field as spaces.
  block.write(' '.repeat(8), 148);
  block.write('0', 156);
  block.write('ustar\x0000', 257);
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return block;
}
