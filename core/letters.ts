// Letters as people type them who do not have them on their keyboard. plain_letters() in the database is its twin.

/** Letters that Unicode does not take apart. The letters "ae", "oe" and "ue" fold to their first one later. */
const plain: Record<string, string> = { ß: 'ss', ẞ: 'ss', þ: 'th', Þ: 'th', ς: 'σ' };
for (const [letter, ...variants] of ['aÆæƏə', 'oŒœØø', 'dÐðĐđ', 'lŁł', 'iı', 'hĦħ', 'tŦŧ', 'nŊŋ'])
  for (const variant of variants) plain[variant] = letter!;
const known = new RegExp(`[${Object.keys(plain).join('')}]`, 'g');

/** Turns "Łódź" into "Lodz", even if its accents are separate characters, as in files from a Mac. */
export function plainLetters(text: string): string {
  return text
    .normalize('NFKD')
    .replace(/[\u0300-\u036f]/g, '')
    .replace(known, (letter) => plain[letter]!);
}
