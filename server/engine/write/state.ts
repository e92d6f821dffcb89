// The state that a tenant's intents meet: stored objects, names and values, and then the decisions of earlier intents.
import type { FieldError } from '../../errors.ts';
import type { Author } from '../../http/conventions.ts';
import type { JsonBody } from '../../http/json-body.ts';
import type { Fields } from '../definition/fields.ts';
import { type Checked, isObject, type Row } from '../definition/validation.ts';
import { type Since, sinceKey } from './changes-since.ts';
import type { Intent } from './intent.ts';
import { parseStored } from './merge-patch.ts';
import { RaceError } from './races.ts';
import { type Facts, factsOf, keyOf, type WrittenResource } from './resource.ts';
import type { Stored } from './rows.ts';

/** An object as it will be. */
export interface Known {
  resource: WrittenResource;
  id: string;
  version: number;
  /** Absent if the object is known only as a dependant. */
  json?: string | undefined;
  /** `json` as it was parsed. */
  body?: JsonBody | undefined;
  /** Whether `json` was made of `value`, and lacks what only the database knows. */
  isComposed?: boolean;
  /** The row from which `facts` were read. */
  row?: Row;
  /** The intent that sends the object as it is stored, but perhaps for its references. */
  sameAs?: Intent | undefined;
  value?: Record<string, unknown> | undefined;
  /** Makes `value` of a new object. Few are looked at again. */
  compose?: () => Record<string, unknown>;
  facts: Facts;
  /** Changes that intents have made so far. */
  made: { version: number; changes: Record<string, { from?: unknown }>; author: Author }[];
}

/** The holder of a name or a value; `isFormer` if it belonged to an object merged into this one. */
export interface Holder {
  id: string;
  isFormer: boolean;
}

export interface Dependants {
  count: number;
  /** The first of them, or all below a cascade. */
  ids: Set<string>;
}

export type State = ReturnType<typeof buildState>;

export function buildState() {
  const objects = new Map<string, Known>();
  /** Keyed by `keyOf`. Null if nobody holds it; absent if nobody asked. */
  const holders = new Map<string, Holder | null>();
  const heldBy = new Map<string, Set<string>>();
  /** Maps an id that an intent names to the id that is valid now. */
  const currentIds = new Map<string, string>();
  /** Ids that nothing has, each behind its resource. */
  const absent = new Set<string>();
  const dependants = new Map<string, Dependants>();
  /** New objects: nothing belongs to them but what intents bring. */
  const created = new Set<string>();
  const waitingFor = new Map<string, Set<Known>>();
  const changesSince = new Map<string, Since>();
  /** External ids in the bin, and the objects that had them. */
  const deleted = new Map<string, string>();
  /** Intents that wait for a name, or for an owner's id to have no dependants. */
  const awaited = new Map<string, Set<Intent>>();
  /** Names and values of everything that was read to be written, before and after. */
  const touched = new Set<string>();

  function hold(key: string, holder: Holder | null): void {
    holders.set(key, holder);
    if (holder) heldBy.getOrInsertComputed(holder.id, () => new Set()).add(key);
  }

  function touch({ resource, id, facts }: Known): void {
    touched.add(keyOf(resource.definition.name, 'id', id));
    for (const key of facts.keys) touched.add(key);
  }

  function put(known: Known): void {
    touch(known);
    objects.set(known.id, known);
    for (const key of known.facts.keys) hold(key, { id: known.id, isFormer: false });
    for (const key of known.facts.waitsFor) waitingFor.getOrInsertComputed(key, () => new Set()).add(known);
  }

  function drop(known: Known): void {
    objects.delete(known.id);
    for (const key of known.facts.keys) if (holders.get(key)?.id === known.id) holders.set(key, null);
    for (const key of known.facts.waitsFor) waitingFor.get(key)?.delete(known);
  }

  function dependantsOf(ownerId: string, belonging: string): Dependants | undefined {
    const key = `${ownerId} ${belonging}`;
    if (created.has(ownerId))
      return dependants.getOrInsertComputed(key, () => ({ count: 0, ids: new Set() }));
    return dependants.get(key);
  }

  function belong({ facts, id }: Known, step: 1 | -1): string[] {
    const left: string[] = [];
    for (const owner of facts.owners) {
      const own = dependantsOf(owner.id, owner.belonging);
      if (!own) continue;
      own.count += step;
      if (step > 0) own.ids.add(id);
      else own.ids.delete(id);
      if (own.count === 0) left.push(owner.id);
    }
    return left;
  }

  return {
    objects,
    holders,
    currentIds,
    absent,
    dependants,
    dependantsOf,
    changesSince,
    deleted,
    awaited,
    touched,
    /** Whether a cascade is too large for one transaction. Then only the dependants of its root are counted. */
    hasTooManyDependants: false,
    hold,

    /** Loads an object, even if another name has found it already. */
    load(known: Known): void {
      const before = objects.get(known.id);
      if (before) drop(before);
      put(known);
    },

    find({ resource, name }: Intent): { known: Known; isFormerName: boolean } | undefined {
      if (!name) return undefined;
      if ('id' in name) {
        const id = currentIds.get(name.id) ?? name.id;
        const known = objects.get(id);
        return known && { known, isFormerName: id !== name.id };
      }
      const holder = holders.get(keyOf(resource.definition.name, 'external_id', name.externalId));
      const known = holder && objects.get(holder.id);
      return known ? { known, isFormerName: holder.isFormer } : undefined;
    },

    create(known: Known): void {
      put(known);
      currentIds.delete(known.id);
      absent.delete(keyOf(known.resource.definition.name, 'id', known.id));
      created.add(known.id);
      belong(known, 1);
    },

    /** Returns the owners that have nothing more of this kind. */
    change(before: Known, after: Known): string[] {
      drop(before);
      const left = belong(before, -1);
      put(after);
      belong(after, 1);
      return left;
    },

    remove(known: Known): string[] {
      drop(known);
      for (const key of known.facts.keys) deleted.set(key, known.id);
      // Former names of it name nothing any more.
      for (const key of heldBy.get(known.id) ?? [])
        if (holders.get(key)?.id === known.id) holders.set(key, null);
      absent.add(keyOf(known.resource.definition.name, 'id', known.id));
      return belong(known, -1);
    },

    /** Objects that have waited for this name, which is there now. */
    waitingFor: (key: string): Known[] => [...(waitingFor.get(key) ?? [])],

    /** Returns what changed after the version that the sender has read. */
    since({ id, made }: Known, version: number, author: Author): Since | undefined {
      const stored = changesSince.get(sinceKey(id, version));
      const own = made.filter((change) => change.version > version);
      if (own.length === 0) return stored;
      const since: Since = {
        former: stored ? stored.former && { ...stored.former } : {},
        byOthers: new Set(stored?.byOthers),
      };
      for (const { changes } of own) {
        for (const [field, { from }] of Object.entries(changes)) {
          if (since.former && !Object.hasOwn(since.former, field)) since.former[field] = from;
          if (author.actorId === undefined) since.byOthers.add(field);
        }
      }
      return since;
    },

    /** Puts the ids of what the row names into it, and reports missing owners. A name that nobody sent stays. */
    resolve({ owners, references }: WrittenResource, row: Row): FieldError[] {
      const fieldErrors: FieldError[] = [];
      for (const { column } of references) {
        const current = currentIds.get(String(row[column.name]));
        if (current !== undefined) row[column.name] = current;
      }
      for (const { column, externalColumn, externalName, resource } of owners) {
        const missing = { code: 'reference_not_found', params: { resource } } as const;
        const [id, externalId] = [row[column.name], row[externalColumn]];
        if (externalId !== undefined) {
          const holder = holders.get(keyOf(resource, 'external_id', String(externalId)));
          if (!holder) fieldErrors.push({ ...missing, path: [externalName] });
          else if (id !== undefined && id !== holder.id)
            fieldErrors.push({ path: [externalName], code: 'ambiguous', params: { other: column.path[0]! } });
          else row[column.name] = holder.id;
        } else if (id !== undefined && absent.has(keyOf(resource, 'id', String(id))))
          fieldErrors.push({ ...missing, path: column.path });
      }
      for (const { isOwner, column, externalColumn, externalName, resources } of references) {
        const externalId = row[externalColumn];
        if (isOwner || externalId === undefined) continue;
        const id = row[column.name];
        const found = resources
          .map((resource) => holders.get(keyOf(resource, 'external_id', String(externalId)))?.id)
          .find((holder) => holder !== undefined && (id === undefined || id === holder));
        if (found) {
          row[column.name] = found;
          delete row[externalColumn];
        } else if (id !== undefined)
          fieldErrors.push({ path: [externalName], code: 'ambiguous', params: { other: column.path[0]! } });
      }
      return fieldErrors;
    },
  };
}

