// The call of matching_ids() for a resource: where it looks follows from the definition.
import { columnName, type Definition, type Step, tableOf } from '../definition/definition.ts';
import { describedItems } from '../write/search-words.ts';

const longestQuery = 200;

/** The searched words; a telephone number that stands alone is one word. */
export function searchTokens(text: string): string[] {
  const asked = text.slice(0, longestQuery).replaceAll('\0', ' ').toWellFormed().trim();
  const digits = asked.replaceAll(/[^\d+]/g, '');
  if (/^[+0][\d\s()/.-]+$/.test(asked) && digits.length > 5) return [digits];
  return asked.split(/\s+/).filter(Boolean);
}

/** Maximum number of matches that a list pages through. matching_ids() has the same bound. */
export const allMatches = 100_000;

/**
 * SQL for FROM: one row with the array `ids` of objects that match the tokens in `parameter`, and `is_whole`, false if
 * there are more. The tenant is $1.
 */
export function matchingIds(
  definition: Definition,
  parameter: string,
  { wanted, isTolerant }: { wanted: number; isTolerant: boolean },
): string {
  const { through } = definition.searchedBy;
  const owners = through.map((steps) => quote(tableOf(steps.at(-1)![1])));
  const expansions = through.map((steps) => quote(expandOwners(definition, steps)));
  return `matching_ids($1, '${definition.table}', ${parameter}, ${wanted}, ${isTolerant}, ${quote(describe(definition))},
    ARRAY[${owners.join(', ')}]::text[], ARRAY[${expansions.join(', ')}]::text[])`;
}

/** Leads from owners' ids in $2 to at most $3 objects that belong to them. */
function expandOwners({ table }: Definition, steps: readonly Step[]): string {
  const hops = steps.map(([field], index) => {
    const from = index === 0 ? table : tableOf(steps[index - 1]![1]);
    const target = index === steps.length - 1 ? 'owner' : `hop_${index + 1}`;
    return `LATERAL (SELECT id FROM ${from} WHERE tenant_id = $1 AND ${columnName([field])} = ${target}.id LIMIT $3) AS hop_${index}`;
  });
  return `SELECT hop_0.id FROM unnest($2::uuid[]) AS owner (id), ${hops.toReversed().join(', ')} LIMIT $3`;
}

/** All words of the row named "found", and of the names that it is found through. */
function describe(definition: Definition): string {
  const names = definition.searchedBy.through.map((steps) => {
    const [[field, resource], ...further] = steps as [Step, ...Step[]];
    const joins = further.map(
      ([reference, next], index) => `JOIN ${tableOf(next)} AS step_${index + 1}
        ON step_${index + 1}.tenant_id = $1 AND step_${index + 1}.id = step_${index}.${columnName([reference])}`,
    );
    return `(SELECT space_words(step_${further.length}.search_text) FROM ${tableOf(resource)} AS step_0 ${joins.join(' ')}
      WHERE step_0.tenant_id = $1 AND step_0.id = found.${columnName([field])})`;
  });
  const items = describedItems(definition, 'found');
  return `concat_ws(' ', space_words(found.search_text), ${[...items, ...names].join(', ')})`;
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "''").replaceAll(/\s+/g, ' ')}'`;
}
