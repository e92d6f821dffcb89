// A definition as the web app gets it, and as the shared rules for files read it.
import type {
  Definition as Description,
  Field as FieldDescription,
} from '../../../core/definition/definition.ts';
import { emptiableOf, type Filter, filtersOf, rangesOf, takesSeveral } from '../read/list-filters.ts';
import { sortNamesOf } from '../read/list-query.ts';
import type { Definition } from './definition.ts';
import type { Field, Fields } from './fields.ts';

export function describeDefinition(definition: Definition): Description {
  const { name, collection, path, title, de, plural, description, nameField } = definition;
  const { uniqueFields, requiredOneOf, dateOrders, careFields } = definition;
  return {
    name,
    collection,
    path,
    title: { en: title, de },
    plural,
    description,
    nameField,
    fields: describeFields(definition.fields),
    uniqueFields,
    requiredOneOf,
    dateOrders,
    searchedBy: describeSearch(definition),
    careFields,
    sorts: sortNamesOf(definition),
    filters: [
      ...filtersOf(definition).map((filter) => ({
        ...describeFilter(filter),
        kind: takesSeveral(filter) ? ('several' as const) : ('one' as const),
      })),
      ...rangesOf(definition).map((filter) => ({ ...describeFilter(filter), kind: 'range' as const })),
    ],
    emptiable: emptiableOf(definition).map(({ name }) => name),
  };
}

function describeFilter({ name, column }: Filter) {
  return { name, path: column.path.join('.') };
}

function describeSearch({ searchedBy }: Definition): Description['searchedBy'] {
  const { names, words, codes, phones, through } = searchedBy;
  return {
    names,
    fields: [...names, ...words, ...phones, ...codes],
    codes,
    phones,
    through: through.map((steps) => steps.map(([field, resource]) => ({ field, resource }))),
  };
}

export function describeFields(fields: Fields, parents: readonly string[] = []): FieldDescription[] {
  return Object.entries(fields).map(([name, field]) => describeField(name, field, [...parents, name]));
}

/** The keywords of a field's JSON Schema that forms need. */
interface Limits {
  description: string;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  maxItems?: number;
  format?: string;
  pattern?: string;
}

function describeField(name: string, field: Field, path: readonly string[]): FieldDescription {
  const { schema, choiceTitles } = field;
  const { maxLength, minimum, maximum, maxItems, format, pattern, description } = schema as unknown as Limits;
  return {
    name,
    path: path.join('.'),
    kind: choiceTitles ? 'choice' : field.kind,
    title: { en: field.en ?? englishTitle(name), de: field.de },
    description,
    isRequired: field.isRequired,
    isBlankAllowed: field.kind === 'text' && !choiceTitles ? pattern === undefined : undefined,
    maxLength,
    minimum,
    maximum,
    maxItems,
    knownItem: field.knownItem?.title,
    format: field.kind === 'text' ? format : undefined,
    choices: choiceTitles && [...choiceTitles].map(([value, title]) => ({ value, title })),
    default: field.default,
    reference: field.reference,
    twinOf: field.twinOf,
    fields: field.fields && describeFields(field.fields, path),
  };
}

const abbreviations = new Set(['gtin', 'vat']);

/** houseNumber is "House number". */
function englishTitle(name: string): string {
  const words = name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`).split(' ');
  const written = words.map((word) => (abbreviations.has(word) ? word.toUpperCase() : word)).join(' ');
  return written[0]!.toUpperCase() + written.slice(1);
}
