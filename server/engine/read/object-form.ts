// Form of each object in an answer: `fields=` chooses members, `include=` adds objects that it refers to.
import { type FieldError, validationError } from '../../errors.ts';
import { type Definition, embeddedName, type Reference, referencesOf } from '../definition/definition.ts';
import type { Fields } from '../definition/fields.ts';

/** Chosen members; undefined stands for a whole one. */
export type FieldTree = ReadonlyMap<string, FieldTree | undefined>;

export interface ObjectForm {
  /** Undefined for all of its own fields. */
  fields?: FieldTree | undefined;
  /** External ids of the objects that it refers to. */
  withExternalIds?: boolean;
  embedded?: readonly Embedded[];
}

/** An object that is embedded in the one that refers to it. */
export interface Embedded {
  name: string;
  reference: Reference;
  /** The resources of which one has the object. */
  targets: readonly Definition[];
  fields: FieldTree | undefined;
}

/** Members of every object beside its fields. */
export const commonMembers = ['id', 'version', 'createdAt', 'updatedAt'];

export const maxFields = 100;

export function inclusionsOf(definition: Definition): string[] {
  return ['externalIds', ...referencesOf(definition).map(embeddedName)];
}

const plain: ObjectForm = {};

export function isPlain(form: ObjectForm): boolean {
  return form === plain;
}

/** Whether it holds something of other objects, which can change while its own version stays. */
export function holdsOthers(definition: Definition, form: ObjectForm): boolean {
  if (isPlain(form)) return false;
  const { fields, withExternalIds = false, embedded = [] } = form;
  const namesOther = referencesOf(definition).some(({ externalName }) => fields?.has(externalName));
  return namesOther || withExternalIds || embedded.length > 0;
}

export function isChosen(tree: FieldTree | undefined, [first, ...rest]: readonly string[]): boolean {
  if (!tree || first === undefined) return true;
  return tree.has(first) && isChosen(tree.get(first), rest);
}

type Asked = { fields?: unknown; include?: unknown };

/** The form of one resource's objects; throws an error that names every invalid parameter. */
export function parseForm(definition: Definition, all: readonly Definition[], asked: Asked): ObjectForm {
  const fieldErrors: FieldError[] = [];
  const form = readForms([definition], all, asked, fieldErrors).get(definition.name)!;
  if (fieldErrors.length > 0) throw validationError(fieldErrors);
  return form;
}

/** The form of each resource, by its name. A field or inclusion that one of them has is valid for all. */
export function readForms(
  definitions: readonly Definition[],
  all: readonly Definition[],
  asked: Asked,
  fieldErrors: FieldError[],
  ownInclusions: readonly string[] = [],
): Map<string, ObjectForm> {
  if (asked.fields === undefined && asked.include === undefined)
    return new Map(definitions.map(({ name }) => [name, plain]));
  const paths = readNames('fields', asked.fields, fieldErrors);
  const included = readNames('include', asked.include, fieldErrors) ?? [];
  const choices = [...new Set([...ownInclusions, ...definitions.flatMap(inclusionsOf)])];
  if (!included.every((name) => choices.includes(name)))
    fieldErrors.push({ path: ['include'], code: 'invalid_choice', params: { choices } });
  if (paths) fieldErrors.push(...findUnknown(paths, definitions, all));
  return new Map(
    definitions.map((definition) => [definition.name, buildForm(definition, all, paths, included)]),
  );
}

function findUnknown(
  paths: readonly string[],
  definitions: readonly Definition[],
  all: readonly Definition[],
): FieldError[] {
  const known = new Set(definitions.flatMap((definition) => namesOf(definition, all)));
  const params = { known: [...known].filter((name) => !name.includes('.')) };
  return paths
    .filter((path) => !known.has(path))
    .map((path) => ({ path: path === '' ? ['fields'] : ['fields', path], code: 'unknown_field', params }));
}

function readNames(name: string, value: unknown, fieldErrors: FieldError[]): string[] | undefined {
  if (value === undefined) return undefined;
  const names = String(value).split(',');
  if (typeof value !== 'string') fieldErrors.push({ path: [name], code: 'repeated_parameter' });
  else if (names.length <= maxFields) return names;
  else fieldErrors.push({ path: [name], code: 'too_many_items', params: { max: maxFields } });
  return undefined;
}

function buildForm(
  definition: Definition,
  all: readonly Definition[],
  paths: readonly string[] | undefined,
  included: readonly string[],
): ObjectForm {
  const fields = paths && toTree(paths);
  const embedded = referencesOf(definition)
    .map((reference) => ({ reference, name: embeddedName(reference) }))
    .filter(({ name }) => included.includes(name) || fields?.has(name))
    .map(({ reference, name }) => ({
      name,
      reference,
      targets: targetsOf(reference, all),
      fields: fields?.get(name),
    }));
  return { fields, withExternalIds: included.includes('externalIds'), embedded };
}

function toTree(paths: readonly string[]): FieldTree {
  const groups = Map.groupBy(paths, (path) => path.split('.', 1)[0]!);
  return new Map(
    [...groups].map(([first, own]) => [
      first,
      own.includes(first) ? undefined : toTree(own.map((path) => path.slice(first.length + 1))),
    ]),
  );
}

function targetsOf({ resources }: Reference, all: readonly Definition[]): Definition[] {
  return resources.flatMap((name) => all.find((definition) => definition.name === name) ?? []);
}

/** Everything that `fields` can name. */
function namesOf(definition: Definition, all: readonly Definition[]): string[] {
  return [
    ...ownNames(definition),
    ...referencesOf(definition).flatMap((reference) => {
      const name = embeddedName(reference);
      const inner = targetsOf(reference, all).flatMap(ownNames);
      return [reference.externalName, name, ...inner.map((path) => `${name}.${path}`)];
    }),
  ];
}

function ownNames({ fields }: Definition): string[] {
  return [...commonMembers, ...pathsOf(fields)];
}

function pathsOf(fields: Fields, parent = ''): string[] {
  return Object.entries(fields).flatMap(([name, field]) => [
    parent + name,
    ...(field.fields ? pathsOf(field.fields, `${parent}${name}.`) : []),
  ]);
}
