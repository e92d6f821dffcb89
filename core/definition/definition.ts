// A resource as the service describes it to the web app, and to itself where it reads and writes files.
export type Titles = Record<'de' | 'en', string>;

export interface Field {
  name: string;
  /** "address.city" */
  path: string;
  kind: 'text' | 'choice' | 'flag' | 'integer' | 'decimal' | 'double' | 'date' | 'uuid' | 'list' | 'group';
  title: Titles;
  isRequired: boolean;
  /** A text that can be present and empty. */
  isBlankAllowed?: boolean;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  /** Items of a list. */
  maxItems?: number;
  /** Title of the shape that a list's items should have. */
  knownItem?: string;
  choices?: readonly { value: string; title: Titles }[];
  format?: string;
  default?: unknown;
  reference?: { readonly resources: readonly string[]; readonly isOwner: boolean };
  /** Marks the external id of an object that does not exist yet: the name of the reference that waits for it. */
  twinOf?: string;
  fields?: readonly Field[];
  description: string;
}

export interface Definition {
  name: string;
  /** Path of its list: "sites". */
  collection: string;
  /** Path of its creation: "/customer/site". */
  path: string;
  title: Titles;
  plural: Titles;
  nameField: string;
  description: string;
  fields: readonly Field[];
  uniqueFields: readonly string[];
  requiredOneOf: readonly (readonly string[])[];
  dateOrders: readonly (readonly [earlier: string, later: string])[];
  searchedBy: {
    /** Paths of the fields that name it, and of all that the search looks in. */
    names: readonly string[];
    fields: readonly string[];
    codes: readonly string[];
    phones: readonly string[];
    /** References to objects by whose names it is found, step by step. */
    through: readonly (readonly { field: string; resource: string }[])[];
  };
  /** Fields that the role Pflege may change. */
  careFields: readonly string[];
  sorts: readonly string[];
  filters: readonly ListFilter[];
  /** Filters that also find what has no value. */
  emptiable: readonly string[];
}

export interface ListFilter {
  name: string;
  path: string;
  /** A range has two parameters, "…From" and "…Until". Several values are separated by commas. */
  kind: 'one' | 'several' | 'range';
}

/** An object as the service answers it. */
export interface Entity {
  id: string;
  version: number;
  createdAt: string;
  updatedAt: string;
  [field: string]: unknown;
}

/** Every field that holds a value, members of groups included. */
export function leavesOf(fields: readonly Field[]): Field[] {
  return fields.flatMap((field) => (field.fields ? leavesOf(field.fields) : [field]));
}

export function valueAt(source: unknown, path: string): unknown {
  let value = source;
  for (const step of path.split('.')) value = (value as Record<string, unknown> | undefined)?.[step];
  return value ?? undefined;
}

export function setAt(target: Record<string, unknown>, path: string, value: unknown): void {
  const steps = path.split('.');
  const last = steps.pop()!;
  let place = target;
  for (const step of steps) {
    place[step] ??= {};
    place = place[step] as Record<string, unknown>;
  }
  place[last] = value;
}

/** An amount in the currency of the business. */
export function isMoney(field: Field): boolean {
  return field.kind === 'decimal' && /(Price|Fee)$/.test(field.name);
}
