// A body as lines that people can read, each with the place in it that it shows.
export interface BodyLine {
  text: string;
  depth: number;
  /** "address.zipCode" */
  path: string;
}

export function toBodyLines(body: string): BodyLine[] {
  // Numbers stay as they were written.
  const keepSource = (_name: string, value: unknown, context?: { source?: string }) =>
    typeof value === 'number' && context?.source ? new Written(context.source) : value;
  try {
    const value = JSON.parse(body, keepSource as (name: string, value: unknown) => unknown);
    return linesOf(value, '', 0, '', '');
  } catch {
    return [{ text: body, depth: 0, path: '' }];
  }
}

class Written {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

function linesOf(value: unknown, path: string, depth: number, before: string, after: string): BodyLine[] {
  const isList = Array.isArray(value);
  if (value === null || typeof value !== 'object' || value instanceof Written) {
    const text = value instanceof Written ? value.text : JSON.stringify(value);
    return [{ text: `${before}${text}${after}`, depth, path }];
  }
  const members = Object.entries(value);
  const [open, close] = isList ? ['[', ']'] : ['{', '}'];
  if (members.length === 0) return [{ text: `${before}${open}${close}${after}`, depth, path }];
  return [
    { text: `${before}${open}`, depth, path },
    ...members.flatMap(([name, member], index) =>
      linesOf(
        member,
        path === '' ? name : `${path}.${name}`,
        depth + 1,
        isList ? '' : `${JSON.stringify(name)}: `,
        index < members.length - 1 ? ',' : '',
      ),
    ),
    { text: `${close}${after}`, depth, path: '' },
  ];
}
