// A definition, and what is built from it once to write its objects.

import { buildDelete } from '../bin/bin.ts';
import {
  type Column,
  type Definition,
  dependantsOf,
  looseReferencesOf,
  type Owner,
  ownersOf,
  type Reference,
  referencesOf,
  uniqueColumnsOf,
  uniqueGroupsOf,
} from '../definition/definition.ts';
import { buildCheck, type Check, type Row } from '../definition/validation.ts';
import { buildLinks, type Links } from './links.ts';
import type { Statement } from './statement-parts.ts';
import {
  buildFindDeleted,
  buildFindNames,
  buildFindTogether,
  buildInsert,
  buildRead,
  buildRestore,
  buildUpdate,
} from './statements.ts';

export interface WrittenResource {
  definition: Definition;
  /** Owners have smaller places than what they own. */
  place: number;
  check: Check;
  owners: readonly Owner[];
  references: readonly Reference[];
  uniqueColumns: readonly Column[];
  /** Columns whose values are unique together. */
  uniqueGroups: readonly { columns: readonly Column[]; find: Statement }[];
  /** Whether a reference can mean this resource or another one. */
  hasRivals: boolean;
  /** The ways in which others belong to objects of this resource. */
  dependants: readonly Belonging[];
  findNames: Statement;
  findDeleted: Statement;
  read: Statement;
  lock: Statement;
  insert: Statement;
  update: Statement;
  delete: Statement;
  restore: Statement;
  linksAfter: Links;
}

export interface Belonging {
  resource: string;
  column: string;
}

export interface Writing {
  /** Owners come before what they own. */
  resources: readonly WrittenResource[];
}

const prepared = new WeakMap<readonly Definition[], Writing>();

/** `all` stand in an order in which owners come before what they own. */
export function prepareWriting(all: readonly Definition[]): Writing {
  const writing = prepared.get(all) ?? prepareAll(all);
  prepared.set(all, writing);
  return writing;
}

function prepareAll(all: readonly Definition[]): Writing {
  const resources = all.map((definition, place) => ({
    definition,
    place,
    check: buildCheck(definition),
    owners: ownersOf(definition),
    references: referencesOf(definition),
    uniqueColumns: uniqueColumnsOf(definition),
    uniqueGroups: uniqueGroupsOf(definition).map((columns) => ({
      columns,
      find: buildFindTogether(definition, columns),
    })),
    hasRivals: all
      .flatMap(looseReferencesOf)
      .some(({ resources: rivals }) => rivals.length > 1 && rivals.includes(definition.name)),
    dependants: dependantsOf(definition, all).flatMap((dependant) =>
      ownersOf(dependant)
        .filter((owner) => owner.resource === definition.name)
        .map(({ column }) => ({ resource: dependant.name, column: column.name })),
    ),
    findNames: buildFindNames(definition),
    findDeleted: buildFindDeleted(definition),
    read: buildRead(definition),
    lock: buildRead(definition, 'FOR UPDATE'),
    insert: buildInsert(definition),
    update: buildUpdate(definition),
    delete: buildDelete(definition),
    restore: buildRestore(definition),
    linksAfter: buildLinks(definition, all),
  }));
  return { resources };
}

/** Facts that others need about an object: its unique values, its owners, and the names that it waits for. */
export interface Facts {
  keys: string[];
  /** The place among the owner's dependants, and the owner's id. */
  owners: { belonging: string; id: string }[];
  waitsFor: string[];
}

export function factsOf(resource: WrittenResource, row: Row): Facts {
  const { definition, owners, references, uniqueColumns, uniqueGroups } = resource;
  const facts: Facts = { keys: [], owners: [], waitsFor: [] };
  for (const { name } of uniqueColumns) {
    if (row[name] != null) facts.keys.push(keyOf(definition.name, name, String(row[name])));
  }
  for (const { columns } of uniqueGroups) {
    const key = togetherKey(resource, columns, row);
    if (key) facts.keys.push(key);
  }
  for (const { column } of owners) {
    const id = row[column.name];
    if (id != null)
      facts.owners.push({ belonging: belongingOf(definition.name, column.name), id: String(id) });
  }
  facts.waitsFor = awaitedNames(references, ({ externalColumn }) => row[externalColumn]);
  return facts;
}

/** The names that an object waits for, if its references have these external ids. */
export function awaitedNames(
  references: readonly Reference[],
  externalIdOf: (reference: Reference) => unknown,
): string[] {
  return references.flatMap((reference) => {
    const externalId = externalIdOf(reference);
    if (reference.isOwner || externalId == null) return [];
    return reference.resources.map((resource) => keyOf(resource, 'external_id', String(externalId)));
  });
}

/** The key of values that are unique together; undefined if one is missing. */
export function togetherKey(
  { definition }: WrittenResource,
  columns: readonly Column[],
  row: Row,
): string | undefined {
  const values = columns.map(({ name }) => row[name]);
  if (values.some((value) => value == null)) return undefined;
  return keyOf(definition.name, columns.map(({ name }) => name).join(','), JSON.stringify(values));
}

export function keyOf(resource: string, column: string, value: string): string {
  return `${resource}.${column} ${value}`;
}

export function belongingOf(resource: string, column: string): string {
  return `${resource}.${column}`;
}
