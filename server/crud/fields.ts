// The kinds of fields that a definition is made of. A field is data: its JSON Schema, which validates it and
// documents it, and the type of its column.
export interface JsonSchema {
  readonly [keyword: string]: unknown;
}

export type FieldKind =
  | 'text'
  | 'flag'
  | 'integer'
  | 'decimal'
  | 'double'
  | 'date'
  | 'uuid'
  | 'list'
  | 'group';

export interface Field {
  readonly kind: FieldKind;
  readonly schema: JsonSchema;
  readonly isRequired: boolean;
  /** Stored where nothing was sent. */
  readonly default?: unknown;
  /** The members of a group, whose columns are named by their whole path. */
  readonly fields?: Fields;
  /** The resource whose id this is. An owner must exist; anything else may arrive later. */
  readonly reference?: { readonly resource: string; readonly isOwner: boolean };
}

export type Fields = { readonly [name: string]: Field };

interface Options {
  description: string;
  isRequired?: boolean;
  example?: unknown;
}

function field(kind: FieldKind, schema: JsonSchema, options: Options, more: Partial<Field> = {}): Field {
  const { description, example } = options;
  const { default: fallback } = more;
  return {
    kind,
    isRequired: options.isRequired ?? false,
    schema: {
      description,
      ...schema,
      ...(example !== undefined && { examples: [example] }),
      ...(fallback !== undefined && { default: fallback }),
    },
    ...more,
  };
}

/** Lengths count code points. A required text must hold more than white space, unless it may be empty. */
export function text(
  options: Options & {
    maxLength?: number;
    mayBeEmpty?: boolean;
    format?: 'email' | 'time-zone';
    default?: string;
  },
): Field {
  const { maxLength, format } = options;
  const mustHoldText = !(options.mayBeEmpty ?? !options.isRequired);
  const schema = {
    type: 'string',
    ...(maxLength !== undefined && { maxLength }),
    ...(mustHoldText && { pattern: '\\S' }),
    ...(format && { format }),
  };
  return field('text', schema, options, { default: options.default });
}

export function choice(options: Options & { choices: readonly string[]; default?: string }): Field {
  return field('text', { type: 'string', enum: options.choices }, options, { default: options.default });
}

export function flag(options: Options): Field {
  return field('flag', { type: 'boolean' }, options);
}

export function integer(options: Options & { minimum: number; maximum?: number }): Field {
  const { minimum, maximum = Number.MAX_SAFE_INTEGER } = options;
  return field('integer', { type: 'integer', minimum, maximum }, options);
}

/** Kept as the exact decimal that was sent. */
export function decimal(options: Options & { minimum: number; maximum?: number }): Field {
  const { minimum, maximum } = options;
  return field('decimal', { type: 'number', minimum, ...(maximum !== undefined && { maximum }) }, options);
}

/** A measured quantity, for which a double is exact enough. */
export function double(options: Options & { minimum: number; maximum: number }): Field {
  const { minimum, maximum } = options;
  return field('double', { type: 'number', minimum, maximum }, options);
}

export function date(options: Options): Field {
  return field('date', { type: 'string', format: 'date' }, options);
}

export function reference(resource: string, options: Options & { isOwner?: boolean }): Field {
  return field('uuid', { type: 'string', format: 'uuid' }, options, {
    reference: { resource, isOwner: options.isOwner ?? false },
  });
}

/** A list of objects of any shape, returned as they were sent. */
export function list(options: Options & { maxItems: number; default?: readonly object[] }): Field {
  const schema = { type: 'array', maxItems: options.maxItems, items: { type: 'object' } };
  return field('list', schema, options, { default: options.default });
}

export function group(options: Options & { fields: Fields }): Field {
  return field('group', objectSchema(options.fields), options, { fields: options.fields });
}

/** The schema of an object with these fields. Unknown members are allowed: they are ignored and named in the answer. */
export function objectSchema(fields: Fields): JsonSchema {
  const required = Object.keys(fields).filter((name) => fields[name]!.isRequired);
  return {
    type: 'object',
    properties: Object.fromEntries(Object.entries(fields).map(([name, { schema }]) => [name, schema])),
    ...(required.length > 0 && { required }),
  };
}
