// The fields of a merged object: each from one of the objects, as chosen.
import { type Definition, referencesOf } from '../../engine/definition/definition.ts';
import { externalIdName } from '../../engine/definition/fields.ts';
import { parseStored } from '../../engine/write/merge-patch.ts';
import type { Stored } from '../../engine/write/rows.ts';
import type { JsonBody } from '../../http/json-body.ts';

/** By the name of a field: the object that gives its value, which may be none. */
export type Choices = ReadonlyMap<string, Stored>;

/** Fields that are chosen. Both names of a reference are one. */
export function choosableFields(definition: Definition): string[] {
  const twins = new Set(referencesOf(definition).map(({ externalName }) => externalName));
  return Object.keys(definition.fields).filter((name) => !twins.has(name));
}

/** `objects` begin with the one that stays. A field without a choice comes from the first object that has a value. */
export function mergeFields(definition: Definition, objects: readonly Stored[], choices: Choices): JsonBody {
  const bodies = new Map(objects.map((object) => [object, parseStored(object.json)]));
  const fieldsOf = (object: Stored) => bodies.get(object)!.value as Record<string, unknown>;
  const exactOf = (object: Stored) =>
    (bodies.get(object)!.exact ?? bodies.get(object)!.value) as Record<string, unknown>;
  const value: Record<string, unknown> = {};
  const exact: Record<string, unknown> = {};
  for (const field of choosableFields(definition)) {
    const names = [field, externalIdName(field)];
    const hasValue = (object: Stored) => names.some((name) => !isEmpty(fieldsOf(object)[name]));
    const source = choices.get(field) ?? objects.find(hasValue) ?? objects[0]!;
    for (const name of names) {
      if (!Object.hasOwn(fieldsOf(source), name) || !Object.hasOwn(definition.fields, name)) continue;
      value[name] = fieldsOf(source)[name];
      exact[name] = exactOf(source)[name];
    }
  }
  return { bytes: Buffer.of(), value, exact, fieldErrors: [] };
}

function isEmpty(value: unknown): boolean {
  return value === undefined || value === '' || (Array.isArray(value) && value.length === 0);
}
