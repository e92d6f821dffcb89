// A backup file: two lines that anybody can read, then sections, compressed and, if asked for, encrypted.
//
//   Stamm backup 1
//   {"stamm":"0.1.0","postgres":"18.4",…}
//   {"table":"customer","columns":[…]}     one section for each table, or for some tenants of it
//   rows as COPY writes them
//   \.
//   {"rows":1234,"sha256":"…","header":"…"}  sums of everything between the header and this line, and of the header
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createZstdCompress, createZstdDecompress } from 'node:zlib';
import { syncToDisk } from '../../database/embedded/programs.ts';
import { UsageError } from '../../errors.ts';
import { expected } from '../../telemetry/expected.ts';
import { decrypt, deriveKey, type Encryption, encrypt, newEncryption } from './encryption.ts';

const magic = 'Stamm backup 1\n';
const longestHeaderBytes = 1024 * 1024;
const endOfRows = Buffer.from('\n\\.\n');
const newline = 10;

export interface Header {
  stamm: string;
  postgres: string;
  createdAt: string;
  /** The business, where it is only one. */
  tenantId: string | null;
  migrations: { name: string; checksum: string }[];
  encryption: Encryption | null;
}

export interface Section {
  table: string;
  columns: string[];
  rows: AsyncIterable<Buffer>;
}

export interface Totals {
  rows: number;
  bytes: number;
}

/** Writes beside `path` and renames at the end: a file of that name is always whole. */
export async function writeBackup(
  {
    path,
    passphrase,
    mostBytes = Number.POSITIVE_INFINITY,
    onRows = () => {},
  }: {
    path: string;
    passphrase: string | undefined;
    mostBytes?: number;
    onRows?: (totals: Totals) => void;
  },
  header: Omit<Header, 'encryption'>,
  sections: AsyncIterable<Section>,
): Promise<Totals> {
  const encryption = passphrase === undefined ? null : newEncryption();
  const head = `${JSON.stringify({ ...header, encryption } satisfies Header)}\n`;
  const partial = `${path}.partial`;
  const file = await open(partial, 'wx', 0o600).catch((error) => {
    if (error.code !== 'EEXIST') throw unwritable(partial, error);
    throw new UsageError(
      `${partial} exists: a backup is writing it, or was killed. In that case, remove it.`,
    );
  });
  try {
    await file.write(magic + head);
    const totals: Totals = { rows: 0, bytes: 0 };
    const content = checkedContent(head, sections, totals, onRows);
    const output = file.createWriteStream({ flush: true });
    const key = encryption && (await deriveKey(passphrase!, encryption));
    const limit = (chunks: AsyncIterable<Buffer>) => limitBytes(chunks, path, mostBytes);
    if (key) await pipeline(content, createZstdCompress(), encrypt(key, head), limit, output);
    else await pipeline(content, createZstdCompress(), limit, output);
    await rename(partial, path);
    await syncToDisk(dirname(path));
    return totals;
  } catch (error) {
    await file.close().catch(expected);
    await rm(partial, { force: true });
    throw (error as NodeJS.ErrnoException).syscall ? unwritable(path, error as NodeJS.ErrnoException) : error;
  }
}

async function* limitBytes(
  chunks: AsyncIterable<Buffer>,
  path: string,
  mostBytes: number,
): AsyncGenerator<Buffer> {
  let written = 0;
  for await (const chunk of chunks) {
    written += chunk.length;
    if (written > mostBytes) throw new NoRoomError(dirname(path), written);
    yield chunk;
  }
}

export class NoRoomError extends UsageError {
  readonly needed: number;
  constructor(folder: string, needed: number) {
    super(
      `${folder} has no room for a backup of ${formatBytes(needed)}. Make room, or set BACKUP_DIR to another disk.`,
    );
    this.needed = needed;
  }
}

