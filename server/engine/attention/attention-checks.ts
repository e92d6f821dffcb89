// Finds stored objects that need attention. No entry is stored: each is a condition that holds now, and disappears with its
// cause.
import type { AttentionCode } from '../../../core/definition/codes.ts';
import { unreadMarks } from '../../../core/table/import-lines.ts';
import {
  columnName,
  columnsOf,
  type Definition,
  type Judge,
  looseReferencesOf,
  shapeColumnsOf,
  tableOf,
} from '../definition/definition.ts';
import type { Fields } from '../definition/fields.ts';

export interface AttentionCheck {
  resource: string;
  field: string;
  code: AttentionCode;
  /** Rows of the table, named "subject", that need attention. */
  table: string;
  condition: string;
  /** SQL text of the finding: a dismissed entry comes back when this changes. */
  finding: string;
  /** Duplicates are one entry: the other ids, and a condition on the object that stands for all. */
  group?: {
    others: string;
    /** Groups the whole table of tenant $1 once, for checks of many rows. */
    isFirst: string;
    /** The same of any member, and of rows with the names of the objects in $5. */
    isMember: string;
    isNamedMember: string;
    /** All other ids, one more than `maxMembers` at most. */
    allOthers: string;
  };
  judge?: Judge | undefined;
}

export interface AttentionEntry {
  resource: string;
  id: string;
  field: string;
  code: AttentionCode;
  message: string;
  /** The other objects of a duplicate. */
  duplicateIds?: string[];
}

const checksOf = new WeakMap<Definition, readonly AttentionCheck[]>();

/** The same checks for each caller. */
export function attentionChecksOf(definition: Definition): readonly AttentionCheck[] {
  return checksOf.getOrInsertComputed(definition, buildChecks);
}

function buildChecks(definition: Definition): AttentionCheck[] {
  const { name: resource, table } = definition;
  const check = (code: AttentionCode, field: string, condition: string, finding: string): AttentionCheck => ({
    resource,
    field,
    code,
    table,
    condition,
    finding,
  });
  return [
    ...columnsOf(definition.fields)
      .filter(({ field }) => field.reference && !field.reference.isOwner)
      .map(({ name, path, field }) =>
        check(
          'unresolved_reference',
          path.join('.'),
          unresolved(`subject.${name}`, field.reference!.resources),
          `subject.${name}::text`,
        ),
      ),
    ...looseReferencesOf(definition).map(({ externalName, externalColumn }) =>
      check(
        'pending_reference',
        externalName,
        `subject.${externalColumn} IS NOT NULL`,
        `subject.${externalColumn}`,
      ),
    ),
    ...shapeColumnsOf(definition).map(({ name, list }) =>
      check(
        'unknown_shape',
        list.path.join('.'),
        `NOT subject.${name}`,
        `subject.${columnName(list.path)}::text`,
      ),
    ),
    ...positionsOf(definition.fields, []).map((path) =>
      check(
        'half_position',
        path.join('.'),
        `(subject.${columnName([...path, 'lat'])} IS NULL) <> (subject.${columnName([...path, 'lng'])} IS NULL)`,
        `concat_ws(' ', subject.${columnName([...path, 'lat'])}, subject.${columnName([...path, 'lng'])})`,
      ),
    ),
    ...(definition.fields.comment
      ? [check('unread_cell', 'comment', `(${hasUnreadMark})`, 'subject.comment')]
      : []),
    ...(definition.duplicateFields
      ? [
          {
            ...check(
              'probable_duplicate',
              definition.nameField,
              `EXISTS (SELECT ${twins(definition)})`,
              `(SELECT string_agg(other.id::text, ',' ORDER BY other.id) ${twins(definition)})`,
            ),
            group: {
              // Most names are unique, and nothing is grouped before a row has a namesake.
              isFirst: `CASE WHEN EXISTS (SELECT ${namesakes(definition)} OFFSET 0) THEN subject.id IN (${firstTwins(definition)}) ELSE false END`,
              isMember: `CASE WHEN EXISTS (SELECT ${namesakes(definition)} OFFSET 0) THEN subject.id IN (${allTwins(definition)}) ELSE false END`,
              isNamedMember: `subject.id IN (${allTwins(
                definition,
                `AND other.sort_name IN (SELECT named.sort_name FROM ${definition.table} AS named WHERE named.tenant_id = $1 AND named.id = ANY ($5))`,
              )})`,
              others: firstOthers(definition, maxDuplicates),
              allOthers: firstOthers(definition, maxMembers + 1),
            },
          },
        ]
      : []),
    ...definition.attentions.map(({ code, field, condition, finding, judge }) => ({
      ...check(code, field, condition, finding),
      judge,
    })),
  ];
}

