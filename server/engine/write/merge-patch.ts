// JSON Merge Patch (RFC 7396) for objects that a definition describes.
import { type JsonBody, parseJson } from '../../http/json-body.ts';
import { type Definition, type Reference, referencesOf } from '../definition/definition.ts';
import type { Fields } from '../definition/fields.ts';
import { isObject } from '../definition/validation.ts';
import type { Stored } from './rows.ts';

/** An object as it is stored, without the members that the service itself keeps. */
export function parseStored(json: string): JsonBody {
  const body = parseJson(Buffer.from(json));
  return {
    ...body,
    value: withoutOwnMembers(body.value),
    exact: body.exact && withoutOwnMembers(body.exact),
  };
}

/** Parses a stored object once for all its readers. */
export function bodyOf(current: Pick<Stored, 'json' | 'body'>): JsonBody {
  current.body ??= parseStored(current.json);
  return current.body;
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

/** A former external id finds the object that others were merged into. That object keeps its own. */
export function underOwnName(body: JsonBody, current: Stored): JsonBody {
  if (!current.isFormerName || !isObject(body.value)) return body;
  const { externalId: own } = bodyOf(current).value as { externalId?: string };
  const rename = (value: unknown) => {
    const { externalId: _former, ...rest } = value as Record<string, unknown>;
    return own === undefined ? rest : { ...rest, externalId: own };
  };
  return { ...body, value: rename(body.value), exact: body.exact && rename(body.exact) };
}

const nothing: JsonBody = { bytes: Buffer.of(), value: {}, exact: undefined, fieldErrors: [] };

/** The merge of a patch into a stored object, or into a new one. */
export function mergeInto(
  definition: Definition,
  current: Pick<Stored, 'json' | 'body'> | undefined,
  patch: JsonBody,
): JsonBody {
  return mergePatch(definition, current ? bodyOf(current) : nothing, patch);
}

/** Returns the object after the patch. A null clears, a group is merged, everything else is replaced. */
function mergePatch(definition: Definition, stored: JsonBody, patch: JsonBody): JsonBody {
  if (!isObject(patch.value)) return patch;
  const references = referencesOf(definition);
  const { value, exact } = stored;
  const merge = (target: unknown, changes: unknown) => {
    const kept = withoutRenamed(references, target as Record<string, unknown>, changes as object);
    return mergeFields(definition.fields, kept, changes as object, references);
  };
  return {
    ...patch,
    value: merge(value, patch.value),
    exact: (exact ?? patch.exact) && merge(exact ?? value, patch.exact ?? patch.value),
  };
}

/** An unknown name stays even if it clears, to be named as ignored. */
function mergeFields(
  fields: Fields,
  target: unknown,
  patch: object,
  references: readonly Reference[] = [],
): Record<string, unknown> {
  const merged: Record<string, unknown> = isObject(target) ? { ...target } : {};
  for (const [name, value] of Object.entries(patch)) {
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
    const isKnown = field !== undefined || references.some(({ externalName }) => externalName === name);
    if (value === null && isKnown) delete merged[name];
    else
      merged[name] =
        field?.fields && isObject(value) ? mergeFields(field.fields, merged[name], value) : value;
  }
  return merged;
}

/** A reference has two names: a patch that sends one of them also replaces the other. */
function withoutRenamed(references: readonly Reference[], stored: Record<string, unknown>, patch: object) {
  const kept = { ...stored };
  for (const { column, externalName } of references) {
    const names = [column.path[0]!, externalName];
    if (names.some((name) => Object.hasOwn(patch, name))) for (const name of names) delete kept[name];
  }
  return kept;
}
