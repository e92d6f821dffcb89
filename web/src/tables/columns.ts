// The columns of a table: every field of the resource, of which the chosen ones are shown and remembered.
import { useLocalStorage } from '@mantine/hooks';
import { useTranslation } from 'react-i18next';
import { type Definition, type Field, leavesOf, titleOf } from '../api/definitions.ts';

export interface Column {
  id: string;
  title: string;
  /** Missing where the value is made of several fields, or kept by the service. */
  field?: Field;
  sort?: string;
}

/** Columns that a table shows at first. A resource without an entry begins with its first fields. */
const firstColumns: Record<string, string[]> = {
  customer: ['address', 'customerNumber', 'phone', 'status'],
  site: ['customerId', 'address', 'assignedEmployeeId', 'hasKey'],
  plant: ['commonName', 'siteId', 'room', 'quantity', 'status'],
  container: ['siteId', 'cultureSystem', 'material', 'color', 'labelCode'],
  'contact-person': ['customerId', 'role', 'phone', 'email'],
  contract: ['customerId', 'type', 'startDate', 'endDate', 'netPrice', 'status'],
  product: ['kind', 'articleNumber', 'netPrice', 'active'],
  employee: ['employeeNumber', 'phone', 'email', 'active'],
  appointment: ['siteId', 'plannedDate', 'timeFrom', 'employeeId', 'status'],
  absence: ['employeeId', 'until', 'substituteEmployeeId', 'reason'],
};

export function useColumns(definition: Definition) {
  const { t } = useTranslation();
  const sortOf = (path: string) => {
    const filter = definition.filters.find((candidate) => candidate.path === path);
    return filter && definition.sorts.includes(filter.name) ? filter.name : undefined;
  };
  const choosable: Column[] = [
    ...definition.fields.flatMap((field): Column[] => {
      if (field.twinOf) return [];
      if (!field.fields) return [{ id: field.path, title: titleOf(field), field, sort: sortOf(field.path) }];
      const members = leavesOf(field.fields).map((member) => ({
        id: member.path,
        title: `${titleOf(field)}: ${titleOf(member)}`,
        field: member,
        sort: sortOf(member.path),
      }));
      // An address is written with the street first, and sorted by what people look for: the town.
      return isAddress(field)
        ? [{ id: field.path, title: titleOf(field), sort: sortOf(`${field.path}.city`) }, ...members]
        : members;
    }),
    { id: 'createdAt', title: t('table.createdAt'), sort: 'createdAt' },
    { id: 'updatedAt', title: t('table.updatedAt'), sort: 'updatedAt' },
  ].filter(({ id }) => id !== definition.nameField);
  const standard =
    firstColumns[definition.name] ??
    choosable
      .filter(({ field }) => field && field.kind !== 'list')
      .map(({ id }) => id)
      .slice(0, 4);
  const [chosen, setChosen] = useLocalStorage<string[]>({
    key: `stamm-columns-${definition.name}`,
    defaultValue: standard,
    getInitialValueInEffect: false,
  });
  const [widths, setWidths] = useLocalStorage<Record<string, number>>({
    key: `stamm-column-widths-${definition.name}`,
    defaultValue: {},
    getInitialValueInEffect: false,
  });
  const byId = new Map(choosable.map((column) => [column.id, column]));
  return {
    choosable,
    /** The shown columns, in the order that the person chose. */
    shown: chosen.flatMap((id) => byId.get(id) ?? []),
    widths,
    choose: setChosen,
    toggle: (id: string) =>
      setChosen(chosen.includes(id) ? chosen.filter((other) => other !== id) : [...chosen, id]),
    move: (id: string, steps: number) => setChosen(moved(chosen, id, steps)),
    resize: (id: string, width: number) => setWidths({ ...widths, [id]: width }),
    reset: () => {
      setChosen(standard);
      setWidths({});
    },
  };
}

function moved(ids: readonly string[], id: string, steps: number): string[] {
  const rest = ids.filter((other) => other !== id);
  rest.splice(Math.max(0, ids.indexOf(id) + steps), 0, id);
  return rest;
}

export type Columns = ReturnType<typeof useColumns>;

export type Density = 'normal' | 'compact';

/** One choice for all tables of this browser. */
export function useDensity() {
  return useLocalStorage<Density>({
    key: 'stamm-density',
    defaultValue: 'normal',
    getInitialValueInEffect: false,
  });
}

export function isAddress(field: Field): boolean {
  return field.fields?.some(({ name }) => name === 'streetName') ?? false;
}

export function addressText(value: unknown): string {
  return addressParts(value).join(', ');
}

/** Street with number, postcode with town. */
export function addressParts(value: unknown): string[] {
  const {
    streetName = '',
    houseNumber = '',
    zipCode = '',
    city = '',
  } = (value ?? {}) as Record<string, string>;
  return [`${streetName} ${houseNumber}`.trim(), `${zipCode} ${city}`.trim()].filter(Boolean);
}

export function isNumber({ field }: Column): boolean {
  return field !== undefined && ['integer', 'decimal', 'double'].includes(field.kind);
}

export function widthOf(widths: Record<string, number>, id: string) {
  const width = widths[id];
  return width === undefined ? undefined : { minWidth: width, maxWidth: width, width };
}
