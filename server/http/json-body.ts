// Turns bytes into a JSON value that can be stored without loss or change. It finds what JSON.parse would replace or
// round silently. Only bytes that hint at such a value need a second look, which is rare.
import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { ApiError, type FieldError, validationError } from '../errors.ts';

// The runtime has these members, but TypeScript does not declare them yet.
declare global {
  interface JSON {
    rawJSON(text: string): { readonly rawJSON: string };
    isRawJSON(value: unknown): value is { readonly rawJSON: string };
    parse(
      text: string,
      reviver: (name: string, value: unknown, context: { source?: string }) => unknown,
    ): unknown;
  }
}

export interface JsonBody {
  bytes: Buffer;
  value: unknown;
  /** The same value, with JSON.rawJSON for each number that a double cannot hold; undefined if there is none. */
  exact: unknown;
  /** Errors of the text itself, anywhere in the body. */
  fieldErrors: FieldError[];
}

/**
 * A body without a media type, or with a charset other than UTF-8, is refused like any other type. No two runs of
 * white space are adjacent here, so a long one is read once.
 */
function mediaType(type: string): RegExp {
  return new RegExp(`^${type}\\s*(?:;\\s*(?:charset\\s*=\\s*"?utf-8"?\\s*(?:;\\s*)?)?)?$`, 'i');
}

const jsonType = mediaType('application/json');
/** A patch may also say what it is. */
const patchType = mediaType('application/merge-patch\\+json');
/** One JSON value per line. */
export const linesType = mediaType('application/x-ndjson');

export function checkContentType({ method, headers }: IncomingMessage, expected = jsonType): void {
  const type = headers['content-type'] ?? '';
  const isExpected = expected.test(type) || (method === 'PATCH' && patchType.test(type));
  if (!isExpected) throw new ApiError('content_type');
}

/** Runs before `100 Continue`: a client that declares too much need not send it. */
export function checkDeclaredLength(headers: IncomingMessage['headers'], limitBytes: number): void {
  if (Number(headers['content-length']) > limitBytes) throw new ApiError('body_too_large');
}

/** Bytes of a rejected large body that are still read: the client must get to read the answer. */
const maxDiscardedBytes = 16 * 1024 * 1024;

/** Reads a body up to the limit, counting what really arrives: chunks declare no length. */
export function readBody(request: IncomingMessage, limitBytes: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let length = 0;
    const refuse = () => {
      chunks.length = 0;
      request.off('data', onData);
      request.on('data', (chunk: Buffer) => {
        length += chunk.length;
        if (length > maxDiscardedBytes) request.socket.destroy();
      });
      reject(new ApiError('body_too_large'));
    };
    const onData = (chunk: Buffer) => {
      length += chunk.length;
      if (length > limitBytes) refuse();
      else chunks.push(chunk);
    };
    request.on('data', onData);
    request.on('end', () => resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)));
    request.on('error', (error) => reject(new ApiError('bad_request', { cause: error })));
    request.on('close', () => {
      if (!request.readableEnded) reject(new ApiError('bad_request'));
    });
  });
}

// A number of up to 15 digits and a small exponent survives as a double; a longer one may not. Numbers follow a colon,
// a comma or a bracket; the digits of an id in quotation marks do not.
const mayHoldInexactNumber = /[:,[]\s*-?\d(?:[\d.]{15}|[\d.]*[eE][+-]?\d{3})/;

export function parseJson(bytes: Buffer): JsonBody {
  if (!isUtf8(bytes)) throw validationError([{ path: [], code: 'invalid_text' }]);
  // Some clients begin with a byte order mark, which is no part of the text.
  const text = bytes.toString('utf8').replace(/^\uFEFF/, '');
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw validationError([{ path: [], code: 'invalid_json' }]);
  }
  const hasSuspectNumber = mayHoldInexactNumber.test(text);
  const needsSecondLook = hasSuspectNumber || text.includes('\\u') || text.includes('__proto__');
  if (!needsSecondLook) return { bytes, value, exact: undefined, fieldErrors: [] };
  // Find these errors first: this walk rejects what would exhaust the stack of the recursive walk below.
  const fieldErrors = findTextErrors(value);
  if (!hasSuspectNumber) return { bytes, value, exact: undefined, fieldErrors };
  let hasLongNumber = false;
  const exact = JSON.parse(text, (_name, member, { source }) => {
    if (typeof member !== 'number' || !Number.isFinite(member)) return member;
    hasLongNumber ||= source!.length > maxNumberLength;
    return exactNumber(member, source!);
  });
  return { bytes, value, exact, fieldErrors: hasLongNumber ? findTextErrors(exact) : fieldErrors };
}