const hasUnreadMark = Object.values(unreadMarks)
  .map((mark) => `strpos(subject.comment, '${mark}') > 0`)
  .join(' OR ');

/** Maximum number of duplicates that one entry names. */
export const maxDuplicates = 20;
/** Longest group of duplicates whose ids are kept. */
export const maxMembers = 100;

/** Looks up each row: without OFFSET, the planner would read the table of all tenants into memory. */
function unresolved(column: string, resources: readonly string[]): string {
  const isThere = (id: string) =>
    resources.map(
      (resource) =>
        `EXISTS (SELECT FROM ${tableOf(resource)} AS named WHERE named.tenant_id = subject.tenant_id AND named.id = ${id} OFFSET 0)`,
    );
  return `${column} IS NOT NULL AND NOT (${isThere(column).join(' OR ')})
    AND NOT EXISTS (SELECT FROM former_id AS former WHERE former.tenant_id = subject.tenant_id AND former.former_id = ${column}
      AND (${isThere('former.id').join(' OR ')}) OFFSET 0)`;
}

/** The paths of groups with a latitude and a longitude. */
function positionsOf(fields: Fields, parents: readonly string[]): string[][] {
  return Object.entries(fields).flatMap(([name, { fields: members }]) => {
    if (!members) return [];
    const path = [...parents, name];
    return members.lat && members.lng ? [path] : positionsOf(members, path);
  });
}

/** Objects with the same folded name, and equal values in the other fields that the definition names. */
function twins(definition: Definition): string {
  const equal = duplicateColumns(definition).map(
    ({ name, field }) => `other.${name} ${field.isRequired ? '=' : 'IS NOT DISTINCT FROM'} subject.${name}`,
  );
  return `${namesakes(definition)} AND ${equal.join(' AND ')}`;
}

function namesakes({ table }: Definition): string {
  return `FROM ${table} AS other WHERE other.tenant_id = subject.tenant_id AND other.sort_name = subject.sort_name
    AND other.id <> subject.id`;
}

/** The smallest id of each group of twins. */
function firstTwins(definition: Definition): string {
  return `SELECT min(other.id::text COLLATE "C")::uuid ${groups(definition)}`;
}

function allTwins(definition: Definition, isMeant = ''): string {
  return `SELECT unnest(array_agg(other.id)) ${groups(definition, isMeant)}`;
}

function groups(definition: Definition, isMeant = ''): string {
  const columns = ['sort_name', ...duplicateColumns(definition).map(({ name }) => name)];
  return `FROM ${definition.table} AS other WHERE other.tenant_id = $1 ${isMeant}
    GROUP BY ${columns.map((name) => `other.${name}`).join(', ')} HAVING count(*) > 1`;
}

function firstOthers(definition: Definition, most: number): string {
  return `(SELECT array_agg(twin.id) FROM (SELECT other.id ${twins(definition)} ORDER BY other.id LIMIT ${most}) AS twin)`;
}

function duplicateColumns({ fields, duplicateFields }: Definition) {
  return columnsOf(fields).filter(({ path }) => duplicateFields!.includes(path.join('.')));
}
