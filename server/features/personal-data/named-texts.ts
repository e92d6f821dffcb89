// Texts that an erasure names, such as a name in the comment of a site: found wherever people write freely.

import { parseExactly } from '../../../core/exact-json.ts';
import type { Definition } from '../../engine/definition/definition.ts';
import { type FieldError, validationError } from '../../errors.ts';
import { isStorableText } from '../../http/json-body.ts';

export const textBounds = { count: 10, minLength: 4, maxLength: 200 };

/** Shorter than any text that may be named: no field grows beyond its length. */
export const redaction = '[…]';

export interface NamedTexts {
  /** Patterns for LIKE: in lower case, plain and as JSON writes them. */
  readonly patterns: readonly string[];
  readonly texts: readonly string[];
  redact(text: string): string;
}

/** Reads the parameter `text`, which may be repeated; undefined where there is none. */
export function readNamedTexts(parameter: unknown): NamedTexts | undefined {
  if (parameter === undefined) return undefined;
  const texts = [parameter].flat().map((text) => String(text).trim());
  const fieldErrors = texts.flatMap(findErrors).slice(0, 1);
  if (texts.length > textBounds.count)
    fieldErrors.push({ path: ['text'], code: 'too_many_items', params: { max: textBounds.count } });
  if (fieldErrors.length > 0) throw validationError(fieldErrors);
  return buildNamedTexts(texts);
}

export function buildNamedTexts(texts: readonly string[]): NamedTexts {
  // A letter with an accent is one character or two.
  const spellings = [
    ...new Set(texts.flatMap((text) => [text, text.normalize('NFC'), text.normalize('NFD')])),
  ];
  if (texts.length === 0) return { texts, patterns: [], redact: (text) => text };
  const found = new RegExp(spellings.map((text) => RegExp.escape(text)).join('|'), 'giu');
  return {
    texts,
    patterns: [...new Set(spellings.flatMap((text) => [text, asJson(text)]))].map(toPattern),
    redact: (text) => text.replace(found, redaction),
  };
}

/** By which an office names the person: not by the first name, which others have too. */
export function knownBy({ fields, searchedBy }: Definition, json: string): string[] {
  const { names, codes, phones } = searchedBy;
  const paths = [
    ...names.slice(0, 1),
    ...codes,
    ...phones,
    'externalId',
    ...('email' in fields ? ['email'] : []),
  ];
  const record = parseExactly(json) as Record<string, unknown>;
  return paths
    .map((path) => record[path])
    .filter((value) => typeof value === 'string')
    .filter((value) => value.length >= textBounds.minLength);
}

function findErrors(text: string): FieldError[] {
  const { minLength: min, maxLength: max } = textBounds;
  const length = [...text].length;
  if (!isStorableText(text)) return [{ path: ['text'], code: 'invalid_text' }];
  if (length < min) return [{ path: ['text'], code: 'too_short', params: { min } }];
  return length > max ? [{ path: ['text'], code: 'too_long', params: { max } }] : [];
}

function toPattern(text: string): string {
  return `%${text.toLowerCase().replaceAll(/[\\%_]/g, '\\$&')}%`;
}

function asJson(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

/** Redacts the values of a JSON text and leaves names and the spelling of numbers as they are. */
export function redactJson(json: string, redact: NamedTexts['redact']): unknown {
  return parseExactly(json, (_name, value) => (typeof value === 'string' ? redact(value) : value));
}

/** An SQL condition: whether a text holds one of the patterns. The text is brought to lower case once for all of them. */
export function holdsPattern(text: string, parameter: string): string {
  return `lower(${text}) LIKE ANY (${parameter}::text[])`;
}
