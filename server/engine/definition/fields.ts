// The kinds of fields that a definition is made of. A field is data: the JSON Schema that validates and documents it,
// the type of its column, and its titles.
import type { ObjectShape } from '../../../core/definition/shape.ts';
import type { Language } from '../../messages.ts';
import type { Format } from './formats.ts';

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
  /** Title for people in German; the English one follows from the name unless it is given. */
  readonly de: string;
  readonly en?: string | undefined;
  readonly isRequired: boolean;
  /** Labels of a choice's values, in the order of the values. */
  readonly choiceTitles?: ReadonlyMap<string, Record<Language, string>>;
  /** The value that is stored if none is sent. */
  readonly default?: unknown;
  /** The members of a group, whose columns are named by their whole path. */
  readonly fields?: Fields;
  /** The resources of which one has this id. An owner must exist; anything else may arrive later. */
  readonly reference?: { readonly resources: readonly string[]; readonly isOwner: boolean };
  /** Marks the external id of an object that does not exist yet: the name of the reference that waits for it. */
  readonly twinOf?: string;
  /** The shape of a list's items that the office can show. Other shapes are stored too. */
  readonly knownItem?: ObjectShape;
  /**
   * The filter in lists: by the whole value, by a range, or by its start. The start is a column, because an index entry
   * holds no unlimited text.
   */
  readonly filter?: 'whole' | 'start' | 'range';
}

export type Fields = { readonly [name: string]: Field };

interface Options {
  de: string;
  /** Follows from the name unless it is given. */
  en?: string;
  description: string;
  isRequired?: boolean;
  example?: unknown;
}

function field(kind: FieldKind, schema: JsonSchema, options: Options, more: Partial<Field> = {}): Field {
  const { description, example } = options;
  const { default: fallback } = more;
  return {
    kind,
    de: options.de,
    en: options.en,
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

interface TextOptions extends Options {
  maxLength?: number;
  mayBeEmpty?: boolean;
  format?: Format;
  default?: string;
  filter?: 'whole' | 'start';
}

/** Lengths count code points. A required text must hold more than white space, unless it may be empty. */
export function text(options: TextOptions): Field {
  const { maxLength, format, filter } = options;
  const mustHoldText = !(options.mayBeEmpty ?? !options.isRequired);
  const schema = {
    type: 'string',
    ...(maxLength !== undefined && { maxLength }),
    ...(mustHoldText && { pattern: '\\S' }),
    ...(format && { format }),
  };
  return field('text', schema, options, { default: options.default, filter });
}

/** The values with their German titles; the English ones follow from the values, unless they are given. */
type Choices = Record<string, string | Record<Language, string>>;

export function choice(options: Options & { choices: Choices; default?: string }): Field {
  const { choices, default: fallback } = options;
  const schema = { type: 'string', enum: Object.keys(choices) };
  const choiceTitles = new Map(
    Object.entries(choices).map(([value, title]) => [
      value,
      typeof title === 'string' ? { en: englishChoice(value), de: title } : title,
    ]),
  );
  return field('text', schema, options, { default: fallback, filter: 'whole', choiceTitles });
}

/** CARE_AND_RENTAL is "Care and rental". */
function englishChoice(value: string): string {
  const written = value.toLowerCase().replaceAll('_', ' ');
  return written[0]!.toUpperCase() + written.slice(1);
}

export function flag(options: Options & { default?: boolean }): Field {
  return field('flag', { type: 'boolean' }, options, { default: options.default, filter: 'whole' });
}

export function integer(options: Options & { minimum: number; maximum?: number; default?: number }): Field {
  const { minimum, maximum = Number.MAX_SAFE_INTEGER } = options;
  return field('integer', { type: 'integer', minimum, maximum }, options, { default: options.default });
}

/** A number that is kept as the exact decimal that was sent. */
export function decimal(options: Options & { minimum: number; maximum?: number; filter?: 'range' }): Field {
  const { minimum, maximum, filter } = options;
  const schema = { type: 'number', minimum, ...(maximum !== undefined && { maximum }) };
  return field('decimal', schema, options, { filter });
}

/** A measured quantity, for which a double is exact enough. */
export function double(options: Options & { minimum: number; maximum: number }): Field {
  const { minimum, maximum } = options;
  return field('double', { type: 'number', minimum, maximum }, options);
}

export function date(options: Options & { filter?: 'range' }): Field {
  return field('date', { type: 'string', format: 'date' }, options, { filter: options.filter });
}

/** The object that owns this one. It must exist, and its external id can name it. */
export function owner(resource: string, options: Options): Field {
  const reference = { resources: [resource], isOwner: true };
  return field('uuid', { type: 'string', format: 'uuid' }, options, { reference, filter: 'whole' });
}

/** Any id is stored, since its object may arrive later. An external id is kept until its object arrives. */
export function reference(resources: readonly string[], options: Options): Field {
  const reference = { resources, isOwner: false };
  return field('uuid', { type: 'string', format: 'uuid' }, options, { reference, filter: 'whole' });
}

/** A list of objects of any shape, returned as they were sent. */
export function list(
  options: Options & { maxItems: number; knownItem: ObjectShape; default?: readonly object[] },
): Field {
  const { maxItems, knownItem, default: fallback } = options;
  const schema = { type: 'array', maxItems, items: { type: 'object' } };
  return field('list', schema, options, { default: fallback, knownItem });
}

export function group(options: Options & { fields: Fields }): Field {
  return field('group', objectSchema(options.fields), options, { fields: options.fields });
}

/** customerId may be named by customerExternalId instead. */
export function externalIdName(referenceName: string): string {
  return referenceName.replace(/Id$/, 'ExternalId');
}

export const externalIdSchema = { type: 'string', maxLength: 100, pattern: '\\S' };

/** Adds the field that keeps an external id behind each reference that may arrive in any order. */
export function withTwins(fields: Fields): Fields {
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, field]) =>
      field.reference && !field.reference.isOwner
        ? [
            [name, field],
            [externalIdName(name), twinOf(name, field)],
          ]
        : [[name, field]],
    ),
  );
}

function twinOf(name: string, { de }: Field): Field {
  const description = `Your own id of it, instead of \`${name}\`. Kept, and answered, until an object has this external id.`;
  return field('text', externalIdSchema, { de: `${de} externe ID`, description }, { twinOf: name });
}

/**
 * The schema of an object with these fields. Unknown members are allowed: they are ignored and named in the answer. The
 * validation, not the schema, demands that one of its two ids names an owner.
 */
export function objectSchema(fields: Fields): JsonSchema {
  const entries = Object.entries(fields);
  const required = entries.filter(([, field]) => field.isRequired && !field.reference?.isOwner);
  return {
    type: 'object',
    properties: Object.fromEntries(
      entries.flatMap(([name, { schema, reference }]) => [
        [name, schema],
        ...(reference?.isOwner
          ? [
              [
                externalIdName(name),
                { ...externalIdSchema, description: `Your own id of it, instead of \`${name}\`.` },
              ],
            ]
          : []),
      ]),
    ),
    ...(required.length > 0 && { required: required.map(([name]) => name) }),
  };
}
