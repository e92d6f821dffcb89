// The federal state of a German postcode. Postcodes that cross a border count for the state of the larger part.

export const germanStates = [
  'BB',
  'BE',
  'BW',
  'BY',
  'HB',
  'HE',
  'HH',
  'MV',
  'NI',
  'NW',
  'RP',
  'SH',
  'SL',
  'SN',
  'ST',
  'TH',
] as const;
export type GermanState = (typeof germanStates)[number];

/** First postcode of each range. A range ends where the next one begins. */
const beginnings = `
01001 SN 01941 BB 02601 SN 03001 BB 04001 SN 04581 TH 04641 SN 04891 BB 06001 ST 06551 TH 06601 ST 07301 TH
07952 SN 07953 TH 07985 SN 07987 TH 08001 SN 10001 BE 12529 BB 12531 BE 14400 BB 17001 MV 17261 BB 17301 MV
17326 BB 17328 MV 17337 BB 17348 MV 19271 NI 19274 MV 19307 BB 19361 MV 20001 HH 21202 NI 21465 SH 21522 NI
21524 SH 21601 NI 22001 HH 22801 SH 23921 MV 24001 SH 26001 NI 27483 SH 27499 HH 27501 HB 27607 NI 28001 HB
28784 NI 29401 ST 29431 NI 32001 NW 34001 HE 34331 NI 34356 HE 34401 NW 34441 HE 36401 TH 37001 NI 37201 HE
37301 TH 37401 NI 37651 NW 37689 NI 37692 NW 37697 NI 38481 ST 38501 NI 38801 ST 40001 NW 48442 NI 48466 NW
48478 NI 48481 NW 48486 NI 48489 NW 48497 NI 48541 NW 49001 NI 49461 NW 49551 NI 50101 NW 51598 RP 51601 NW
53401 RP 53581 NW 53614 RP 53621 NW 54181 RP 55240 HE 55253 RP 57001 NW 57501 RP 58001 NW 60001 HE 63701 BY
64201 HE 65558 RP 65583 HE 65621 RP 65627 HE 65629 RP 65701 HE 66001 SL 66461 RP 66511 SL 66841 RP 68001 BW
68501 HE 68520 BW 68601 HE 68701 BW 69235 HE 69240 BW 69430 HE 69436 BW 69479 HE 69489 BW 69503 HE 69510 BW
69515 HE 70001 BW 76711 RP 77601 BW 80001 BY 88001 BW 88101 BY 88147 BW 88149 BY 88181 BW 89087 BY 89090 BW
89201 BY 89501 BW 90001 BY 96501 TH 97001 BY 97861 BW 97888 BY 97893 BW 97901 BY 97911 BW 98501 TH
`;

const ranges = beginnings
  .trim()
  .split(/\s+(?=\d)/)
  .map((range) => range.split(' ') as [start: string, state: GermanState]);

/** Undefined for texts that are no German postcode. */
export function stateOfPostcode(postcode: string): GermanState | undefined {
  if (!/^\d{5}$/.test(postcode)) return undefined;
  let [low, high] = [0, ranges.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (ranges[middle]![0] <= postcode) low = middle + 1;
    else high = middle;
  }
  return ranges[low - 1]?.[1];
}
