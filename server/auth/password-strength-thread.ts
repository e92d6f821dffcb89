// The thread of password-strength.ts. It loads zxcvbn and its word lists.
import { parentPort } from 'node:worker_threads';
import { ZxcvbnFactory } from '@zxcvbn-ts/core';
import * as common from '@zxcvbn-ts/language-common';
import * as german from '@zxcvbn-ts/language-de';
import * as english from '@zxcvbn-ts/language-en';
import { expandWords } from './telltale-words.ts';

/** The cost grows with the square of the length, and so much is not guessed anyway unless it repeats. */
const maxLength = 48;
/** Of 0 to 4: more than a hundred million guesses. */
const neededScore = 3;

const zxcvbn = new ZxcvbnFactory({
  dictionary: { ...common.dictionary, ...german.dictionary, ...english.dictionary },
  graphs: common.adjacencyGraphs,
  l33tMaxSubstitutions: 50,
  maxLength,
});

interface Question {
  id: number;
  password: string;
  words: readonly string[];
}

parentPort!.on('message', ({ id, password, words }: Question) => {
  const start = [...password].slice(0, maxLength).join('').slice(0, maxLength);
  const { score } = zxcvbn.check(start, expandWords(words));
  parentPort!.postMessage({ id, isGuessable: score < neededScore });
});
