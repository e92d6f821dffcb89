// Finds stored objects that need attention. No entry is stored: each is a condition that holds now, and disappears with its
// cause.
import type pg from 'pg';
import type { AttentionCode } from '../../../core/codes.ts';
import { Pace, type Steps } from '../../../core/pace.ts';
import type { HolidayRule } from '../../../core/visit-plan.ts';
import { type Language, text } from '../../messages.ts';
import {
  type Business,
  columnName,
  columnsOf,
  type Definition,
  type Judge,
  looseReferencesOf,
  shapeColumnsOf,
  tableOf,
} from '../definition/definition.ts';
import type { Fields } from '../definition/fields.ts';

import { currentId } from './former-names.ts';

export interface AttentionCheck {
  resource: string;
  field: string;
  code: AttentionCode;
  /** Rows of the table, named "subject", that need attention. */
  table: string;
  condition: string;
  /** SQL text of the finding: a dismissed entry comes back when this changes. */
  finding: string;
  /** No index has the answer: the check reads every row. */
  needsScan: boolean;
  /** For duplicates, which are one entry: a condition on the object that stands for all, and the other ids. */
  group?: { isFirst: string; others: string };
  judge?: Judge | undefined;
}

export interface AttentionEntry {
  resource: string;
  id: string;
  field: string;
  code: AttentionCode;
  message: string;
  /** Of duplicates: the other objects. */
  duplicateIds?: string[];
}

export function attentionChecksOf(definition: Definition): AttentionCheck[] {
  const { name: resource, table } = definition;
  const check = (
    code: AttentionCode,
    field: string,
    condition: string,
    finding: string,
    needsScan = false,
  ): AttentionCheck => ({
    resource,
    field,
    code,
    table,
    condition,
    finding,
    needsScan,
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
          true,
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
    ...(definition.duplicateFields
      ? [
          {
            ...check(
              'probable_duplicate',
              definition.nameField,
              `EXISTS (SELECT ${twins(definition)})`,
              `(SELECT string_agg(other.id::text, ',' ORDER BY other.id) ${twins(definition)})`,
              true,
            ),
            group: {
              isFirst: `NOT EXISTS (SELECT ${twins(definition)} AND other.id < subject.id)`,
              others: `(SELECT array_agg(twin.id) FROM (SELECT other.id ${twins(definition)} ORDER BY other.id LIMIT ${maxDuplicates}) AS twin)`,
            },
          },
        ]
      : []),
    ...definition.attentions.map(({ code, field, condition, finding, needsScan = false, judge }) => ({
      ...check(code, field, condition, finding, needsScan),
      judge,
    })),
  ];
}

/** Named in one entry. */
const maxDuplicates = 20;

/** A look-up per row. The planner would compare each row with all rows of the tenant, since the id is a sub-select. */
function unresolved(column: string, resources: readonly string[]): string {
  const found = resources.map(
    (resource) =>
      `SELECT FROM ${tableOf(resource)} AS named WHERE named.tenant_id = subject.tenant_id AND named.id = sought.id`,
  );
  return `${column} IS NOT NULL AND NOT EXISTS (
      SELECT FROM (SELECT ${currentId(column, 'subject.tenant_id')} AS id OFFSET 0) AS sought,
        LATERAL (${found.join(' UNION ALL ')} LIMIT 1) AS found)`;
}

/** The paths of groups with a latitude and a longitude. */
function positionsOf(fields: Fields, parents: readonly string[]): string[][] {
  return Object.entries(fields).flatMap(([name, { fields: members }]) => {
    if (!members) return [];
    const path = [...parents, name];
    return members.lat && members.lng ? [path] : positionsOf(members, path);
  });
}

/** The same folded name, and equal values in the other fields that the definition names. */
function twins(definition: Definition): string {
  const equal = columnsOf(definition.fields)
    .filter(({ path }) => definition.duplicateFields!.includes(path.join('.')))
    // A plain equality, where it can be one, lets PostgreSQL hash instead of comparing each with each.
    .map(
      ({ name, field }) => `other.${name} ${field.isRequired ? '=' : 'IS NOT DISTINCT FROM'} subject.${name}`,
    );
  return `FROM ${definition.table} AS other WHERE other.tenant_id = subject.tenant_id
    AND other.sort_name = subject.sort_name AND other.id <> subject.id AND ${equal.join(' AND ')}`;
}

/** SQL of an object with what a judge needs; `true` where there is none. */
export function selectJudged({ judge }: Pick<AttentionCheck, 'judge'>): string {
  if (!judge) return "'true'::json";
  return `json_build_object(${Object.entries(judge.columns)
    .map(([name, sql]) => `'${name}', ${sql}`)
    .join(', ')})`;
}

export function* isJudged(
  { judge }: Pick<AttentionCheck, 'judge'>,
  judged: unknown,
  business: Business,
): Steps<boolean> {
  return !judge || (yield* judge.needsAttention(judged, business));
}

/** By a statement of its own: on a cluster it is on the coordinator, and the objects are on workers. */
export async function readBusiness(client: pg.ClientBase, tenantId: string): Promise<Business> {
  const { rows } = await client.query<{ holidayRule: HolidayRule }>(
    'SELECT holiday_rule AS "holidayRule" FROM tenant WHERE tenant_id = $1',
    [tenantId],
  );
  return { ...rows[0]!, today: Temporal.Now.plainDateISO('UTC').toString() };
}

/** The entries of one row, as this transaction sees it. */
export async function findAttentionOf(
  client: pg.ClientBase,
  checks: readonly AttentionCheck[],
  row: { tenant_id: string; id: string },
  language: Language,
): Promise<AttentionEntry[]> {
  const entries: AttentionEntry[] = [];
  const pace = new Pace();
  let business: Business | undefined;
  for (const check of checks) {
    const { resource, field, code, table, condition } = check;
    const { rows } = await client.query<{ judged: unknown }>(
      `SELECT ${selectJudged(check)} AS judged FROM ${table} AS subject
       WHERE subject.tenant_id = $1 AND subject.id = $2 AND (${condition})`,
      [row.tenant_id, row.id],
    );
    if (!rows[0]) continue;
    if (check.judge) business ??= await readBusiness(client, row.tenant_id);
    if (business && !(await pace.run(isJudged(check, rows[0].judged, business)))) continue;
    entries.push({ resource, id: row.id, field, code, message: text(code, language) });
  }
  return entries;
}
