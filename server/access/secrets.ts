// Random secrets that are handed out once: the database knows their hashes only.
import { createHash, randomBytes } from 'node:crypto';

/** 256 random bits, in letters that need no escaping in a link or a cookie. */
export function makeToken(): string {
  return randomBytes(32).toString('base64url');
}

/** A token has so many random bits that a fast hash hides it. */
export function hashToken(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}

export function isToken(text: string | undefined): text is string {
  return text !== undefined && /^[A-Za-z0-9_-]{43}$/.test(text);
}

/** 80 random bits as people can type them: no letter that looks like another. */
export function makePassword(): string {
  const alphabet = 'abcdefghijkmnpqrstuvwxyz23456789';
  return [...randomBytes(16)]
    .map((byte) => alphabet[byte % 32])
    .join('')
    .replace(/(.{4})(?=.)/g, '$1-');
}