/** Returns the object as a request would find it. */
export function toStored(known: Known, isFormerName: boolean): Stored {
  const { id, version } = known;
  return {
    id,
    version,
    isFormerName,
    get json() {
      return jsonOf(known);
    },
    get body() {
      return bodyOfKnown(known);
    },
  };
}

/** Whether the whole object is known. Dependants of a deletion have only their rows. */
export function isRead({ json, value, compose }: Known): boolean {
  return json !== undefined || value !== undefined || compose !== undefined;
}

function jsonOf(known: Known): string {
  const { id, version } = known;
  if (known.json === undefined) {
    if (!isRead(known))
      throw new RaceError('The object came while it was read, as a dependant of another one.');
    known.json = JSON.stringify({ id, ...storedValue(known), version });
    known.isComposed = true;
  }
  return known.json;
}

/** The fields as they are stored, with the ids of what they refer to. A row that was read has null where it has none. */
export function resolvedValue(
  resource: WrittenResource,
  { value }: Checked,
  row: Row,
): Record<string, unknown> {
  const resolved: Record<string, unknown> = { ...value };
  for (const { column, externalName, externalColumn, isOwner } of resource.references) {
    resolved[column.path[0]!] = row[column.name] ?? undefined;
    resolved[externalName] = isOwner ? undefined : (row[externalColumn] ?? undefined);
  }
  return withoutEmptyGroups(resource.definition.fields, resolved);
}

/** A group without members is not stored. */
function withoutEmptyGroups(fields: Fields, value: Record<string, unknown>): Record<string, unknown> {
  const kept: Record<string, unknown> = {};
  for (const [name, member] of Object.entries(value)) {
    const inner = fields[name]?.fields;
    const filled = inner && isObject(member) ? withoutEmptyGroups(inner, member) : member;
    const isEmpty = inner && isObject(filled) && Object.keys(filled).length === 0;
    if (filled !== undefined && !isEmpty) kept[name] = filled;
  }
  return kept;
}

/** The value of an object, made once. */
export function storedValue(known: Known): Record<string, unknown> {
  known.value ??= known.compose?.() ?? known.resource.check(bodyOfKnown(known)).value;
  return known.value;
}

function bodyOfKnown(known: Known): JsonBody {
  known.body ??= parseStored(jsonOf(known));
  return known.body;
}

export function knownFrom(resource: WrittenResource, id: string, version: number, row: Row): Known {
  return { resource, id, version, row, facts: factsOf(resource, row), made: [] };
}
