import assert from 'node:assert/strict';
import { test } from 'node:test';
import { allSentences } from '../../../server/messages.ts';

test('an error text has at most 12 words, in both languages', () => {
  const sentences = allSentences();
  assert.ok(sentences.length > 200);
  for (const sentence of sentences) {
    const words = sentence.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word));
    assert.ok(words.length <= 12, sentence);
  }
});
