// The definitions as the web app needs them: its tables, forms and import follow from what this answers.
import type { FastifyInstance } from 'fastify';
import type { Definition } from '../crud/definition.ts';
import type { Field, Fields } from '../crud/fields.ts';
import { filtersOf, sortNames } from '../crud/reads.ts';
import { englishTitle } from '../crud/titles.ts';

export async function definitionRoutes(
  app: FastifyInstance,
  { resources }: { resources: readonly Definition[] },
): Promise<void> {
  const described = resources.map(describe);
  app.get('/definitions', { config: { access: 'SELF' } }, async () => described);
}

function describe(definition: Definition) {
  const { name, collection, path, title, de, plural, description, nameField } = definition;
  const { uniqueFields, requiredOneOf, dateOrders } = definition;
  return {
    name,
    collection,
    path,
    title: { en: title, de },
    plural,
    description,
    nameField,
    fields: describeFields(definition.fields, []),
    uniqueFields,
    requiredOneOf,
    dateOrders,
    sorts: sortNames,
    filters: filtersOf(definition).map((filter) => ({
      name: filter.name,
      path: filter.column.path.join('.'),
    })),
  };
}

function describeFields(fields: Fields, parents: readonly string[]): object[] {
  return Object.entries(fields).map(([name, field]) => describeField(name, field, [...parents, name]));
}

function describeField(name: string, field: Field, path: readonly string[]) {
  const { schema, choiceTitles } = field;
  const { maxLength, minimum, maximum, maxItems, format, pattern, description } = schema;
  return {
    name,
    path: path.join('.'),
    kind: choiceTitles ? 'choice' : field.kind,
    title: { en: englishTitle([name]), de: field.de },
    description,
    isRequired: field.isRequired,
    // Of a text: whether it must hold more than white space where it is there.
    isBlankAllowed: field.kind === 'text' && !choiceTitles ? pattern === undefined : undefined,
    maxLength,
    minimum,
    maximum,
    maxItems,
    format: field.kind === 'text' ? format : undefined,
    choices: choiceTitles && [...choiceTitles].map(([value, title]) => ({ value, title })),
    default: field.default,
    reference: field.reference,
    fields: field.fields && describeFields(field.fields, path),
  };
}
