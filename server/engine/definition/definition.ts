// What a resource is: data from which its routes, validation, OpenAPI, SQL, import and export follow.
import type { AttentionCode } from '../../../core/codes.ts';
import type { Steps } from '../../../core/pace.ts';
import type { HolidayRule } from '../../../core/visit-plan.ts';
import type { Language } from '../../messages.ts';
import { externalIdName, externalIdSchema, type Field, type Fields, text, withTwins } from './fields.ts';

export interface Definition {
  /** Singular, as in the journal and in imports: "site", "contact-person". */
  readonly name: string;
  /** Its table, in snake_case. */
  readonly table: string;
  /** Where it is created, below /api/v1. */
  readonly path: string;
  /** Where it is found, below /api/v1, without a slash: "sites". */
  readonly collection: string;
  readonly title: string;
  readonly de: string;
  /** What several of them are called. */
  readonly plural: Record<Language, string>;
  readonly description: string;
  /** Whether an object can be a person, who has a right to export and erasure. */
  readonly isPersonal: boolean;
  readonly fields: Fields;
  /** Fields whose value only one object of a tenant may have. */
  readonly uniqueFields: readonly string[];
  /** Pairs of days of which the second must not be before the first. */
  readonly dateOrders: readonly (readonly [earlier: string, later: string])[];
  /** Of each of these at least one must be there. */
  readonly requiredOneOf: readonly (readonly string[])[];
  /** The field that people call it by; lists sort by it. */
  readonly nameField: string;
  readonly searchedBy: SearchedBy;
  /** What must be equal beside the name to make two objects probably the same. */
  readonly duplicateFields: readonly string[] | undefined;
  /** What else the office should look at: an SQL condition on the table. */
  readonly attentions: readonly Attention[];
  /** Fields that the role Pflege may change in the office. */
  readonly careFields: readonly string[];
  /** Fields that the role Pflege does not see in the office. */
  readonly hiddenFromCare: readonly string[];
  /** A body that can be sent unchanged, after the examples of the resources that it names. */
  readonly example: { readonly externalId: string; readonly [field: string]: unknown };
}

/** Where the search looks. All but `through` are paths of fields. */
export interface SearchedBy {
  /** The table's search_text: what people call it, and its own numbers. */
  readonly names: readonly string[];
  /** Tolerant of typing errors, like the names. */
  readonly words: readonly string[];
  /** By their beginning, with any punctuation. */
  readonly codes: readonly string[];
  /** By their digits, however written. */
  readonly phones: readonly string[];
  /** Names of other objects: each a path of references from this one. */
  readonly through: readonly (readonly Step[])[];
}

/** A field that refers to an object of the resource. */
export type Step = readonly [field: string, resource: string];

export interface Attention {
  readonly code: AttentionCode;
  readonly field: string;
  /** On the columns of the table, which is named "subject". */
  readonly condition: string;
  /** SQL text of the finding: a dismissed entry comes back when this changes. */
  readonly finding: string;
  /** Decides about the rows that meet the condition, where SQL cannot. */
  readonly judge?: Judge;
}

export interface Judge {
  /** SQL of the values that it needs, by their names. */
  readonly columns: Readonly<Record<string, string>>;
  /** Columns of json among them, which have no longest length. */
  readonly lists: readonly string[];
  // biome-ignore lint/suspicious/noExplicitAny: the columns say which members a row has
  needsAttention(row: any, business: Business): Steps<boolean>;
}

/** What a judge knows about the business. */
export interface Business {
  holidayRule: HolidayRule;
  /** YYYY-MM-DD. */
  today: string;
}

type Defaulted =
  | 'isPersonal'
  | 'uniqueFields'
  | 'dateOrders'
  | 'requiredOneOf'
  | 'duplicateFields'
  | 'attentions'
  | 'careFields'
  | 'hiddenFromCare';

export function defineResource(
  definition: Omit<Definition, Defaulted | 'searchedBy'> &
    Partial<Pick<Definition, Defaulted>> & { readonly searchedBy?: Partial<SearchedBy> },
): Definition {
  const complete: Definition = {
    isPersonal: false,
    dateOrders: [],
    requiredOneOf: [],
    duplicateFields: undefined,
    attentions: [],
    careFields: [],
    hiddenFromCare: [],
    ...definition,
    fields: { ...withTwins(definition.fields), externalId },
    uniqueFields: ['externalId', ...(definition.uniqueFields ?? [])],
    searchedBy: {
      names: [...new Set([definition.nameField, ...(definition.uniqueFields ?? [])])],
      words: [],
      phones: [],
      through: Object.entries(definition.fields).flatMap(([field, { reference }]) =>
        reference?.isOwner ? [[[field, reference.resources[0]!] as const]] : [],
      ),
      ...definition.searchedBy,
      codes: ['externalId', ...(definition.searchedBy?.codes ?? [])],
    },
  };
  refuseTakenColumns(complete);
  refuseTextsBeyondIndex(complete);
  return complete;
}

