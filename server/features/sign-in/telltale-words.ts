// Spellings in which the names of a person and a business stand in a password: "Grün & Gut GmbH" as gruenundgut.

const maxWords = 100;
const minLength = 3;
const legalForms = /\b(gmbh|ug|ag|kg|ohg|e\.?\s?k|gbr|mbh|co|ltd|inc)\b\.?/g;
const umlauts: Record<string, string> = { ä: 'ae', ö: 'oe', ü: 'ue', ß: 'ss' };

export function expandWords(words: readonly string[]): string[] {
  const spellings = words.flatMap((word) => {
    const plain = word.normalize('NFC').toLowerCase();
    const short = plain.replaceAll(legalForms, ' ');
    return [
      plain,
      ...[short, short.replaceAll(/[&+]/g, ' und '), short.replaceAll(/[&+]/g, ' and ')].flatMap(joinParts),
    ];
  });
  const spelled = spellings.flatMap((word) => [
    word,
    word.replaceAll(/[äöüß]/g, (letter) => umlauts[letter]!),
  ]);
  return [...new Set(spelled)].filter((word) => word.length >= minLength).slice(0, maxWords);
}

/** The parts, and all of them together with and without what stood between them. */
function joinParts(text: string): string[] {
  const parts = text.split(/[^\p{L}\p{N}]+/u).filter(Boolean);
  return [text.replaceAll(/\s+/g, ''), parts.join(''), ...parts];
}
