// Numbers of an answer that a double cannot hold, as they were sent. A change that is taken back must not round them.
declare global {
  interface JSON {
    rawJSON?(text: string): unknown;
  }
}

/** Written numbers, by the object that holds them and by name. */
const sources = new WeakMap<object, Map<string, string>>();

const mostDigits = 15;

function isRounded(source: string): boolean {
  const digits = source.replace(/e.*$/i, '').replace(/[-.]/g, '').replace(/^0+/, '');
  return digits.length > mostDigits;
}

export function parseExactly(text: string): unknown {
  function keep(this: object, name: string, value: unknown, context?: { source?: string }): unknown {
    const source = typeof value === 'number' ? context?.source : undefined;
    if (source !== undefined && isRounded(source)) {
      const own = sources.get(this) ?? new Map<string, string>();
      sources.set(this, own.set(name, source));
    }
    return value;
  }
  return JSON.parse(text, keep as (this: unknown, name: string, value: unknown) => unknown);
}

/** A member with each number as it was sent, to be sent again. */
export function exactMember(holder: object, name: string): unknown {
  const value = (holder as Record<string, unknown>)[name];
  const source = sources.get(holder)?.get(name);
  if (source !== undefined && JSON.rawJSON) return JSON.rawJSON(source);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((_, index) => exactMember(value, String(index)));
  return Object.fromEntries(Object.keys(value).map((key) => [key, exactMember(value, key)]));
}
