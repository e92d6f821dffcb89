// "+3 %" of a number, in digits: a double would round a price of many digits.

/** A percentage times 100. Undefined for a text that is a value of its own. */
export function readPercent(text: string): bigint | undefined {
  const [, sign, whole = '', fraction = ''] =
    /^([+\-−–])\s*(\d{1,3})(?:[.,](\d{1,2}))?\s*%$/.exec(text.trim()) ?? [];
  if (sign === undefined) return undefined;
  const amount = BigInt(whole + fraction.padEnd(2, '0'));
  if (sign === '+') return amount;
  return amount > 10_000n ? undefined : -amount;
}

/** Half is rounded up. A price keeps at least its cents. Undefined for a number with an exponent or a sign. */
export function addPercent(number: string, percent: bigint, isInteger: boolean): string | undefined {
  const [, whole, fraction = ''] = /^(\d+)(?:\.(\d+))?$/.exec(number) ?? [];
  if (whole === undefined) return undefined;
  const places = isInteger ? 0 : Math.max(2, fraction.length);
  const scaled = BigInt(whole + fraction) * (10_000n + percent);
  const divisor = 10n ** BigInt(fraction.length + 4 - places);
  const digits = String((scaled + divisor / 2n) / divisor).padStart(places + 1, '0');
  return places === 0 ? digits : `${digits.slice(0, -places)}.${digits.slice(-places)}`;
}
