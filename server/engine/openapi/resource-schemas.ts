// The schemas of a resource: the body that creates it, the body that changes it, the object, and a page.
import type { ObjectShape, Shape } from '../../../core/definition/shape.ts';
import {
  type Definition,
  embeddedName,
  externalId,
  ownersOf,
  referencesOf,
} from '../definition/definition.ts';
import {
  externalIdName,
  type Field,
  type Fields,
  type JsonSchema,
  objectSchema,
} from '../definition/fields.ts';
import { emptiableOf } from '../read/list-filters.ts';
import { reference } from './answers.ts';
import { storedExample } from './examples.ts';

/** "contact-person" is ContactPerson. */
export function schemaName({ name }: Pick<Definition, 'name'>): string {
  return name.replace(/(?:^|-)(\w)/g, (_, letter: string) => letter.toUpperCase());
}

export function resourceSchemas(definition: Definition): JsonSchema[] {
  const name = schemaName(definition);
  const thing = definition.title.toLowerCase();
  return [
    {
      $id: `New${name}`,
      title: `New ${thing}`,
      description: definition.description,
      ...creationSchema(definition),
    },
    {
      $id: `${name}Patch`,
      title: `Changes of a ${thing}`,
      description: 'The fields to change. `null` clears a field; fields that are not sent stay.',
      ...patchSchema(definition.fields),
    },
    {
      $id: name,
      title: definition.title,
      description: definition.description,
      ...storedSchema(definition),
      examples: [storedExample(definition)],
    },
    {
      $id: `${name}FieldName`,
      title: `Name of a field of a ${thing} that may have no value`,
      type: 'string',
      enum: emptiableOf(definition).map((field) => field.name),
    },
    {
      $id: `${name}Page`,
      title: `Page of ${definition.plural.en.toLowerCase()}`,
      allOf: [
        { $ref: 'Page#' },
        {
          type: 'object',
          properties: { data: { type: 'array', items: { $ref: `${name}#` } } },
          required: ['data'],
        },
      ],
    },
  ];
}

/** The shapes of list items that the office can show, and the lists of them that have a default. */
export function knownItemSchemas(resources: readonly Definition[]): JsonSchema[] {
  return resources
    .flatMap(({ fields }) => Object.values(fields))
    .filter((field) => field.knownItem)
    .flatMap((field) => {
      const shape = field.knownItem!;
      const item = { $id: shape.title, ...shapeSchema(shape) };
      if (field.default === undefined) return [item];
      return [item, { $id: `${shape.title}List`, title: `List of ${shape.title}`, ...listSchema(field) }];
    });
}

/** Groups of fields, such as the address, which several resources have alike. */
export function groupSchemas(resources: readonly Definition[]): JsonSchema[] {
  const groups = resources.flatMap(({ fields }) =>
    Object.entries(fields).filter(([, field]) => isShared(field) && field.fields),
  );
  return Object.entries(Object.fromEntries(groups)).flatMap(([name, { schema, fields }]) => {
    const title = componentName(name);
    return [
      { $id: title, title, ...schema },
      { $id: `${title}Patch`, title: `Changes of ${title}`, ...patchSchema(fields!) },
    ];
  });
}

/** Schemas with a component of their own. A group that can be absent stands where it is used: a patch takes `null` for it. */
function isShared(field: Field): boolean {
  return field === externalId || (field.fields !== undefined && field.isRequired);
}

function componentName(fieldName: string): string {
  return fieldName[0]!.toUpperCase() + fieldName.slice(1);
}

/**
 * Code generators make nothing useful of `anyOf` with one of two required ids. The description says it instead. They
 * also make fields with a default required, which puts the default into the description.
 */
function creationSchema(definition: Definition): JsonSchema {
  const { properties, ...rest } = objectSchema(definition.fields);
  const requiredOwners = new Set(
    ownersOf(definition)
      .filter(({ column }) => column.field.isRequired)
      .map(({ column }) => column.path[0]!),
  );
  const fields = Object.entries(properties as Record<string, JsonSchema>).map(([name, schema]) => {
    const field = definition.fields[name];
    if (field?.knownItem) return [name, newListSchema(field)];
    if (field && isShared(field)) return [name, { $ref: `${componentName(name)}#` }];
    if (requiredOwners.has(name))
      return [name, describe(schema, `Required unless \`${externalIdName(name)}\` is sent.`)];
    if (field?.default === undefined) return [name, schema];
    const { default: fallback, ...more } = schema;
    return [name, describe(more, `Default: \`${fallback}\`.`)];
  });
  return { ...rest, properties: Object.fromEntries(fields) };
}

