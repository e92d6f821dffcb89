// Passwords as argon2id hashes. Computing one takes 19 MiB and some 50 ms of a core on purpose. To survive a flood of
// sign-ins, few are computed in parallel and few wait.
import { argon2, randomBytes, timingSafeEqual } from 'node:crypto';
import { ApiError, type FieldError } from '../../errors.ts';
import { isStorableText } from '../../http/json-body.ts';

/** OWASP's minimum. Each hash names its own cost: a change here leaves old ones valid. */
const cost = { memory: 19_456, passes: 2, parallelism: 1 };
const tagLength = 32;

const maxConcurrent = 2;
const maxWaiting = 40;

let running = 0;
const waiting: (() => void)[] = [];

/** Takes a place among those that compute; refuses where the queue is longer than anybody would wait. */
async function computeInTurn<Result>(work: () => Promise<Result>): Promise<Result> {
  if (running >= maxConcurrent) {
    if (waiting.length >= maxWaiting) throw new ApiError('too_many_sign_ins');
    await new Promise<void>((resolve) => waiting.push(resolve));
  } else running++;
  try {
    return await work();
  } finally {
    // Hand the place on: newcomers must not overtake those who wait.
    const next = waiting.shift();
    if (next) next();
    else running--;
  }
}

function compute(password: string, salt: Buffer, { memory, passes, parallelism }: typeof cost) {
  // One text, however the keyboard composes its letters.
  const message = password.normalize('NFC');
  return new Promise<Buffer>((resolve, reject) => {
    argon2(
      'argon2id',
      { message, nonce: salt, tagLength, memory, passes, parallelism },
      (error, hash: Buffer) => (error ? reject(error) : resolve(hash)),
    );
  });
}

export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(16);
  const hash = await computeInTurn(() => compute(password, salt, cost));
  const { memory, passes, parallelism } = cost;
  return `$argon2id$v=19$m=${memory},t=${passes},p=${parallelism}$${encode(salt)}$${encode(hash)}`;
}

function encode(bytes: Buffer): string {
  return bytes.toString('base64').replaceAll('=', '');
}

const form = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/;

/** A hash that no password has: comparing with it takes as long as with any other. */
const nobodysHash = `$argon2id$v=19$m=${cost.memory},t=${cost.passes},p=${cost.parallelism}$${encode(randomBytes(16))}$${encode(randomBytes(tagLength))}`;

export function verifyPassword(password: string, storedHash: string): Promise<boolean> {
  return computeInTurn(() => matches(password, storedHash));
}

/**
 * The number of hashes of a sign-in, whether or not the address is known. An address of more businesses takes longer,
 * which only reveals that there are more than this.
 */
const hashesPerSignIn = 3;

/** Tells for each hash whether the password fits. The time does not reveal how many there are. */
export function verifyPasswords(password: string, storedHashes: readonly string[]): Promise<boolean[]> {
  const missing = Math.max(0, hashesPerSignIn - storedHashes.length);
  const padding = Array<string>(missing).fill(storedHashes[0] ?? nobodysHash);
  return computeInTurn(async () => {
    const results: boolean[] = [];
    for (const hash of [...storedHashes, ...padding]) results.push(await matches(password, hash));
    return results.slice(0, storedHashes.length);
  });
}

async function matches(password: string, storedHash: string): Promise<boolean> {
  const match = form.exec(storedHash);
  if (!match) throw new Error('A stored password hash is not of the known form.');
  const [, memory, passes, parallelism, salt, expected] = match;
  const itsCost = { memory: Number(memory), passes: Number(passes), parallelism: Number(parallelism) };
  const hash = await compute(password, Buffer.from(salt!, 'base64'), itsCost);
  return timingSafeEqual(hash, Buffer.from(expected!, 'base64'));
}

const minPasswordLength = 10;
/** In code points. Hashing a longer one would take more time than it is worth. */
export const maxPasswordLength = 200;

/** Checks whether a text can be a password, before its strength is estimated. */
export function passwordError(password: string): Omit<FieldError, 'path'> | undefined {
  const length = [...password].length;
  if (length < minPasswordLength) return { code: 'too_short', params: { min: minPasswordLength } };
  if (length > maxPasswordLength) return { code: 'too_long', params: { max: maxPasswordLength } };
  return isStorableText(password) ? undefined : { code: 'invalid_text' };
}
