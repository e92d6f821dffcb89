// Definition of a resource: data from which its routes, validation, OpenAPI, SQL, import and export follow.

import type { HolidayRule } from '../../../core/calendar/visit-plan.ts';
import type { AttentionCode } from '../../../core/definition/codes.ts';
import type { Steps } from '../../../core/pace.ts';
import type { Language } from '../../messages.ts';
import { externalIdName, externalIdSchema, type Field, type Fields, text, withTwins } from './fields.ts';

export interface Definition {
  /** Singular, as in the journal and in imports: "site", "contact-person". */
  readonly name: string;
  /** Its table, in snake_case. */
  readonly table: string;
  /** Path of its creation, below /api/v1. */
  readonly path: string;
  /** Path of its list, below /api/v1, without a slash: "sites". */
  readonly collection: string;
  readonly title: string;
  readonly de: string;
  /** The plural label. */
  readonly plural: Record<Language, string>;
  readonly description: string;
  /** Whether an object can be a person, who has a right to export and erasure. */
  readonly isPersonal: boolean;
  readonly fields: Fields;
  /** Fields whose value only one object of a tenant may have. */
  readonly uniqueFields: readonly string[];
  /** Fields whose values only one object of a tenant may have together. An object without one of them has no such values. */
  readonly uniqueTogether: readonly (readonly string[])[];
  /** Pairs of days of which the second must not be before the first. */
  readonly dateOrders: readonly (readonly [earlier: string, later: string])[];
  /** At least one of each group must be present. */
  readonly requiredOneOf: readonly (readonly string[])[];
  /** The field that people call it by; lists sort by it. */
  readonly nameField: string;
  readonly searchedBy: SearchedBy;
  /** Fields that must be equal, beside the name, in probable duplicates. */
  readonly duplicateFields: readonly string[] | undefined;
  /** Other reasons for the office to look at an object: an SQL condition on the table. */
  readonly attentions: readonly Attention[];
  /** Fields that the role Pflege may change in the office. */
  readonly careFields: readonly string[];
  /** Fields that the role Pflege does not see in the office. */
  readonly hiddenFromCare: readonly string[];
  /** Whether the role Pflege sees none of its objects in the office. */
  readonly isHiddenFromCare: boolean;
  /** A body that can be sent unchanged, after the examples of the resources that it names. */
  readonly example: { readonly externalId: string; readonly [field: string]: unknown };
}

/** Fields that the search reads. All but `through` are paths of fields. */
export interface SearchedBy {
  /** The table's search_text: what people call it, and its own numbers. */
  readonly names: readonly string[];
  /** Fields searched by words. The search tolerates typing errors, as in names. */
  readonly words: readonly string[];
  /** Fields searched by their beginning, with any punctuation. */
  readonly codes: readonly string[];
  /** Fields searched by their digits, in any notation. */
  readonly phones: readonly string[];
  /** Names of other objects: each a path of references from this one. */
  readonly through: readonly (readonly Step[])[];
}

/** A field that refers to an object of the resource. */
export type Step = readonly [field: string, resource: string];

export interface Attention {
  readonly code: AttentionCode;
  readonly field: string;
  /** SQL over the columns of the table, which is named "subject". */
  readonly condition: string;
  /** SQL text of the finding: a dismissed entry comes back when this changes. */
  readonly finding: string;
  /** Resources that the condition reads through a reference: more of them than whether the object is there. */
  readonly reads?: readonly string[];
  /** Decides about the rows that meet the condition, where SQL cannot. */
  readonly judge?: Judge;
}

export interface Judge {
  /** SQL of the values that it needs, by their names. */
  readonly columns: Readonly<Record<string, string>>;
  /** JSON columns among them, which have no maximum length. */
  readonly lists: readonly string[];
  // biome-ignore lint/suspicious/noExplicitAny: the columns say which members a row has
  judge(row: any, business: Business): Steps<Verdict>;
}

export interface Verdict {
  needsAttention: boolean;
  /** YYYY-MM-DD: the last day on which it holds if the row and the business stay as they are. Absent means for ever. */
  until?: string;
}

/** Facts about the business that a judge can use. */
export interface Business {
  holidayRule: HolidayRule;
  /** YYYY-MM-DD. */
  today: string;
}

type Defaulted =
  | 'isPersonal'
  | 'uniqueFields'
  | 'uniqueTogether'
  | 'dateOrders'
  | 'requiredOneOf'
  | 'duplicateFields'
  | 'attentions'
  | 'careFields'
  | 'hiddenFromCare'
  | 'isHiddenFromCare';

