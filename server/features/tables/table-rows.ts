// The rows of a table that people read: names beside ids, and values as an office writes them.

import {
  type Definition as Description,
  type Field,
  type Titles,
  valueAt,
} from '../../../core/definition/definition.ts';
import { namelessTitles, nameOf } from '../../../core/definition/names.ts';
import { idColumn, nameColumnsOf, titledLeaves, versionColumn } from '../../../core/table/columns.ts';
import { writeList } from '../../../core/table/list-text.ts';
import type { Database } from '../../database/database.ts';
import type { Definition } from '../../engine/definition/definition.ts';
import { describeDefinition } from '../../engine/definition/description.ts';
import { keptTitles } from '../../engine/definition/titles.ts';
import { flagWords } from '../../engine/http/csv.ts';
import { representation } from '../../engine/read/representation.ts';
import type { Language } from '../../messages.ts';
import { netRecord, type WarningLog } from '../../telemetry/record-net.ts';

export type TableCell = { kind: 'text' | 'number' | 'day' | 'moment'; text: string } | null;

export interface TableColumn {
  /** The name that requests use: the path of a field, or of its reference. */
  path: string;
  titles: Titles;
  width: number;
  toCell: (entity: Entity, names: Names, language: Language) => TableCell;
}

export type Entity = Record<string, unknown>;
/** Names of the objects that a page refers to, by their ids. */
type Names = ReadonlyMap<string, string>;

const text = (value: string | undefined): TableCell =>
  value === undefined || value === '' ? null : { kind: 'text', text: value };

/** Columns in the order in which people read them, ids at the end. */
export function tableColumnsOf(definition: Definition): TableColumn[] {
  const description = describeDefinition(definition);
  const leaves = titledLeaves(description.fields);
  const names = new Map(nameColumnsOf(description).map((column) => [column.namedPath, column]));
  const columns = leaves
    .filter(({ field }) => !field.twinOf)
    .map(({ path, field, titles }): TableColumn => {
      const name = names.get(path);
      if (!name) return { path, titles, width: widthOf(field), toCell: buildCell(field) };
      return {
        path,
        titles: name.titles,
        width: 26,
        toCell: (entity, known, language) => {
          const id = valueAt(entity, path) as string | undefined;
          return text(id && (known.get(id) || namelessTitles[language]));
        },
      };
    });
  const nameFirst = columns.sort(
    (one, other) => Number(other.path === description.nameField) - Number(one.path === description.nameField),
  );
  const moments = ['createdAt', 'updatedAt'].map(
    (path): TableColumn => ({
      path,
      titles: keptTitles[path]!,
      width: 16,
      toCell: (entity) => ({ kind: 'moment', text: toLocalTime(String(entity[path])) }),
    }),
  );
  const ids = [
    { path: 'id', valuePath: 'id', titles: idColumn.titles },
    ...leaves
      .filter(({ field }) => field.reference)
      .map(({ path, titles }) => ({ path, valuePath: path, titles: { ...titles, de: `${titles.de} ID` } })),
    // Chosen with its reference.
    ...leaves
      .filter(({ field }) => field.twinOf)
      .map(({ path, field, titles }) => ({ path: field.twinOf!, valuePath: path, titles })),
  ].map(
    ({ path, valuePath, titles }): TableColumn => ({
      path,
      titles,
      width: 12,
      toCell: (entity) => text(valueAt(entity, valuePath) as string | undefined),
    }),
  );
  // Chosen with the id: an import of the table then keeps what others changed since.
  const version: TableColumn = {
    path: 'id',
    titles: versionColumn.titles,
    width: 8,
    toCell: (entity) => ({ kind: 'number', text: (entity.version as RawNumber).rawJSON }),
  };
  return [...nameFirst, ...moments, version, ...ids];
}

/** One value never ends a file: a value that cannot be written in words is written as JSON. */
export function writeCell(
  { path, toCell }: Pick<TableColumn, 'path' | 'toCell'>,
  entity: Entity,
  { names, language, log }: { names: Names; language: Language; log: WarningLog },
): TableCell {
  return netRecord(
    log,
    ['table', entity.id],
    () => toCell(entity, names, language),
    () => text(JSON.stringify(valueAt(entity, path))),
  );
}