export function formatBytes(bytes: number): string {
  return bytes < 1e9 ? `${(bytes / 1e6).toFixed(1)} MB` : `${(bytes / 1e9).toFixed(1)} GB`;
}

function unwritable(path: string, error: NodeJS.ErrnoException): UsageError {
  return new UsageError(`${path} cannot be written: ${reasonOf(error)}.`);
}

async function* checkedContent(
  head: string,
  sections: AsyncIterable<Section>,
  totals: Totals,
  onRows: (totals: Totals) => void,
): AsyncGenerator<Buffer> {
  const hash = createHash('sha256');
  const hashed = (data: Buffer) => {
    hash.update(data);
    totals.bytes += data.length;
    return data;
  };
  for await (const { table, columns, rows } of sections) {
    yield hashed(Buffer.from(`${JSON.stringify({ table, columns })}\n`));
    for await (const chunk of rows) {
      totals.rows += countRows(chunk);
      onRows(totals);
      yield hashed(chunk);
    }
    yield hashed(endOfRows.subarray(1));
  }
  const sums = { rows: totals.rows, sha256: hash.digest('hex'), header: sumOf(head) };
  yield Buffer.from(`${JSON.stringify(sums)}\n`);
}

function sumOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** A newline in a value is written as `\n`, so each byte 10 ends a row. */
function countRows(chunk: Buffer): number {
  let rows = 0;
  for (let at = chunk.indexOf(newline); at !== -1; at = chunk.indexOf(newline, at + 1)) rows++;
  return rows;
}

export async function readHeader(path: string): Promise<Header> {
  return (await readHead(path)).header;
}

async function readHead(path: string): Promise<{ header: Header; head: string; start: number }> {
  const file = await open(path).catch((error) => {
    throw new UsageError(`${path} cannot be read: ${reasonOf(error)}.`);
  });
  try {
    const { bytesRead, buffer } = await file.read(Buffer.alloc(longestHeaderBytes), 0, longestHeaderBytes, 0);
    const text = buffer.subarray(0, bytesRead).toString('latin1');
    if (!text.startsWith('Stamm backup ')) throw new UsageError(`${path} is not a backup of Stamm.`);
    if (!text.startsWith(magic)) {
      throw new UsageError(`${path} was made by a newer Stamm. Use that version or a newer one.`);
    }
    const start = text.indexOf('\n', magic.length) + 1;
    if (start === 0) throw cutOff(path);
    const head = buffer.subarray(magic.length, start).toString();
    const header: Header | null = JSON.parse(head);
    if (!Array.isArray(header?.migrations)) throw new SyntaxError('no header of ours');
    return { header, head, start };
  } catch (error) {
    if (error instanceof SyntaxError) throw new UsageError(`The header of ${path} is damaged.`);
    throw error;
  } finally {
    await file.close();
  }
}

/**
 * Hands each section to `take`, which has to read its rows. Throws a UsageError at the end if the content differs from
 * the written one. Discard everything that was read then.
 */
export async function readBackup(
  path: string,
  passphrase: string | undefined,
  take: (section: Section) => Promise<void>,
  signal?: AbortSignal,
): Promise<Totals> {
  const { header, head, start } = await readHead(path);
  if (header.encryption && passphrase === undefined) {
    throw new UsageError(`${path} is encrypted. Set BACKUP_PASSPHRASE.`);
  }
  // The file must not decide: anybody can write one that says it is not encrypted, with the right sums.
  if (!header.encryption && passphrase !== undefined) throw unencrypted(path);
  const file = createReadStream(path, { start });
  const key = header.encryption && (await deriveKey(passphrase!, header.encryption));
  const totals: Totals = { rows: 0, bytes: 0 };
  const readContent = (content: AsyncIterable<Buffer>) => readSections(content, { path, head }, totals, take);
  try {
    if (key) await pipeline(file, decrypt(key, head), createZstdDecompress(), readContent, { signal });
    else await pipeline(file, createZstdDecompress(), readContent, { signal });
    return totals;
  } catch (error) {
    // The compression itself notices most damage, and an end that is missing.
    const code = (error as NodeJS.ErrnoException).code ?? '';
    if (code === 'Z_BUF_ERROR' || code.startsWith('ZSTD_')) throw cutOff(path);
    throw error;
  }
}

