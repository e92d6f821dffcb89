// The thread of password-strength.ts. It loads zxcvbn and its word lists.
import { Script } from 'node:vm';
import { parentPort } from 'node:worker_threads';
import { ZxcvbnFactory } from '@zxcvbn-ts/core';
import * as common from '@zxcvbn-ts/language-common';
import * as german from '@zxcvbn-ts/language-de';
import * as english from '@zxcvbn-ts/language-en';
import type { Answer, Question, Strength } from './password-strength.ts';
import { expandWords } from './telltale-words.ts';

/** The cost grows with the square of the length, and so much is not guessed anyway unless it repeats. */
const maxLength = 48;
/** Least score, of 0 to 4: more than a hundred million guesses. */
const neededScore = 3;

const zxcvbn = new ZxcvbnFactory({
  dictionary: { ...common.dictionary, ...german.dictionary, ...english.dictionary },
  graphs: common.adjacencyGraphs,
  // With 50, "1l|!i" repeated takes ten times as long and gets the same score.
  l33tMaxSubstitutions: 10,
  maxLength,
});

let judge = (): Strength => 'UNKNOWN';
Object.assign(globalThis, { judgePassword: () => judge() });
/** A script can be stopped in the middle, unlike a function, and the word lists stay loaded. */
const script = new Script('judgePassword()');

parentPort!.on('message', ({ id, password, words, limitMs }: Question) => {
  const start = [...password].slice(0, maxLength).join('').slice(0, maxLength);
  judge = () => (zxcvbn.check(start, expandWords(words)).score < neededScore ? 'GUESSABLE' : 'STRONG');
  parentPort!.postMessage({ id, strength: runAtMost(limitMs) } satisfies Answer);
});

function runAtMost(limitMs: number): Strength {
  try {
    return script.runInThisContext({ timeout: limitMs });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return 'UNKNOWN';
    throw error;
  }
}