/** Columns that every table has, and those that the engine's statements put beside a row's own. */
const engineColumns = [
  ...['tenant_id', 'id', 'version', 'created_at', 'updated_at'],
  ...['actor', 'actor_id', 'request_id', 'origin', 'changes'],
  ...['place', 'is_same', 'external_id_holder', 'crowded_id'],
];

/** PostgreSQL would refuse the statements, or take one column for the other. */
function refuseTakenColumns(definition: Definition): void {
  const taken = new Set(engineColumns);
  const derived = [
    ...shapeColumnsOf(definition).map(({ name, list }) => ({ name, path: list.path })),
    ...ownersOf(definition).map(({ externalColumn, externalName }) => ({
      name: externalColumn,
      path: [externalName],
    })),
  ];
  for (const { name, path } of [...columnsOf(definition.fields), ...derived]) {
    if (taken.has(name) || /^(resolved|found)_/.test(name)) {
      throw new Error(
        `${definition.name}: "${path.join('.')}" needs another name: the column ${name} is taken.`,
      );
    }
    taken.add(name);
  }
}

/** In characters. An index entry holds 2704 bytes: the tenant, up to four bytes per character, and the id. */
const longestIndexedText = 600;

/** Writing a longer text would fail in PostgreSQL, with a 500. */
function refuseTextsBeyondIndex({ name, fields, uniqueFields, nameField }: Definition): void {
  for (const { path, field } of columnsOf(fields)) {
    const step = path.join('.');
    const isIndexed = field.filter === 'whole' || uniqueFields.includes(step) || nameField === step;
    if (field.kind !== 'text' || field.schema.enum || !isIndexed) continue;
    const { maxLength = Number.POSITIVE_INFINITY } = field.schema as { maxLength?: number };
    if (maxLength > longestIndexedText) {
      throw new Error(
        `${name}: "${step}" is indexed and needs a maxLength of at most ${longestIndexedText}, or filter: 'start'.`,
      );
    }
  }
}

const externalId = text({
  de: 'Externe ID',
  maxLength: externalIdSchema.maxLength,
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
  list: 'json',
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

/** Columns with values unique per tenant. The external id comes first: a retry needs its holder. */
export function uniqueColumnsOf({ fields, uniqueFields }: Definition): Column[] {
  const columns = columnsOf(fields);
  return uniqueFields.flatMap((name) => columns.filter(({ path }) => path.join('.') === name));
}

/** Columns that say whether a list has the known shape. The attention list need not look into it. */
export function shapeColumnsOf(definition: Definition): { name: string; list: Column }[] {
  return columnsOf(definition.fields)
    .filter(({ field }) => field.knownItem)
    .map((list) => ({ name: `${list.name}_is_known`, list }));
}

/** address.location.lat is address_location_lat. */
export function columnName(path: readonly string[]): string {
  return path.map((step) => step.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)).join('_');
}

/** Characters of a text that its start column holds. */
export const startLength = 100;

export function startColumn({ name }: Column): string {
  return `${name}_start`;
}

/** How a resource names others: the column of the id, its other name in a body, and its table. */
export interface Reference {
  readonly column: Column;
  readonly externalName: string;
  /** Of a row that is written. Stored only while nothing has the external id, and never for an owner. */
  readonly externalColumn: string;
  /** Looked through in this order. */
  readonly resources: readonly string[];
  readonly isOwner: boolean;
}

/** An owner is of one kind. */
export interface Owner extends Reference {
  readonly resource: string;
  readonly table: string;
}

export function referencesOf(definition: Definition): Reference[] {
  return columnsOf(definition.fields).flatMap((column) => {
    const { reference } = column.field;
    if (!reference) return [];
    const externalName = externalIdName(column.path[0]!);
    return [{ column, externalName, externalColumn: columnName([externalName]), ...reference }];
  });
}

export function ownersOf(definition: Definition): Owner[] {
  return referencesOf(definition)
    .filter(({ isOwner }) => isOwner)
    .map((reference) => {
      const resource = reference.resources[0]!;
      return { ...reference, resource, table: tableOf(resource) };
    });
}

/** References whose objects may arrive later. */
export function looseReferencesOf(definition: Definition): Reference[] {
  return referencesOf(definition).filter(({ isOwner }) => !isOwner);
}

/** Resources that keep references to objects of this one until they arrive. */
export function referrersOf(definition: Definition, all: readonly Definition[]): Definition[] {
  return all.filter((other) =>
    looseReferencesOf(other).some(({ resources }) => resources.includes(definition.name)),
  );
}

/** What may be owned by objects of this resource. */
export function dependantsOf(definition: Definition, all: readonly Definition[]): Definition[] {
  return all.filter((other) => ownersOf(other).some(({ resource }) => resource === definition.name));
}

export function tableOf(resource: string): string {
  return resource.replaceAll('-', '_');
}

/** Whether each row has a value. A member of a group is always there only if the group is. */
export function isAlwaysStored({ fields }: Definition, { path, field }: Column): boolean {
  if (field.default !== undefined) return true;
  let members = fields;
  return path.every((step) => {
    const { isRequired, fields: inner = {} } = members[step]!;
    members = inner;
    return isRequired;
  });
}
