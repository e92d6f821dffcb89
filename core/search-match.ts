// What a search matched in an object, and how well. The service finds objects; this explains and ranks them.
import { plainLetters } from './letters.ts';

export interface SearchedText {
  /** Path of the field, or of the reference whose object has this name. */
  field: string;
  text: string;
  kind: 'name' | 'word' | 'code' | 'phone' | 'through';
}

export interface Match {
  score: number;
  /** The texts that matched, each once. */
  matched: SearchedText[];
}

/** One spelling of "Müller", "Mueller" and "MULLER", as the database has it. */
export function foldText(text: string): string {
  return (
    plainLetters(text)
      .toLowerCase()
      // At the end of a word Σ becomes ς here and σ in the database.
      .replaceAll('ς', 'σ')
      .replaceAll('ae', 'a')
      .replaceAll('oe', 'o')
      .replaceAll('ue', 'u')
  );
}

function wordsOf(text: string): string[] {
  return foldText(text)
    .split(/[^\p{L}\p{N}]+/u)
    .filter(Boolean);
}

function codeOf(text: string): string {
  return wordsOf(text).join('');
}

/** The digits behind the country's code and zero. */
function phoneOf(text: string): string {
  return text.replaceAll(/[^\d+]/g, '').replace(/^((\+|00)(49)?0?|0)/, '');
}

const weights: Record<SearchedText['kind'], number> = { name: 4, code: 3, phone: 3, word: 2, through: 1 };

/** Each typed word counts by the text that it fits best. */
export function findMatch(q: string, texts: readonly SearchedText[]): Match {
  const matched = new Map<SearchedText, number>();
  for (const token of tokensOf(q)) {
    const fits = texts.map((one) => ({ one, fit: fitOf(token, one) }));
    const best = fits.reduce((most, next) =>
      next.fit * weights[next.one.kind] > most.fit * weights[most.one.kind] ? next : most,
    );
    if (best.fit > 0) matched.set(best.one, (matched.get(best.one) ?? 0) + best.fit * weights[best.one.kind]);
  }
  const whole = texts.some(({ kind, text }) => kind !== 'through' && codeOf(text) === codeOf(q)) ? 100 : 0;
  return {
    score: whole + [...matched.values()].reduce((sum, score) => sum + score, 0),
    matched: [...matched.keys()],
  };
}

/** Words, or a code or telephone number as one. */
export function tokensOf(q: string): string[] {
  const asked = q.trim();
  return /^[+0][\d\s()/.-]{5,}$/.test(asked) ? [asked] : asked.split(/\s+/).filter(Boolean);
}

/** From 0 to 1: equal, begins so, contains it, resembles it. */
function fitOf(token: string, { text, kind }: SearchedText): number {
  const code = codeOf(token);
  if (code === '') return 0;
  if (kind === 'phone') return fitOfStart(phoneOf(token), phoneOf(text)) || fitOfWords(token, text);
  const whole = codeOf(text);
  if (kind === 'code' || wordsOf(token).length > 1) {
    const fit = fitOfStart(code, whole);
    if (fit > 0 || kind === 'code') return fit;
  }
  return fitOfWords(token, text);
}

function fitOfStart(typed: string, whole: string): number {
  if (typed.length < 2 || !whole.startsWith(typed)) return 0;
  return typed === whole ? 1 : 0.9;
}

function fitOfWords(token: string, text: string): number {
  const known = wordsOf(text);
  const fits = wordsOf(token).map((typed) => Math.max(0, ...known.map((word) => fitOfWord(typed, word))));
  // "K-10001" is not found by a K.
  if (fits.includes(0)) return 0;
  return fits.reduce((sum, fit) => sum + fit, 0) / Math.max(fits.length, 1);
}

function fitOfWord(typed: string, word: string): number {
  if (typed === word) return 1;
  if (word.startsWith(typed)) return 0.9;
  if (typed.length < 3 || /^\d/.test(typed)) return 0;
  if (word.includes(typed)) return 0.6;
  const mistakes = mistakesAtStart(typed, word);
  return mistakes * 3 <= typed.length ? 0.5 - mistakes / 20 : 0;
}

/** Letters to change until `typed` begins `word`. Two swapped letters count as two. */
function mistakesAtStart(typed: string, word: string): number {
  let before = Array.from({ length: word.length + 1 }, (_, place) => place);
  for (let row = 1; row <= typed.length; row++) {
    const current = [row];
    for (let place = 1; place <= word.length; place++) {
      const isSame = typed[row - 1] === word[place - 1];
      current.push(
        Math.min(before[place - 1]! + (isSame ? 0 : 1), before[place]! + 1, current[place - 1]! + 1),
      );
    }
    before = current;
  }
  return Math.min(...before);
}