export function defineResource(
  definition: Omit<Definition, Defaulted | 'searchedBy'> &
    Partial<Pick<Definition, Defaulted>> & { readonly searchedBy?: Partial<SearchedBy> },
): Definition {
  const complete: Definition = {
    isPersonal: false,
    uniqueTogether: [],
    dateOrders: [],
    requiredOneOf: [],
    duplicateFields: undefined,
    attentions: [],
    careFields: [],
    hiddenFromCare: [],
    isHiddenFromCare: false,
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
  refuseTakenMembers(complete);
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

/** An object has its fields and those that it refers to beside each other. */
function refuseTakenMembers(definition: Definition): void {
  for (const reference of referencesOf(definition)) {
    const name = embeddedName(reference);
    if (name in definition.fields)
      throw new Error(`${definition.name}: "${name}" needs another name: "${name}Id" is embedded under it.`);
  }
}

/** Limit in characters. An index entry holds 2704 bytes: the tenant, up to four bytes per character, and the id. */
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

export const externalId = text({
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

const columns = new WeakMap<Fields, readonly Column[]>();

/** Caches the columns: a start asks for the same ones hundreds of times. */
export function columnsOf(fields: Fields): readonly Column[] {
  return columns.getOrInsertComputed(fields, () => findColumns(fields, []));
}

function findColumns(fields: Fields, parents: readonly string[]): Column[] {
  return Object.entries(fields).flatMap(([name, field]) => {
    const path = [...parents, name];
    return field.fields ? findColumns(field.fields, path) : [{ name: columnName(path), path, field }];
  });
}

/** Columns with values unique per tenant. The external id comes first: a retry needs its holder. */
export function uniqueColumnsOf({ fields, uniqueFields }: Definition): Column[] {
  const columns = columnsOf(fields);
  return uniqueFields.flatMap((name) => columns.filter(({ path }) => path.join('.') === name));
}

/** Columns whose values are unique together. */
export function uniqueGroupsOf({ fields, uniqueTogether }: Definition): Column[][] {
  const columns = columnsOf(fields);
  return uniqueTogether.map((names) =>
    names.flatMap((name) => columns.filter(({ path }) => path.join('.') === name)),
  );
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

/** PostgreSQL takes these as a column only in quotes, or behind a dot. A test compares them with its own list. */
export const reservedWords: ReadonlySet<string> = new Set(
  `all analyse analyze and any array as asc asymmetric authorization binary both case cast check collate collation column
  concurrently constraint create cross current_catalog current_date current_role current_schema current_time
  current_timestamp current_user default deferrable desc distinct do else end except false fetch for foreign freeze from
  full grant group having ilike in initially inner intersect into is isnull join lateral leading left like limit localtime
  localtimestamp natural not notnull null offset on only or order outer overlaps placing primary references returning
  right select session_user similar some symmetric system_user table tablesample then to trailing true union unique user
  using variadic verbose when where window with`.split(/\s+/),
);

/** A column's name where no table stands before it. */
export function bareName(name: string): string {
  return reservedWords.has(name) ? `"${name}"` : name;
}

/** Characters of a text that its start column holds. */
export const startLength = 100;

export function startColumn({ name }: Column): string {
  return `${name}_start`;
}

/** A reference to another object: the column of its id, its other name in a body, and its resources. */
export interface Reference {
  readonly column: Column;
  readonly externalName: string;
  /** The external id in a written row. It is stored only while no object has it, and never for an owner. */
  readonly externalColumn: string;
  /** Resources that can have the object, searched in this order. */
  readonly resources: readonly string[];
  readonly isOwner: boolean;
}

/** An owner belongs to exactly one resource. */
export interface Owner extends Reference {
  readonly resource: string;
  readonly table: string;
}

const references = new WeakMap<Definition, readonly Reference[]>();

/** Caches the references: each merge of a body asks for them. */
export function referencesOf(definition: Definition): readonly Reference[] {
  return references.getOrInsertComputed(definition, findReferences);
}

function findReferences({ fields }: Definition): Reference[] {
  return columnsOf(fields).flatMap((column) => {
    const { reference } = column.field;
    if (!reference) return [];
    const externalName = externalIdName(column.path[0]!);
    return [{ column, externalName, externalColumn: columnName([externalName]), ...reference }];
  });
}

/** The name of the object behind a reference: customerId leads to customer. */
export function embeddedName({ column }: Reference): string {
  return column.path[0]!.replace(/Id$/, '');
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

/** Resources whose objects can belong to this one. */
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