/** The chosen columns with the name and the id, which every table has. */
export function chooseColumns(
  columns: readonly TableColumn[],
  { nameField }: Definition,
  chosen: readonly string[] | undefined,
): TableColumn[] {
  if (!chosen) return [...columns];
  const name = nameField === 'lastName' ? ['lastName', 'firstName'] : [nameField];
  const wanted = [...name, 'id', ...chosen];
  // A group brings its members, except for a position, which is a group of its own.
  const isChosen = ({ path }: TableColumn) =>
    wanted.some(
      (name) => name === path || (path.startsWith(`${name}.`) && !path.slice(name.length + 1).includes('.')),
    );
  return columns.filter(isChosen);
}

function widthOf({ kind, maxLength = 30 }: Field): number {
  if (kind === 'text') return Math.min(40, Math.max(10, maxLength / 2));
  return kind === 'list' ? 40 : 14;
}

/** Numbers arrive as raw JSON, exact. */
interface RawNumber {
  rawJSON: string;
}

function buildCell(field: Field): TableColumn['toCell'] {
  return (entity, _names, language) => {
    const value = valueAt(entity, field.path);
    if (value === undefined) return null;
    switch (field.kind) {
      case 'integer':
      case 'decimal':
      case 'double':
        return { kind: 'number', text: (value as RawNumber).rawJSON };
      case 'flag':
        return text(flagWords[language][String(value) as 'true' | 'false']);
      case 'choice':
        return text(
          field.choices?.find((choice) => choice.value === value)?.title[language] ?? String(value),
        );
      case 'date':
        return { kind: 'day', text: value as string };
      case 'list': {
        const json = JSON.stringify(value);
        if (json === '[]') return null;
        return text(writeList(field.knownItem, JSON.parse(json), json, language));
      }
      default:
        return text(value as string);
    }
  };
}

/** Time zone of Stamm's offices, and of a site that names none. */
const localTime = new Intl.DateTimeFormat('sv-SE', {
  timeZone: 'Europe/Berlin',
  dateStyle: 'short',
  timeStyle: 'short',
});

/** 2026-11-17 14:03 */
function toLocalTime(moment: string): string {
  return localTime.format(new Date(moment));
}

export type ReadNames = (tenantId: string, entities: readonly Entity[]) => Promise<Names>;

/** One statement per resource that the page refers to. */
export function buildNames(
  database: Database,
  definition: Definition,
  resources: readonly Definition[],
): ReadNames {
  const references = titledLeaves(describeDefinition(definition).fields).flatMap(({ path, field }) =>
    field.reference ? [{ path, resources: field.reference.resources }] : [],
  );
  const targets = resources
    .filter(({ name }) => references.some((reference) => reference.resources.includes(name)))
    .map((target) => ({
      name: target.name,
      description: describeDefinition(target) as Description,
      statement: `SELECT ${representation(target, 'subject')} AS json FROM ${target.table} AS subject
        WHERE tenant_id = $1 AND id = ANY ($2::uuid[])`,
    }));

  return async function readNames(tenantId, entities) {
    const names = new Map<string, string>();
    for (const { name, description, statement } of targets) {
      const paths = references.filter(({ resources }) => resources.includes(name)).map(({ path }) => path);
      const ids = new Set(entities.flatMap((entity) => paths.map((path) => valueAt(entity, path))));
      const sought = [...ids].filter((id): id is string => typeof id === 'string' && !names.has(id));
      if (sought.length === 0) continue;
      const { rows } = await database.queryInTenants<{ json: string }>([tenantId], {
        text: statement,
        values: [tenantId, sought],
      });
      for (const { json } of rows) {
        const entity = JSON.parse(json);
        names.set(entity.id, nameOf(description, entity) ?? '');
      }
    }
    return names;
  };
}
