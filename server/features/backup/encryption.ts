// AES-256-GCM over a stream in frames, which takes little memory for a file of any size. The last frame is marked: a
// file that was cut off, or whose frames were moved, does not decrypt.
import { createCipheriv, createDecipheriv, createHash, randomBytes, scrypt } from 'node:crypto';
import { Transform, type TransformCallback } from 'node:stream';
import { promisify } from 'node:util';
import { UsageError } from '../../errors.ts';

const cost = { N: 2 ** 16, r: 8, p: 1 };
const maxmem = 256 * 1024 * 1024;
const frameBytes = 64 * 1024;
const tagBytes = 16;
const headBytes = 4 + tagBytes;
const lastMark = 0x8000_0000;

export interface Encryption {
  cipher: 'aes-256-gcm';
  salt: string;
}

export function newEncryption(): Encryption {
  return { cipher: 'aes-256-gcm', salt: randomBytes(16).toString('hex') };
}

export async function deriveKey(passphrase: string, { salt }: Encryption): Promise<Buffer> {
  const derive = promisify<string, Buffer, number, object, Buffer>(scrypt);
  return derive(passphrase.normalize('NFKC'), Buffer.from(salt, 'hex'), 32, { ...cost, maxmem });
}

/** `bound` is read in the clear and cannot be changed without notice. */
export function encrypt(key: Buffer, bound: string): Transform {
  const nonces = countNonces();
  let kept = Buffer.alloc(0);
  const seal = (stream: Transform, plain: Buffer, isLast: boolean) => {
    const length = Buffer.alloc(4);
    length.writeUInt32BE((plain.length | (isLast ? lastMark : 0)) >>> 0);
    const cipher = createCipheriv('aes-256-gcm', key, nonces.next().value!);
    cipher.setAAD(additionalData(bound, length));
    const sealed = Buffer.concat([cipher.update(plain), cipher.final()]);
    stream.push(Buffer.concat([length, cipher.getAuthTag(), sealed]));
  };
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      kept = Buffer.concat([kept, chunk]);
      // One frame stays back, because only the last one is marked.
      for (; kept.length > frameBytes; kept = kept.subarray(frameBytes)) {
        seal(this, kept.subarray(0, frameBytes), false);
      }
      done();
    },
    flush(done) {
      seal(this, kept, true);
      done();
    },
  });
}

export function decrypt(key: Buffer, bound: string): Transform {
  const nonces = countNonces();
  let kept = Buffer.alloc(0);
  let hasEnded = false;
  const open = (stream: Transform): boolean => {
    if (kept.length < headBytes) return false;
    const mark = kept.readUInt32BE();
    const size = (mark & ~lastMark) >>> 0;
    if (size > frameBytes || hasEnded) throw damaged();
    if (kept.length < headBytes + size) return false;
    const decipher = createDecipheriv('aes-256-gcm', key, nonces.next().value!);
    decipher.setAAD(additionalData(bound, kept.subarray(0, 4)));
    decipher.setAuthTag(kept.subarray(4, headBytes));
    try {
      const plain = decipher.update(kept.subarray(headBytes, headBytes + size));
      decipher.final();
      stream.push(plain);
    } catch {
      throw damaged();
    }
    hasEnded = mark >= lastMark;
    kept = kept.subarray(headBytes + size);
    return true;
  };
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      kept = Buffer.concat([kept, chunk]);
      orFail(done, () => {
        while (open(this));
      });
    },
    flush(done) {
      orFail(done, () => {
        if (!hasEnded || kept.length > 0) throw damaged();
      });
    },
  });
}

function damaged(): UsageError {
  return new UsageError('The passphrase is wrong, or the file is damaged.');
}

function orFail(done: TransformCallback, work: () => void): void {
  try {
    work();
    done();
  } catch (error) {
    done(error as Error);
  }
}

function additionalData(bound: string, length: Buffer): Buffer {
  return createHash('sha256').update(bound).update(length).digest();
}

/** Each key belongs to one file, so a counter never repeats a nonce. */
function* countNonces(): Generator<Buffer> {
  for (let count = 0n; ; count++) {
    const nonce = Buffer.alloc(12);
    nonce.writeBigUInt64BE(count, 4);
    yield nonce;
  }
}
