// Letters as people type them who do not have them on their keyboard. plain_letters() in the database is its twin.

/** Letters that Unicode does not take apart. The letters "ae", "oe" and "ue" fold to their first one later. */
const plain: Record<string, string> = { ß: 'ss', ẞ: 'ss', þ: 'th', Þ: 'th', ς: 'σ' };
for (const [letter, ...variants] of ['aÆæƏə', 'oŒœØø', 'dÐðĐđ', 'lŁł', 'iı', 'hĦħ', 'tŦŧ', 'nŊŋ'])
  for (const variant of variants) plain[variant] = letter!;
const known = new RegExp(`[${Object.keys(plain).join('')}]`, 'g');

/** "Łódź" as "Lodz", also where its accents are characters of their own, as in files of a Mac. */
export function plainLetters(text: string): string {
  return text
    .normalize('NFKD')
    .replace(/[\u0300-\u036f]/g, '')
    .replace(known, (letter) => plain[letter]!);
}
