// Numbers with the digits that were written: a double would round a price of many digits.

/** Older browsers lack raw JSON; there a number is a double. */
export function exactNumber(written: string): unknown {
  const { rawJSON } = JSON as { rawJSON?: (text: string) => unknown };
  return rawJSON ? rawJSON(written) : Number(written);
}

type Reviver = (name: string, value: unknown) => unknown;

/** Numbers stay exact. `revive` gets everything else, as with JSON.parse. */
export function parseExactly(json: string, revive: Reviver = (_name, value) => value): unknown {
  const keep = (name: string, value: unknown, context?: { source?: string }) =>
    revive(name, typeof value === 'number' && context?.source ? exactNumber(context.source) : value);
  return JSON.parse(json, keep as Reviver);
}
