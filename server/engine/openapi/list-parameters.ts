// The parameters that say which objects a list or an export has, and in which order.
import { type Definition, referencesOf } from '../definition/definition.ts';
import { externalIdSchema, type JsonSchema } from '../definition/fields.ts';
import { type Filter, filtersOf, maxIds, maxListed, rangesOf, takesSeveral } from '../read/list-filters.ts';
import { fileInclusions, sortNamesOf } from '../read/list-query.ts';
import { inclusionsOf, maxFields } from '../read/object-form.ts';
import { severalOf } from './parameters.ts';
import { schemaName } from './resource-schemas.ts';

const externalIdsWords = '`externalIds` adds your own ids of the objects that are referred to.';

/** Members that lists and reads have for each object. */
export function formParameterDocs(definition: Definition): Record<string, JsonSchema> {
  const inclusions = inclusionsOf(definition);
  const [, embedded] = inclusions;
  const words = embedded
    ? `${externalIdsWords} Each other value adds the object behind that reference, if it exists, beside its id.`
    : externalIdsWords;
  return {
    include: {
      ...severalOf({ type: 'string', enum: inclusions }, maxFields),
      description: words,
      examples: [[embedded ?? 'externalIds']],
    },
    fields: {
      ...fieldsParameter(['externalId', 'updatedAt']),
      description:
        'Only these fields, and `id`. A dot leads into a group or into an included object, and a field of it includes it. Required fields that are not chosen are absent.',
    },
  };
}

export function fieldsParameter(example: readonly string[]): JsonSchema {
  return { ...severalOf({ type: 'string' }, maxFields), examples: [example] };
}

export function searchParameterDocs(definition: Definition): Record<string, JsonSchema> {
  const filters = filtersOf(definition).map((filter) => [filter.name, filterDocs(filter)]);
  const ranges = rangesOf(definition).flatMap(({ name, column: { field } }) =>
    [
      ['From', 'at least this'],
      ['Until', 'at most this'],
    ].map(([end, words]) => [
      `${name}${end}`,
      {
        ...filterSchema(field.schema),
        ...limitsOf(field.schema),
        description: `Filter, ${words}: ${field.schema.description}`,
      },
    ]),
  );
  const fields = severalOf({ $ref: `${schemaName(definition)}FieldName#` });
  const references = referencesOf(definition).map(({ externalName, column }) => [
    externalName,
    { type: 'string', description: `Filter: ${column.field.schema.description} By your own id.` },
  ]);
  return {
    sort: {
      type: 'string',
      enum: sortNamesOf(definition),
      default: 'createdAt',
      description: 'Sort order; prefix with - to reverse.',
    },
    q: {
      type: 'string',
      description: `Search in the fields that the list names. All words must match, in any of these. Words may have typing errors; numbers and codes match by their beginning. Case, accents and letters of other languages do not matter: "Lodz" finds "Łódź", "Muller" and "Mueller" find "Müller". The list pages through all matches. If more than about 100,000 match, it holds 1,000 of them and says \`truncated\`; files are rejected with \`too_many_matches\`.`,
    },
    include: { type: 'string', enum: fileInclusions, description: externalIdsWords },
    updatedSince: { type: 'string', format: 'date-time', description: 'Only what changed since.' },
    ...Object.fromEntries([...filters, ...ranges]),
    empty: { ...fields, description: 'Filter: fields that have no value.' },
    filled: { ...fields, description: 'Filter: fields that have a value.' },
    id: { ...severalOf({ type: 'string', format: 'uuid' }, maxIds), description: 'Filter: ids.' },
    externalId: {
      type: 'string',
      description: `Filter: your own ids, up to ${maxListed} of at most ${externalIdSchema.maxLength} characters, separated by commas.`,
      examples: ['ERP-4711,ERP-4712'],
    },
    ...Object.fromEntries(references),
  };
}

function filterDocs(filter: Filter): JsonSchema {
  const { field } = filter.column;
  const { description, ...schema } = field.schema;
  if (field.kind === 'flag') return { type: 'boolean', description: `Filter: ${description}` };
  if (!takesSeveral(filter)) return { ...filterSchema(schema), description: `Filter: ${description}` };
  return {
    ...severalOf(filterSchema(schema), maxListed),
    description: `Filter, one or several: ${description}`,
  };
}

/** Ranges take no value that no object can have. */
function limitsOf({ minimum }: JsonSchema): JsonSchema {
  return minimum === undefined ? {} : { minimum };
}

function filterSchema({ type, format, enum: choices }: JsonSchema): JsonSchema {
  return { type, ...(format !== undefined && { format }), ...(choices !== undefined && { enum: choices }) };
}

/** "`name`, `address.city`, and the names behind `customerId`" */
export function listSearched({ searchedBy: { names, words, phones, codes, through } }: Definition): string {
  const fields = [...names, ...words, ...phones, ...codes].map((path) => `\`${path}\``).join(', ');
  if (through.length === 0) return fields;
  const references = through.map((steps) => `\`${steps.map(([field]) => field).join('.')}\``);
  return `${fields}, and the names behind ${references.join(', ')}`;
}
