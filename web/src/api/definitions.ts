// The definitions of all resources, from which tables, pages and forms follow.
import { queryOptions, useSuspenseQuery } from '@tanstack/react-query';
import { currentLanguage, type Language } from '../texts/language.ts';
import { call } from './client.ts';

type Titles = Record<Language, string>;

export interface Field {
  name: string;
  /** "address.city" */
  path: string;
  kind: 'text' | 'choice' | 'flag' | 'integer' | 'decimal' | 'double' | 'date' | 'uuid' | 'list' | 'group';
  title: Titles;
  isRequired: boolean;
  /** Of a text: whether it may be there and empty. */
  isBlankAllowed?: boolean;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  choices?: { value: string; title: Titles }[];
  format?: string;
  default?: unknown;
  reference?: { resources: string[]; isOwner: boolean };
  fields?: Field[];
  description: string;
}

export interface Definition {
  name: string;
  /** Where it is found: "sites". */
  collection: string;
  /** Where it is created: "/customer/site". */
  path: string;
  title: Titles;
  plural: Titles;
  nameField: string;
  description: string;
  fields: Field[];
  uniqueFields: string[];
  requiredOneOf: string[][];
  dateOrders: [string, string][];
  sorts: string[];
  filters: { name: string; path: string }[];
}

/** An object as the service answers it. */
export interface Entity {
  id: string;
  version: number;
  createdAt: string;
  updatedAt: string;
  [field: string]: unknown;
}

export const definitionsQuery = queryOptions({
  queryKey: ['definitions'],
  queryFn: ({ signal }) => call<Definition[]>('GET', '/definitions', { signal }),
  staleTime: Number.POSITIVE_INFINITY,
});

/** In the order in which an office thinks of them; whatever else there is comes after. */
const order = ['customer', 'site', 'plant', 'container', 'contact-person', 'contract', 'product', 'employee'];

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

const longTitles: Record<string, string> = { Lat: 'Latitude', Lng: 'Longitude' };

export function titleOf(thing: { title: Titles }): string {
  // English titles follow from names, and a person who sees a customer does not think of its id.
  const title = longTitles[thing.title[currentLanguage()]] ?? thing.title[currentLanguage()];
  return 'reference' in thing && thing.reference ? title.replace(/ id$/, '') : title;
}

/** As it is written inside a sentence. */
export function nounOf(definition: Definition, count: 'one' | 'many' = 'one'): string {
  const noun = count === 'one' ? titleOf(definition) : pluralOf(definition);
  return currentLanguage() === 'de' ? noun : noun.toLowerCase();
}

export function pluralOf(definition: Definition): string {
  return definition.plural[currentLanguage()];
}

/** Every field that holds a value, members of groups included. */
export function leavesOf(fields: readonly Field[]): Field[] {
  return fields.flatMap((field) => (field.fields ? leavesOf(field.fields) : [field]));
}

export function valueAt(source: unknown, path: string): unknown {
  let value = source;
  for (const step of path.split('.')) value = (value as Record<string, unknown> | undefined)?.[step];
  return value ?? undefined;
}

/** What people call an object. A number or name that may be missing gives way to the next best thing. */
export function labelOf(definition: Definition, entity: Record<string, unknown>): string {
  const name = [entity.firstName, entity.lastName].filter(Boolean).join(' ');
  const candidates = [
    definition.nameField === 'lastName' ? name : entity[definition.nameField],
    entity.name,
    entity.commonName,
    ...definition.uniqueFields.map((field) => entity[field]),
  ];
  const label = candidates.find((candidate) => typeof candidate === 'string' && candidate.trim() !== '');
  return (label as string | undefined) ?? `${titleOf(definition)} ${String(entity.id ?? '').slice(-6)}`;
}

/** A second line that tells two of the same name apart. */
export function hintOf(definition: Definition, entity: Record<string, unknown>): string {
  const address = entity.address as Record<string, string> | undefined;
  const place = address && [
    `${address.streetName} ${address.houseNumber}`.trim(),
    `${address.zipCode} ${address.city}`.trim(),
  ];
  const own = [
    ...(place ?? []),
    definition.nameField === 'botanicalName' && entity.commonName,
    entity.role,
    ...definition.uniqueFields.map((field) => entity[field]),
  ];
  return own
    .filter((part) => typeof part === 'string' && part !== '' && part !== labelOf(definition, entity))
    .slice(0, 2)
    .join(', ');
}
