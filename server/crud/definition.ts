// What a resource is: data from which its routes, validation, OpenAPI and SQL follow.
import { type Field, type Fields, text } from './fields.ts';

export interface Definition {
  /** Singular, as in URLs and the journal: "site", "contact-person". */
  readonly name: string;
  /** Its table, in snake_case. */
  readonly table: string;
  /** Where it is created, below /api/v1. */
  readonly path: string;
  readonly title: string;
  readonly description: string;
  readonly fields: Fields;
  /** Fields whose value only one object of a tenant may have. */
  readonly uniqueFields: readonly string[];
  /** Pairs of days of which the second must not be before the first. */
  readonly dateOrders: readonly (readonly [earlier: string, later: string])[];
  /** A body that can be sent as it is, but for its ids. */
  readonly example: object;
}

export function defineResource(
  definition: Omit<Definition, 'uniqueFields' | 'dateOrders'> &
    Partial<Pick<Definition, 'uniqueFields' | 'dateOrders'>>,
): Definition {
  return {
    dateOrders: [],
    ...definition,
    fields: { ...definition.fields, externalId },
    uniqueFields: ['externalId', ...(definition.uniqueFields ?? [])],
  };
}

const externalId = text({
  maxLength: 100,
  mayBeEmpty: false,
  description: 'The id of this object in your own system, unique among your objects of this type.',
  example: 'ERP-4711',
});

/** A column and the field that fills it. */
export interface Column {
  readonly name: string;
  readonly path: readonly string[];
  readonly field: Field;
}

const sqlTypes = {
  text: 'text',
  flag: 'boolean',
  integer: 'bigint',
  decimal: 'numeric',
  double: 'double precision',
  date: 'date',
  uuid: 'uuid',
  list: 'jsonb',
} as const;

export function sqlType({ field }: Column): string {
  return sqlTypes[field.kind as keyof typeof sqlTypes];
}

export function columnsOf(fields: Fields, parents: readonly string[] = []): Column[] {
  return Object.entries(fields).flatMap(([name, field]) => {
    const path = [...parents, name];
    return field.fields ? columnsOf(field.fields, path) : [{ name: columnName(path), path, field }];
  });
}

/** address.location.lat is address_location_lat. */
export function columnName(path: readonly string[]): string {
  return path.map((step) => step.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)).join('_');
}
