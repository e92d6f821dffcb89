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

/** What an office wants to see at first. A resource without an entry begins with its first fields. */
const firstColumns: Record<string, string[]> = {
  customer: ['address', 'customerNumber', 'phone', 'status'],
  site: ['customerId', 'address', 'assignedEmployeeId', 'hasKey'],
  plant: ['commonName', 'siteId', 'room', 'quantity', 'status'],
  container: ['siteId', 'cultureSystem', 'material', 'color', 'labelCode'],
  'contact-person': ['customerId', 'role', 'phone', 'email'],
  contract: ['customerId', 'type', 'startDate', 'endDate', 'netPrice', 'status'],
  product: ['kind', 'articleNumber', 'netPrice', 'active'],
  employee: ['employeeNumber', 'phone', 'email', 'active'],
};

export function useColumns(definition: Definition) {
  const { t } = useTranslation();
  const choosable: Column[] = [
    ...definition.fields.flatMap((field): Column[] => {
      if (field.twinOf) return [];
      if (!field.fields) return [{ id: field.path, title: titleOf(field), field }];
      const members = leavesOf(field.fields).map((member) => ({
        id: member.path,
        title: `${titleOf(field)}: ${titleOf(member)}`,
        field: member,
      }));
      return isAddress(field) ? [{ id: field.path, title: titleOf(field) }, ...members] : members;
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
  return {
    choosable,
    shown: choosable.filter(({ id }) => chosen.includes(id)),
    toggle: (id: string) =>
      setChosen(chosen.includes(id) ? chosen.filter((other) => other !== id) : [...chosen, id]),
    reset: () => setChosen(standard),
  };
}

export function isAddress(field: Field): boolean {
  return field.fields?.some(({ name }) => name === 'streetName') ?? false;
}

export function addressText(value: unknown): string {
  const {
    streetName = '',
    houseNumber = '',
    zipCode = '',
    city = '',
  } = (value ?? {}) as Record<string, string>;
  return [`${streetName} ${houseNumber}`.trim(), `${zipCode} ${city}`.trim()].filter(Boolean).join(', ');
}
