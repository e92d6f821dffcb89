// JSON Merge Patch (RFC 7396) for objects that a definition describes.
import { type JsonBody, parseJson } from '../../http/json-body.ts';
import { type Definition, ownersOf } from '../definition/definition.ts';
import type { Fields } from '../definition/fields.ts';
import { isObject } from '../definition/validation.ts';

/** An object as it is stored, without the members that the service itself keeps. */
export function parseStored(json: string): JsonBody {
  const body = parseJson(Buffer.from(json));
  return {
    ...body,
    value: withoutOwnMembers(body.value),
    exact: body.exact && withoutOwnMembers(body.exact),
  };
}

function withoutOwnMembers(value: unknown): unknown {
  const {
    id: _id,
    version: _version,
    createdAt: _createdAt,
    updatedAt: _updatedAt,
    ...fields
  } = value as object & {
    [name: string]: unknown;
  };
  return fields;
}

/** What the object becomes. A null clears, a group is merged, everything else is replaced. */
export function mergePatch(definition: Definition, stored: JsonBody, patch: JsonBody): JsonBody {
  if (!isObject(patch.value)) return patch;
  return {
    ...patch,
    value: mergeFields(
      definition.fields,
      dropRenamedOwners(definition, stored.value, patch.value),
      patch.value,
    ),
    exact:
      (stored.exact ?? patch.exact) &&
      mergeFields(definition.fields, stored.exact ?? stored.value, (patch.exact ?? patch.value) as object),
  };
}

function mergeFields(fields: Fields, target: unknown, patch: object): Record<string, unknown> {
  const merged: Record<string, unknown> = isObject(target) ? { ...target } : {};
  for (const [name, value] of Object.entries(patch)) {
    const members = Object.hasOwn(fields, name) ? fields[name]!.fields : undefined;
    if (value === null) delete merged[name];
    else merged[name] = members && isObject(value) ? mergeFields(members, merged[name], value) : value;
  }
  return merged;
}

/** Whoever names an owner by its external id replaces the id that is stored. */
function dropRenamedOwners(definition: Definition, stored: unknown, patch: Record<string, unknown>): unknown {
  const renamed = ownersOf(definition).filter(
    ({ column, externalName }) =>
      Object.hasOwn(patch, externalName) && !Object.hasOwn(patch, column.path[0]!),
  );
  const kept = { ...(stored as Record<string, unknown>) };
  for (const { column } of renamed) delete kept[column.path[0]!];
  return kept;
}