async function readSections(
  content: AsyncIterable<Buffer>,
  { path, head: fileHead }: { path: string; head: string },
  totals: Totals,
  take: (section: Section) => Promise<void>,
): Promise<void> {
  const hash = createHash('sha256');
  const input = content[Symbol.asyncIterator]();
  let kept: Buffer = Buffer.alloc(0);

  async function more(): Promise<void> {
    const { value, done } = await input.next();
    if (done) throw cutOff(path);
    kept = kept.length === 0 ? value : Buffer.concat([kept, value]);
  }

  function use(bytes: number): Buffer {
    const used = kept.subarray(0, bytes);
    kept = kept.subarray(bytes);
    return used;
  }

  async function readLine(): Promise<Buffer> {
    for (;;) {
      const end = kept.indexOf(newline);
      if (end !== -1) return use(end + 1);
      if (kept.length > longestHeaderBytes) throw damaged(path);
      await more();
    }
  }

  function hashed(data: Buffer): Buffer {
    hash.update(data);
    totals.bytes += data.length;
    return data;
  }

  /** The end of the rows is a line of its own. The line before a first row is the section's header. */
  async function* readRows(): AsyncGenerator<Buffer> {
    const mark = endOfRows.subarray(1);
    for (let isLineStart = true; ; ) {
      while (kept.length < mark.length) await more();
      if (isLineStart && kept.subarray(0, mark.length).equals(mark)) return void hashed(use(mark.length));
      const end = kept.indexOf(endOfRows);
      // Keep what may be the beginning of the mark.
      const safe = end === -1 ? kept.length - endOfRows.length : end + 1;
      isLineStart = end !== -1;
      if (safe > 0) {
        const rows = hashed(use(safe));
        totals.rows += countRows(rows);
        yield rows;
      } else await more();
    }
  }

  for (;;) {
    const line = await readLine();
    const head = parseLine(line, path);
    if (head.sha256 !== undefined) {
      if (head.sha256 !== hash.digest('hex') || head.rows !== totals.rows) throw damaged(path);
      // Files of before this sum do not have it.
      if (head.header !== undefined && head.header !== sumOf(fileHead)) throw damaged(path);
      const rest = kept.length > 0 || !(await input.next()).done;
      if (rest) throw damaged(path);
      return;
    }
    hashed(line);
    const { table, columns } = head;
    if (typeof table !== 'string' || !Array.isArray(columns)) throw damaged(path);
    const rows = readRows();
    await take({ table, columns, rows });
    // A section that was not wanted is read over.
    for await (const _ of rows);
  }
}

function parseLine(line: Buffer, path: string): Record<string, unknown> & { columns?: string[] } {
  try {
    return JSON.parse(line.toString());
  } catch {
    throw damaged(path);
  }
}

export function unencrypted(path: string): UsageError {
  return new UsageError(
    `${path} is not encrypted, but BACKUP_PASSPHRASE is set. Trust it with --unencrypted.`,
  );
}

function cutOff(path: string): UsageError {
  return new UsageError(`${path} is damaged or incomplete.`);
}

function damaged(path: string): UsageError {
  return new UsageError(`${path} is damaged: its content does not match its checksum.`);
}

function reasonOf(error: NodeJS.ErrnoException): string {
  const reasons: Record<string, string> = {
    EEXIST: 'it exists already',
    ENOENT: 'no such file or folder',
    EACCES: 'permission denied',
    ENOSPC: 'the disk is full',
    EISDIR: 'it is a folder',
  };
  return reasons[error.code ?? ''] ?? error.message;
}