/** Room for every digit of the largest double, its sign, its point and the longest fraction that is stored. */
const maxNumberLength = 1400;
const maxDoubleDigits = 15;
const safeExponent = 290;

function exactNumber(value: number, source: string): unknown {
  if (source.length > maxNumberLength) return JSON.rawJSON(source);
  const { digits, exponent } = decimalParts(source);
  const isExact = digits.length <= maxDoubleDigits && Math.abs(exponent) < safeExponent;
  return isExact ? value : JSON.rawJSON(source);
}

/** Significant digits, and the power of ten of the last of them. */
function decimalParts(source: string): { digits: string; exponent: number } {
  const [mantissa = '', power = '0'] = source.toLowerCase().split('e');
  const [whole = '', fraction = ''] = mantissa.replace('-', '').split('.');
  const written = (whole + fraction).replace(/^0+/, '');
  // A regular expression for the trailing zeros would scan each run of zeros again from each zero.
  let end = written.length;
  while (written[end - 1] === '0') end--;
  const digits = written.slice(0, end);
  if (digits === '') return { digits, exponent: 0 };
  return { digits, exponent: Number(power) - fraction.length + (written.length - digits.length) };
}

/** More than any price needs and less than PostgreSQL's numeric can hold. */
export const maxDecimalPlaces = 1000;

/** The text of a number that was kept exactly; undefined for any other value, and for too long a number. */
export function exactNumberText(value: unknown): string | undefined {
  return JSON.isRawJSON(value) && value.rawJSON.length <= maxNumberLength ? value.rawJSON : undefined;
}

export function isTooPrecise(source: string): boolean {
  return decimalParts(source).exponent < -maxDecimalPlaces;
}

/** Whether a number, of which only a double may be left, is really below (negative) or above (positive) another. */
export function compareExactly(source: string, other: number): number {
  const [one, two] = [decimalParts(source), decimalParts(String(other))];
  const exponent = Math.min(one.exponent, two.exponent);
  const scale = (text: string, parts: typeof one) =>
    BigInt(parts.digits || '0') *
    10n ** BigInt(parts.exponent - exponent) *
    (text.startsWith('-') ? -1n : 1n);
  const difference = scale(source, one) - scale(String(other), two);
  return difference === 0n ? 0 : difference < 0n ? -1 : 1;
}

export function hasFraction(source: string): boolean {
  return decimalParts(source).exponent < 0;
}

interface Place {
  value: unknown;
  step: string | number;
  parent: Place | undefined;
  depth: number;
}

const maxDepth = 1000;
/** Further errors are never reported. */
const maxTextErrors = 100;
/** Bounds all paths together: a hundred errors below one long name would make the answer far longer than the body. */
const maxPathCharacters = 20_000;

/** Walks without recursion, and names a place only where it is faulty: nesting costs neither stack nor time. */
function findTextErrors(root: unknown): FieldError[] {
  const fieldErrors: FieldError[] = [];
  let room = maxPathCharacters;
  const add = (place: Place, fieldError: Omit<FieldError, 'path'>, ...name: string[]) => {
    if (room <= 0 || fieldErrors.length >= maxTextErrors) return;
    const path = [...pathTo(place), ...name];
    for (const step of path) room -= String(step).length + 1;
    fieldErrors.push({ path, ...fieldError });
  };
  const pending: Place[] = [{ value: root, step: '', parent: undefined, depth: 0 }];
  for (let place = pending.pop(); place && fieldErrors.length < maxTextErrors; place = pending.pop()) {
    const { value, depth } = place;
    if (depth > maxDepth) throw validationError([{ path: [], code: 'too_deep', params: { max: maxDepth } }]);
    if (typeof value === 'string') {
      if (!isStorableText(value)) add(place, { code: 'invalid_text' });
    } else if (typeof value === 'number') {
      if (!Number.isFinite(value)) add(place, { code: 'number_out_of_range' });
    } else if (JSON.isRawJSON(value)) {
      if (value.rawJSON.length > maxNumberLength)
        add(place, { code: 'too_long', params: { max: maxNumberLength } });
    } else if (typeof value === 'object' && value !== null) {
      const isList = Array.isArray(value);
      for (const [name, member] of Object.entries(value).reverse()) {
        if (name === '__proto__') add(place, { code: 'forbidden_name' }, name);
        else if (!isStorableText(name)) add(place, { code: 'invalid_text' });
        else
          pending.push({
            value: member,
            step: isList ? Number(name) : name,
            parent: place,
            depth: depth + 1,
          });
      }
    }
  }
  return fieldErrors;
}

function pathTo(place: Place): (string | number)[] {
  const path: (string | number)[] = [];
  for (let at: Place = place; at.parent !== undefined; at = at.parent) path.push(at.step);
  return path.reverse();
}

export function isStorableText(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed();
}
