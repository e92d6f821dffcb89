// The known shape of a list's items, in the part of JSON Schema that such shapes need. The server stores the verdict
// for the attention list. The web app shows and plans with items that have the shape.
import { isClosingTime, isDay, isTime } from '../calendar/calendar-days.ts';

const formatChecks = { date: isDay, time: isTime, 'closing-time': isClosingTime } as const;

interface Described {
  /** Text in the API's document. */
  readonly description?: string;
}

interface TextShape extends Described {
  readonly type: 'string';
  readonly enum?: readonly string[];
  readonly format?: keyof typeof formatChecks;
}

interface IntegerShape extends Described {
  readonly type: 'integer';
  readonly enum?: readonly number[];
  readonly minimum?: number;
  readonly maximum?: number;
}

interface ListShape extends Described {
  readonly type: 'array';
  readonly items: Shape;
}

export interface ObjectShape extends Described {
  readonly type: 'object';
  /** Its name in the API's document. */
  readonly title: string;
  readonly properties: { readonly [name: string]: Shape };
  readonly required: readonly string[];
  readonly additionalProperties: false;
}

export type Shape = TextShape | IntegerShape | ListShape | ObjectShape;

/** An undefined member counts as absent: JSON has no such value. */
export function hasShape(shape: Shape, value: unknown): boolean {
  switch (shape.type) {
    case 'string':
      return typeof value === 'string' && isText(shape, value);
    case 'integer':
      return typeof value === 'number' && isInteger(shape, value);
    case 'array':
      return Array.isArray(value) && value.every((item) => hasShape(shape.items, item));
    case 'object':
      return typeof value === 'object' && value !== null && !Array.isArray(value) && isObject(shape, value);
  }
}

function isText({ enum: choices, format }: TextShape, text: string): boolean {
  return (choices?.includes(text) ?? true) && (format === undefined || formatChecks[format](text));
}

function isInteger({ enum: choices, minimum, maximum }: IntegerShape, number: number): boolean {
  return (
    Number.isInteger(number) &&
    (choices?.includes(number) ?? true) &&
    number >= (minimum ?? Number.NEGATIVE_INFINITY) &&
    number <= (maximum ?? Number.POSITIVE_INFINITY)
  );
}

function isObject({ properties, required }: ObjectShape, object: object): boolean {
  const members = object as Record<string, unknown>;
  if (!required.every((name) => Object.hasOwn(members, name) && members[name] !== undefined)) return false;
  return Object.keys(members).every((name) => {
    const member = members[name];
    return member === undefined || (Object.hasOwn(properties, name) && hasShape(properties[name]!, member));
  });
}
