// The filters of a table, and their names in its address.
import type { ListFilter } from '../../../core/definition/definition.ts';
import { type Definition, type Field, leavesOf } from '../api/definitions.ts';

/** Values by the name of the parameter. */
export type Filters = Record<string, string>;

export interface FilterProps {
  definition: Definition;
  filters: Filters;
  onChange: (changes: Record<string, string | undefined>) => void;
}

export interface FilterField extends ListFilter {
  field: Field;
}

/** The filters with the fields that they look at, those that people use most first. */
export function filterFieldsOf(definition: Definition): FilterField[] {
  const fields = new Map(leavesOf(definition.fields).map((field) => [field.path, field]));
  const rank = ({ field }: FilterField) =>
    ['choice', 'flag', 'uuid', 'date', 'decimal', 'text'].indexOf(field.kind) +
    (field.name === 'externalId' ? 10 : 0);
  return definition.filters
    .flatMap((filter) => {
      const field = fields.get(filter.path);
      return field ? [{ ...filter, field }] : [];
    })
    .sort((one, other) => rank(one) - rank(other));
}

/** The parameters of a table's address that filter. */
export function filterParametersOf(definition: Definition): string[] {
  const names = definition.filters.flatMap(({ name, kind }) =>
    kind === 'range' ? [`${name}From`, `${name}Until`] : [name],
  );
  return [...names, 'empty', 'filled'];
}

/** Filters that a new record has to meet: one value each. */
export function singleValuesOf(definition: Definition, filters: Filters): Filters {
  return Object.fromEntries(
    definition.filters.flatMap(({ name, kind }) => {
      const value = filters[name];
      return value === undefined || (kind === 'several' && value.includes(',')) ? [] : [[name, value]];
    }),
  );
}
