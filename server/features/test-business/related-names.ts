// The names of the people and customers that an object belongs to: a code such as "MUELLER-7" must not tell them.
import {
  columnName,
  columnsOf,
  type Definition,
  referencesOf,
  type Step,
  tableOf,
} from '../../engine/definition/definition.ts';

/** Fields that say who somebody is. */
export const identifyingFields = ['companyName', 'firstName', 'lastName', 'email', 'phone', 'mobile'];

/** SQL of an array of text over the row "subject". */
export function relatedNames(definition: Definition, resources: readonly Definition[]): string {
  const direct = referencesOf(definition).flatMap(({ column, resources: targets }) =>
    targets.map((target): readonly Step[] => [[column.path.join('.'), target]]),
  );
  const found = [...direct, ...definition.searchedBy.through].flatMap((steps) => {
    const target = resources.find(({ name, isPersonal }) => isPersonal && name === steps.at(-1)![1]);
    return target ? [namesAt(steps, target)] : [];
  });
  return found.length > 0 ? `ARRAY(${[...new Set(found)].join(' UNION ALL ')})` : `'{}'::text[]`;
}

function namesAt(steps: readonly Step[], target: Definition): string {
  const [[field, resource], ...further] = steps as [Step, ...Step[]];
  const joins = further.map(
    ([reference, next], index) => `JOIN ${tableOf(next)} AS step_${index + 1}
      ON step_${index + 1}.tenant_id = subject.tenant_id AND step_${index + 1}.id = step_${index}.${columnName([reference])}`,
  );
  const names = columnsOf(target.fields)
    .filter(({ path }) => identifyingFields.includes(path.join('.')))
    .map(({ name }) => `step_${further.length}.${name}`);
  return `SELECT unnest(ARRAY[${names.join(', ')}]) FROM ${tableOf(resource)} AS step_0 ${joins.join(' ')}
    WHERE step_0.tenant_id = subject.tenant_id AND step_0.id = subject.${columnName([field])}`;
}
