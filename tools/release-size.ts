// What a release leaves out of the packages that it brings: more than half of their bytes are never read.
import { execFile } from 'node:child_process';
import { globSync, lstatSync } from 'node:fs';
import { readFile, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Files that only compilers, type checkers, bundlers and readers of sources need. */
const forDevelopment = [
  /\.(ts|[cm]ts|map|a|flow|tsbuildinfo)$/,
  /\/(pgxs|pkgconfig|include|test|tests|benchmarks?|docs|examples?|\.github|node_modules\/\.[^/]+)$/,
  /\/@zxcvbn-ts\/[^/]+\/(src|dist\/(.+\.mjs|.+\.esm\.js|zxcvbn-ts(\.min)?\.js))$/,
  /\/@opentelemetry\/(?!api\/).+\.cjs$/,
  /\/@opentelemetry\/semantic-conventions\/dist\/(experimental_|index-incubating)/,
  /\/(fflate\/umd|yaml\/browser|tsyringe\/dist\/esm\w+|@simplewebauthn\/server\/script)$/,
  /\/read-excel-file\/(browser|bundle|commonjs|web-worker)$/,
  /\/@peculiar\/x509\/build\/x509(\.es)?\.js$/,
];

/** PostgreSQL's extensions and libraries, but for those that Stamm's database and an operator's look at it need. */
const unusedInPostgres = [
  /\/native\/lib\/lib(ecpg|pgtypes|ossp-uuid|xslt)/,
  /\/native\/lib\/postgresql\/(?!plpgsql|pg_trgm|pg_stat_statements|dict_snowball|libpqwalreceiver|pgoutput|\w+_and_)[^/]+\.(so|dylib)$/,
  /\/native\/share\/postgresql\/extension\/(?!plpgsql|pg_trgm|pg_stat_statements)[^/]+$/,
];

export function isNeeded(file: string): boolean {
  return ![...forDevelopment, ...unusedInPostgres].some((pattern) => pattern.test(file));
}

/** Removes Node's symbols. GNU's strip knows its own processor only, LLVM's knows all. macOS would reject the result. */
export async function stripSymbols(node: string, platform: string): Promise<void> {
  if (!platform.startsWith('linux-')) return;
  for (const program of ['strip', 'llvm-strip']) {
    try {
      await run(program, [node]);
      return;
    } catch {
      // The next one, or the notice below.
    }
  }
  const { size } = await stat(node);
  process.stderr.write(
    `Node keeps its symbols (${Math.round(size / 1e6)} MB): neither strip nor llvm-strip works on it.\n`,
  );
}

/** Of ICU's data PostgreSQL only opens the root collation, when it sets up a cluster. Stamm sorts by bytes. */
const keptOfIcu = /\/coll\/(root\.res|ucadata\.icu)$/;

export async function shrinkIcuData(postgres: string): Promise<void> {
  for (const name of globSync('native/lib/libicudata.so.*', { cwd: postgres })) {
    const file = path.join(postgres, name);
    if (!lstatSync(file).isSymbolicLink()) await writeFile(file, withoutLanguages(await readFile(file)));
  }
}

// The largest page of Linux on arm64.
const page = 0x1_0000;
const loaded = 1;

/** An ELF library with a shorter table of ICU data at the same address. What follows moves in the file, not in memory. */
function withoutLanguages(library: Buffer): Buffer {
  const read = (at: number) => Number(library.readBigUInt64LE(at));
  const headers = Array.from(
    { length: library.readUInt16LE(0x38) },
    (_, index) => read(0x20) + index * library.readUInt16LE(0x36),
  );
  const loads = headers
    .filter((at) => library.readUInt32LE(at) === loaded)
    .map((at) => ({ at, offset: read(at + 8), end: read(at + 8) + read(at + 32) }));
  const header = library.indexOf('CmnD') - 12;
  const [first, next] = loads;
  if (header < 0 || !first || !next || first.offset !== 0 || first.end < header || next.offset < first.end)
    throw new Error('The library of ICU data has an unknown layout.');
  const start = header + library.readUInt16LE(header);
  const table = shortTable(library.subarray(start, first.end));
  const kept = start + table.length;
  const removed = Math.floor((next.offset - kept) / page) * page;
  const small = Buffer.alloc(Math.max(...loads.map(({ end }) => end)) - removed);
  library.copy(small, 0, 0, start);
  table.copy(small, start);
  library.copy(small, next.offset - removed, next.offset);
  const write = (value: number, at: number) => small.writeBigUInt64LE(BigInt(value), at);
  for (const at of headers) {
    if (read(at + 8) >= next.offset) write(read(at + 8) - removed, at + 8);
    if (library.readUInt32LE(at) === loaded) write(Math.min(read(at + 48), page), at + 48);
  }
  for (const size of [32, 40]) write(kept, first.at + size);
  // Only debuggers read the table of sections, which is gone.
  write(0, 0x28);
  small.fill(0, 0x3c, 0x40);
  return small;
}

/** A count, then for each item where its name and its content begin: sorted by name, contents in the same order. */
function shortTable(table: Buffer): Buffer {
  const count = table.readUInt32LE(0);
  const items = Array.from({ length: count }, (_, index) => {
    const [nameAt, from] = [4 + 8 * index, 8 + 8 * index].map((at) => table.readUInt32LE(at)) as [
      number,
      number,
    ];
    const to = index + 1 < count ? table.readUInt32LE(16 + 8 * index) : table.length;
    const name = table.subarray(nameAt, table.indexOf(0, nameAt) + 1);
    return { name, content: table.subarray(from, to) };
  }).filter(({ name }) => keptOfIcu.test(name.toString('latin1', 0, name.length - 1)));
  const head = Buffer.alloc(4 + 8 * items.length);
  head.writeUInt32LE(items.length, 0);
  const parts: Buffer[] = [head];
  let length = head.length;
  const add = (bytes: Buffer) => {
    parts.push(bytes);
    length += bytes.length;
  };
  for (const [index, { name }] of items.entries()) {
    head.writeUInt32LE(length, 4 + 8 * index);
    add(name);
  }
  for (const [index, { content }] of items.entries()) {
    add(Buffer.alloc((16 - (length % 16)) % 16));
    head.writeUInt32LE(length, 8 + 8 * index);
    add(content);
  }
  return Buffer.concat(parts);
}
