// The definitions of all resources, from which tables, pages and forms follow.
import { queryOptions, useSuspenseQuery } from '@tanstack/react-query';
import i18next from 'i18next';
import type { Definition, Titles } from '../../../core/definition/definition.ts';
import { nameOf } from '../../../core/definition/names.ts';
import { formatDay, formatMoney } from '../texts/format.ts';
import { currentLanguage } from '../texts/language.ts';
import { call } from './client.ts';

export {
  type Definition,
  type Entity,
  type Field,
  isMoney,
  leavesOf,
  setAt,
  valueAt,
} from '../../../core/definition/definition.ts';

export const definitionsQuery = queryOptions({
  queryKey: ['definitions'],
  queryFn: ({ signal }) => call<Definition[]>('GET', '/definitions', { signal }),
  staleTime: Number.POSITIVE_INFINITY,
});

/** Resources in the order in which an office thinks of them. Other resources follow. */
const order = [
  ...['customer', 'site', 'plant', 'container', 'contact-person', 'contract', 'product', 'employee'],
  ...['appointment', 'absence'],
];

function place(name: string): number {
  return order.includes(name) ? order.indexOf(name) : order.length;
}

export function useDefinitions(): Definition[] {
  const { data } = useSuspenseQuery(definitionsQuery);
  return data.toSorted((one, other) => place(one.name) - place(other.name));
}

export function useDefinition(collection: string): Definition | undefined {
  return useDefinitions().find((definition) => definition.collection === collection);
}

export function titleOf(thing: { title: Titles }): string {
  const title = thing.title[currentLanguage()];
  // English titles follow from names, and a person who sees a customer does not think of its id.
  return 'reference' in thing && thing.reference ? title.replace(/ id$/, '') : title;
}

/** The title of a resource as it is written inside a sentence. */
export function nounOf(definition: Definition, count: 'one' | 'many' = 'one'): string {
  const noun = count === 'one' ? titleOf(definition) : pluralOf(definition);
  return currentLanguage() === 'de' ? noun : noun.toLowerCase();
}

export function pluralOf(definition: Definition): string {
  return definition.plural[currentLanguage()];
}

/** Display name of an object. A number or name that may be missing gives way to the next best thing. */
export function labelOf(definition: Definition, entity: Record<string, unknown>): string {
  // An id of another system says less than the kind and start of a contract.
  const candidates = [
    daysLabel(definition, entity),
    nameOf(definition, entity),
    termLabel(definition, entity),
    entity.externalId,
  ];
  const label = candidates.find((candidate) => typeof candidate === 'string' && candidate.trim() !== '');
  return (label as string | undefined) ?? `${titleOf(definition)} ${String(entity.id ?? '').slice(-6)}`;
}

/** Name of a record that people call by its days: "24.12.2026", "21.12.2026 – 08.01.2027". */
function daysLabel(definition: Definition, entity: Record<string, unknown>): string | undefined {
  const { nameField, fields, dateOrders } = definition;
  if (fields.find(({ name }) => name === nameField)?.kind !== 'date') return undefined;
  const last = dateOrders.find(([first]) => first === nameField)?.[1];
  const days = [entity[nameField], last && entity[last]].filter((day) => typeof day === 'string');
  return [...new Set(days)].map((day) => formatDay(day)).join(' – ');
}

/** A contract without a number: "Pflege ab 01.03.2026". */
function termLabel(definition: Definition, entity: Record<string, unknown>): string | undefined {
  const type = definition.fields.find(({ name }) => name === 'type');
  const choice = type?.choices?.find(({ value }) => value === entity.type);
  if (!choice || typeof entity.startDate !== 'string') return undefined;
  return i18next.t('record.term', { type: titleOf(choice), day: formatDay(entity.startDate) });
}

/** A second line that tells two of the same name apart. */
export function hintOf(definition: Definition, entity: Record<string, unknown>): string {
  const address = entity.address as Record<string, string> | undefined;
  const place = address && [
    `${address.streetName} ${address.houseNumber}`.trim(),
    `${address.zipCode} ${address.city}`.trim(),
  ];
  const label = labelOf(definition, entity);
  const ownNumbers = definition.uniqueFields.filter((field) => field !== 'externalId');
  const numbers = [...ownNumbers, 'externalId'].map((field) => entity[field]);
  const own = [
    ...(place ?? []),
    definition.nameField === 'botanicalName' && entity.commonName,
    entity.role,
    entity.phone ?? entity.mobile,
    ...(definition.name === 'contract' ? contractHints(definition, entity) : []),
    definition.name === 'product' &&
      typeof entity.netPrice === 'number' &&
      formatMoney(entity.netPrice, entity.currency),
    // Two numbers say no more than one.
    !numbers.includes(label) && numbers.find(Boolean),
  ];
  return own
    .filter((part) => typeof part === 'string' && part !== '' && part !== label)
    .slice(0, 2)
    .join(', ');
}

function contractHints({ fields }: Definition, { endDate, status }: Record<string, unknown>) {
  const choices = fields.find(({ name }) => name === 'status')?.choices;
  const choice = choices?.find(({ value }) => value === status);
  return [
    typeof endDate === 'string' && i18next.t('record.validUntil', { until: formatDay(endDate) }),
    choice && titleOf(choice),
  ];
}
