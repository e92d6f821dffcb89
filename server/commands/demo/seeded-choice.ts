// Choices that look random and are the same in every run (mulberry32).
export interface SeededChoice {
  /** A whole number from `lowest` to `highest`. */
  between(lowest: number, highest: number): number;
  oneOf<Item>(items: readonly Item[]): Item;
  /** True in so many of a hundred cases. */
  chance(percent: number): boolean;
}

export function seededChoice(seed: number): SeededChoice {
  let state = seed;
  function next(): number {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }
  const between = (lowest: number, highest: number) => lowest + Math.floor(next() * (highest - lowest + 1));
  return {
    between,
    oneOf: (items) => items[between(0, items.length - 1)]!,
    chance: (percent) => next() * 100 < percent,
  };
}