/** Behind a reference, a default does not make generators require the list. */
function newListSchema(field: Field): JsonSchema {
  return field.default === undefined ? listSchema(field) : { $ref: `${field.knownItem!.title}List#` };
}

function describe(schema: JsonSchema, sentence: string): JsonSchema {
  return { ...schema, description: `${schema.description} ${sentence}` };
}

/** Every field is optional, and those that need no value can be cleared. Examples stand with the body that creates. */
function patchSchema(fields: Fields): JsonSchema {
  const { properties } = objectSchema(fields);
  const members = Object.entries(properties as Record<string, JsonSchema>).map(([name, schema]) => {
    const field = fields[name];
    if (field?.fields && isShared(field)) return [name, { $ref: `${componentName(name)}Patch#` }];
    if (field === externalId) return [name, { anyOf: [{ $ref: 'ExternalId#' }, { type: 'null' }] }];
    const {
      default: _default,
      examples: _examples,
      ...set
    } = field?.fields
      ? { ...patchSchema(field.fields), description: schema.description }
      : field?.knownItem
        ? listSchema(field)
        : schema;
    return [name, field && !field.isRequired ? orNull(set) : set];
  });
  return { type: 'object', properties: Object.fromEntries(members) };
}

function orNull(schema: JsonSchema): JsonSchema {
  const choices = schema.enum as unknown[] | undefined;
  return { ...schema, type: [schema.type, 'null'], ...(choices && { enum: [...choices, null] }) };
}

function storedSchema(definition: Definition): JsonSchema {
  const { fields } = definition;
  const externalIds = referencesOf(definition).map(({ externalName, column, isOwner }) => [
    externalName,
    {
      type: 'string',
      description: `Your own id of \`${column.path[0]}\`; with \`include=externalIds\`${isOwner ? '' : ', or while nothing has it'}.`,
    },
  ]);
  const members = Object.entries(fields).map(([name, field]) => {
    if (isShared(field)) return [name, { $ref: `${componentName(name)}#` }];
    const { examples: _examples, ...schema } = field.knownItem ? listSchema(field) : field.schema;
    return [name, schema];
  });
  const embedded = referencesOf(definition).map((one) => [
    embeddedName(one),
    embeddedSchema(embeddedName(one), one.resources),
  ]);
  return {
    type: 'object',
    properties: {
      id: { type: 'string', format: 'uuid', description: 'Identifier.' },
      ...Object.fromEntries(members),
      ...Object.fromEntries(externalIds),
      ...Object.fromEntries(embedded),
      version: { type: 'integer', minimum: 1, description: 'Incremented on every change; also the ETag.' },
      createdAt: { type: 'string', format: 'date-time', description: 'When it was created.' },
      updatedAt: { type: 'string', format: 'date-time', description: 'When it was last changed.' },
    },
    required: [
      ...['id', 'version', 'createdAt', 'updatedAt'],
      ...Object.keys(fields).filter(
        (name) => fields[name]!.isRequired || fields[name]!.default !== undefined,
      ),
    ],
  };
}

function embeddedSchema(name: string, resources: readonly string[]): JsonSchema {
  const description = `With \`include=${name}\`: the object behind \`${name}Id\`, if it exists.`;
  const schemas = resources.map((resource) => schemaName({ name: resource }));
  const [first, ...others] = schemas;
  if (others.length === 0) return reference(first!, { description });
  return { description, anyOf: schemas.map((schema) => ({ $ref: `${schema}#` })) };
}

function listSchema({ schema, knownItem }: Field): JsonSchema {
  const anyObject = { type: 'object', additionalProperties: true };
  return { ...schema, items: { anyOf: [{ $ref: `${knownItem!.title}#` }, anyObject] } };
}

/** JSON Schema's own `time` has seconds and an offset. */
const timePatterns = {
  time: '^([01]\\d|2[0-3]):[0-5]\\d$',
  'closing-time': '^(([01]\\d|2[0-3]):[0-5]\\d|24:00)$',
};

function shapeSchema(shape: Shape | ObjectShape): JsonSchema {
  if (shape.type === 'array') return { ...shape, items: shapeSchema(shape.items) };
  if (shape.type === 'object') {
    const members = Object.entries(shape.properties).map(([name, member]) => [name, shapeSchema(member)]);
    return { ...shape, properties: Object.fromEntries(members) };
  }
  if (shape.type === 'integer' || shape.format === undefined || shape.format === 'date') return { ...shape };
  const { format, ...text } = shape;
  return { ...text, pattern: timePatterns[format] };
}
