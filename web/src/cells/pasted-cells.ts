// Reads pasted texts as an import reads cells: dates, numbers, words of choices, and objects by name or number.
import i18next from 'i18next';
import { foldName } from '../../../core/definition/names.ts';
import { splitCell } from '../../../core/table/cell-parts.ts';
import { type ThousandsMark, toFieldValue } from '../../../core/table/cells.ts';
import { findChoiceWord } from '../../../core/table/choice-words.ts';
import { buildCsvParser } from '../../../core/table/csv/csv.ts';
import { call } from '../api/client.ts';
import { type Definition, type Entity, type Field, titleOf } from '../api/definitions.ts';
import { decimalSeparator } from '../texts/format.ts';
import { type CellEdit, fieldsOf } from './cell-edit.ts';

/** Cells of a spreadsheet, which quotes those with line breaks. A text with a lone quotation mark is taken as it is. */
export function readCells(text: string): string[][] {
  const clean = text.replace(/\r\n?/g, '\n').replace(/\n$/, '');
  try {
    const parser = buildCsvParser('\t');
    return [...parser.push(clean), ...parser.end()].map((row) => row.map((cell) => cell ?? ''));
  } catch {
    return clean.split('\n').map((row) => row.split('\t'));
  }
}

export interface Target {
  entity: Entity;
  column: string;
  text: string;
}

/** Reads the meaning of each text in its cell. */
export async function readTargets(
  definition: Definition,
  targets: readonly Target[],
  known: ReadonlyMap<string, string>,
): Promise<CellEdit[]> {
  const names = await findNames(definition, targets, known);
  return targets.map(({ entity, column, text }) => {
    const fields = fieldsOf(definition, column);
    const edit = { entity, column, shown: text };
    if (fields.length > 1) return { ...edit, ...readAddress(fields, text) };
    const { value, error } = readField(fields[0]!, text, names);
    return { ...edit, values: [[column, value] as const], ...(error !== undefined && { error }) };
  });
}

function readAddress(fields: readonly Field[], text: string): Pick<CellEdit, 'values' | 'error'> {
  const names = ['streetName', 'houseNumber', 'zipCode', 'city'];
  const parts = splitCell({ kind: 'address', paths: names }, text);
  if (parts.length < names.length || !parts[2]) return { values: [], error: i18next.t('cells.address') };
  const paths = names.map((name) => fields.find((field) => field.name === name)!.path);
  return { values: paths.map((path, index) => [path, parts[index] ?? ''] as const) };
}

interface Reading {
  value: unknown;
  error?: string;
}

/** Returns an error for a text that the field cannot hold. */
function readField(field: Field, text: string, names: ReadonlyMap<string, readonly string[]>): Reading {
  const trimmed = text.trim();
  if (field.reference) return readReference(field, trimmed, names);
  const mark: ThousandsMark = decimalSeparator() === ',' ? '.' : ',';
  const read = toFieldValue(field, text, mark) ?? null;
  if (typeof read !== 'string') return { value: read };
  switch (field.kind) {
    case 'integer':
    case 'decimal':
    case 'double':
      return { value: null, error: i18next.t('form.number') };
    case 'choice': {
      const values = field.choices?.map(({ value }) => value) ?? [];
      const meant = values.includes(read) ? read : findChoiceWord(field.name, values, trimmed);
      if (meant !== undefined) return { value: meant };
      const choices = field.choices?.map(titleOf).join(', ');
      return { value: null, error: i18next.t('cells.choice', { choices }) };
    }
    case 'flag':
      return { value: null, error: i18next.t('cells.flag') };
    case 'list':
      return { value: null, error: i18next.t('cells.list') };
    default:
      return { value: read };
  }
}

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

function readReference(field: Field, name: string, names: ReadonlyMap<string, readonly string[]>): Reading {
  if (name === '') return { value: null };
  if (uuid.test(name)) return { value: name.toLowerCase() };
  const ids = names.get(nameKey(field, name)) ?? [];
  if (ids.length === 1) return { value: ids[0] };
  const error = i18next.t(ids.length === 0 ? 'cells.unknownName' : 'cells.severalNames', { name });
  return { value: null, error };
}

function nameKey({ path }: Field, name: string): string {
  return `${path} ${foldName(name)}`;
}

const maxNames = 200;

/** Ids by field and name. `known` are names that were copied from this table. */
async function findNames(
  definition: Definition,
  targets: readonly Target[],
  known: ReadonlyMap<string, string>,
): Promise<Map<string, readonly string[]>> {
  const found = new Map<string, readonly string[]>();
  for (const [column, some] of Map.groupBy(targets, (target) => target.column)) {
    const [field] = fieldsOf(definition, column);
    if (!field?.reference) continue;
    const names = new Set(
      some.map(({ text }) => text.trim()).filter((name) => name !== '' && !uuid.test(name)),
    );
    for (const name of names) {
      const id = known.get(`${column} ${name}`);
      if (id === undefined) continue;
      found.set(nameKey(field, name), [id]);
      names.delete(name);
    }
    for (const resource of field.reference.resources) {
      for (let start = 0; start < names.size; start += maxNames) {
        const asked = [...names].slice(start, start + maxNames);
        const body = { resource, names: asked };
        const { data } = await call<{ data: { ids: string[]; rememberedId?: string }[] }>(
          'POST',
          '/name-matches',
          { body },
        );
        data.forEach(({ ids, rememberedId }, place) => {
          const key = nameKey(field, asked[place]!);
          const own = ids.length !== 1 && rememberedId ? [rememberedId] : ids;
          found.set(key, [...new Set([...(found.get(key) ?? []), ...own])]);
        });
      }
    }
  }
  return found;
}
