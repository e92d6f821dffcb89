// The statement that searches several resources, and what it returns of each object.
import type { SearchedText } from '../../../core/search-match.ts';
import { columnName, type Definition, type Step, tableOf } from '../../engine/definition/definition.ts';
import { matchingIds } from '../../engine/read/search.ts';

export interface FoundRow {
  type: string;
  id: string;
  /** By path; a missing value is null. */
  texts: Record<string, string | null>;
  /** In the order of the definition's paths. */
  names: (string | null)[];
}

/** As many as are ranked. An object may be found by several words: a search collects more. */
const rankedOfEach = 60;
const wanted = 1000;

/** $1 is the tenant, $2 the searched text. */
export function buildSearch(definition: Definition, all: readonly Definition[], isTolerant: boolean): string {
  const { names, words, codes, phones, through } = definition.searchedBy;
  const isText = (path: string) => definition.fields[path]?.kind !== 'date';
  const texts = [...names, ...words, ...codes, ...phones].map(
    (path) => `'${path}', left(subject.${columnName(path.split('.'))}${isText(path) ? '' : '::text'}, 200)`,
  );
  const found = matchingIds(definition, '$2', { wanted, isTolerant });
  return `SELECT '${definition.name}' AS type, subject.id, json_build_object(${texts.join(', ')}) AS texts,
      json_build_array(${through.map((steps) => nameThrough(steps, all)).join(', ')}) AS names
    FROM ${definition.table} AS subject
    WHERE subject.tenant_id = $1 AND subject.id = ANY ((SELECT ids[1:${rankedOfEach}] FROM ${found})::uuid[])`;
}

function nameThrough(steps: readonly Step[], all: readonly Definition[]): string {
  const [[field, resource], ...further] = steps as [Step, ...Step[]];
  const last = all.find(({ name }) => name === steps.at(-1)![1])!;
  const joins = further.map(
    ([reference, next], index) => `JOIN ${tableOf(next)} AS step_${index + 1}
      ON step_${index + 1}.tenant_id = $1 AND step_${index + 1}.id = step_${index}.${columnName([reference])}`,
  );
  return `(SELECT ${titleOf(last, `step_${further.length}`)} FROM ${tableOf(resource)} AS step_0 ${joins.join(' ')}
    WHERE step_0.tenant_id = $1 AND step_0.id = subject.${columnName([field])})`;
}

/** An SQL expression: what people call an object. */
function titleOf({ searchedBy: { names }, uniqueFields }: Definition, alias: string): string {
  const columns = names
    .filter((name) => !uniqueFields.includes(name))
    .map((name) => `${alias}.${columnName([name])}`);
  return isPersonName(names)
    ? `concat_ws(' ', ${alias}.first_name, ${alias}.last_name)`
    : `coalesce(${columns.length > 0 ? columns.join(', ') : 'NULL'})`;
}

export function isPersonName(names: readonly string[]): boolean {
  return names.includes('firstName') && names.includes('lastName');
}

export function searchedTexts({ searchedBy }: Definition, row: FoundRow): SearchedText[] {
  const { names, words, codes, phones, through } = searchedBy;
  const own = (paths: readonly string[], kind: SearchedText['kind']) =>
    paths.flatMap((field) => (row.texts[field] ? [{ field, text: row.texts[field], kind }] : []));
  return [
    ...own(names, 'name'),
    ...own(codes, 'code'),
    ...own(phones, 'phone'),
    ...own(words, 'word'),
    ...through.flatMap((steps, place) => {
      const text = row.names[place];
      return text ? [{ field: steps.map(([field]) => field).join('.'), text, kind: 'through' as const }] : [];
    }),
  ];
}
