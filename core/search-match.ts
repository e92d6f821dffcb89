// Explains and ranks the matches of a search. The service finds the objects.
import { plainLetters } from './letters.ts';
import { runNow, type Steps } from './pace.ts';

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

/** A text in all spellings that are compared, each made once. */
interface Folded {
  words: readonly string[];
  /** All words joined into one. */
  code: string;
  /** The digits behind the country's code and zero. */
  phone: string;
}

function fold(text: string): Folded {
  const words = wordsOf(text);
  const phone = text.replaceAll(/[^\d+]/g, '').replace(/^((\+|00)(49)?0?|0)/, '');
  return { words, code: words.join(''), phone };
}

const weights: Record<SearchedText['kind'], number> = { name: 4, code: 3, phone: 3, word: 2, through: 1 };

/** The search in the database uses the same number of words, the longest ones. */
const mostTokens = 8;

/** Each typed word counts by the text that it fits best. */
export function findMatch(q: string, texts: readonly SearchedText[]): Match {
  return runNow(matchText(q, texts));
}

/** Works like `findMatch`, in steps: one per text, and one per typed word and text. */
export function* matchText(q: string, texts: readonly SearchedText[]): Steps<Match> {
  const folded: Folded[] = [];
  for (const { text } of texts) {
    folded.push(fold(text));
    yield;
  }
  const matched = new Map<SearchedText, number>();
  for (const token of rankedTokens(q)) {
    let best: { one: SearchedText; score: number } | undefined;
    for (const [place, one] of texts.entries()) {
      const score = fitOf(token, folded[place]!, one.kind) * weights[one.kind];
      if (score > (best?.score ?? 0)) best = { one, score };
      yield;
    }
    if (best) matched.set(best.one, (matched.get(best.one) ?? 0) + best.score);
  }
  const asked = fold(q).code;
  const isWhole = texts.some(({ kind }, place) => kind !== 'through' && folded[place]!.code === asked);
  return {
    score: (isWhole ? 100 : 0) + [...matched.values()].reduce((sum, score) => sum + score, 0),
    matched: [...matched.keys()],
  };
}

/** Words, or a code or telephone number as one. */
export function tokensOf(q: string): string[] {
  const asked = q.trim();
  return /^[+0][\d\s()/.-]{5,}$/.test(asked) ? [asked] : asked.split(/\s+/).filter(Boolean);
}

/** The longest words, in the order in which they were typed. */
function rankedTokens(q: string): Folded[] {
  const tokens = tokensOf(q).map(fold);
  const longest = tokens.toSorted((one, other) => other.code.length - one.code.length).slice(0, mostTokens);
  return tokens.filter((token) => longest.includes(token));
}

/** Rates the fit from 0 to 1: an equal text first, then a beginning, a part, and a resemblance. */
function fitOf(token: Folded, text: Folded, kind: SearchedText['kind']): number {
  if (token.code === '') return 0;
  if (kind === 'phone') return fitOfStart(token.phone, text.phone) || fitOfWords(token, text);
  if (kind === 'code' || token.words.length > 1) {
    const fit = fitOfStart(token.code, text.code);
    if (fit > 0 || kind === 'code') return fit;
  }
  return fitOfWords(token, text);
}

function fitOfStart(typed: string, whole: string): number {
  if (typed.length < 2 || !whole.startsWith(typed)) return 0;
  return typed === whole ? 1 : 0.9;
}

function fitOfWords(token: Folded, text: Folded): number {
  let sum = 0;
  for (const typed of token.words) {
    let best = 0;
    for (const word of text.words) best = Math.max(best, fitOfWord(typed, word));
    // "K-10001" is not found by a K.
    if (best === 0) return 0;
    sum += best;
  }
  return sum / token.words.length;
}

function fitOfWord(typed: string, word: string): number {
  if (typed === word) return 1;
  if (word.startsWith(typed)) return 0.9;
  if (typed.length < 3 || /^\d/.test(typed)) return 0;
  if (word.includes(typed)) return 0.6;
  const mistakes = mistakesAtStart(typed, word, Math.floor(typed.length / 3));
  return mistakes === undefined ? 0 : 0.5 - mistakes / 20;
}

/** Letters to change until `typed` begins `word`, at most `most`. Two swapped letters count as two. */
function mistakesAtStart(typed: string, word: string, most: number): number | undefined {
  if (typed.length - word.length > most) return undefined;
  let before = Array.from({ length: word.length + 1 }, (_, place) => place);
  let fewest = 0;
  for (let row = 1; row <= typed.length; row++) {
    const current = [row];
    fewest = row;
    for (let place = 1; place <= word.length; place++) {
      const isSame = typed[row - 1] === word[place - 1];
      const mistakes = Math.min(
        before[place - 1]! + (isSame ? 0 : 1),
        before[place]! + 1,
        current[place - 1]! + 1,
      );
      current.push(mistakes);
      fewest = Math.min(fewest, mistakes);
    }
    if (fewest > most) return undefined;
    before = current;
  }
  return fewest;
}
