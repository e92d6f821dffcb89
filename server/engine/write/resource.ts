// A definition, and what is built from it once to write its objects.
import {
  type Column,
  type Definition,
  dependantsOf,
  type Owner,
  ownersOf,
  type Reference,
  referencesOf,
  uniqueColumnsOf,
} from '../definition/definition.ts';
import { buildCheck, type Check, isObject, type Row } from '../definition/validation.ts';
import { parseStored } from '../http/merge-patch.ts';
import { buildDelete } from '../sql/bin.ts';
import { buildLinks, type Links } from '../sql/links.ts';
import type { Statement } from '../sql/statements.ts';
import { buildGuardedUpdate } from '../sql/upsert-statements.ts';
import { buildFindNames, buildInsert, buildRead } from './statements.ts';

export interface WrittenResource {
  definition: Definition;
  check: Check;
  owners: readonly Owner[];
  references: readonly Reference[];
  uniqueColumns: readonly Column[];
  /** The ways in which others belong to objects of this resource. */
  dependants: readonly Belonging[];
  findNames: Statement;
  read: Statement;
  lock: Statement;
  insert: Statement;
  update: Statement;
  delete: Statement;
  links: Links;
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
  const resources = all.map((definition) => ({
    definition,
    check: buildCheck(definition),
    owners: ownersOf(definition),
    references: referencesOf(definition),
    uniqueColumns: uniqueColumnsOf(definition),
    dependants: dependantsOf(definition, all).flatMap((dependant) =>
      ownersOf(dependant)
        .filter((owner) => owner.resource === definition.name)
        .map(({ column }) => ({ resource: dependant.name, column: column.name })),
    ),
    findNames: buildFindNames(definition),
    read: buildRead(definition),
    lock: buildRead(definition, 'FOR UPDATE'),
    insert: buildInsert(definition),
    update: buildGuardedUpdate(definition),
    delete: buildDelete(definition),
    links: buildLinks(definition, all),
  }));
  return { resources };
}

/** What others may want to know of an object: its unique values, its owners, and what it waits for. */
export interface Facts {
  keys: string[];
  /** Each as the place among the owner's dependants, and the owner's id. */
  owners: { belonging: string; id: string }[];
  waitsFor: string[];
}

export function factsOf({ definition, owners, references, uniqueColumns }: WrittenResource, row: Row): Facts {
  const facts: Facts = { keys: [], owners: [], waitsFor: [] };
  for (const { name } of uniqueColumns) {
    if (row[name] != null) facts.keys.push(keyOf(definition.name, name, String(row[name])));
  }
  for (const { column } of owners) {
    const id = row[column.name];
    if (id != null)
      facts.owners.push({ belonging: belongingOf(definition.name, column.name), id: String(id) });
  }
  for (const { isOwner, externalColumn, resources } of references) {
    const externalId = row[externalColumn];
    if (isOwner || externalId == null) continue;
    for (const resource of resources) facts.waitsFor.push(keyOf(resource, 'external_id', String(externalId)));
  }
  return facts;
}

/** The columns of `factsOf`, read from an object as it is answered. */
export function rowOf({ references, uniqueColumns }: WrittenResource, json: string): Row {
  const { value } = parseStored(json);
  const row: Row = {};
  for (const { name, path } of uniqueColumns) {
    let member: unknown = value;
    for (const step of path) member = isObject(member) ? member[step] : undefined;
    row[name] = member;
  }
  for (const { column, externalName, externalColumn } of references) {
    row[column.name] = (value as Row)[column.path[0]!];
    row[externalColumn] = (value as Row)[externalName];
  }
  return row;
}

export function keyOf(resource: string, column: string, value: string): string {
  return `${resource}.${column} ${value}`;
}

export function belongingOf(resource: string, column: string): string {
  return `${resource}.${column}`;
}
