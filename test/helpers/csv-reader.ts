// Reads an exported CSV back as the bodies that would create the same objects, as an import does.
import assert from 'node:assert/strict';
import { unguardText } from '../../core/table/csv/csv.ts';
import { columnsOf, type Definition } from '../../server/engine/definition/definition.ts';
import type { Field } from '../../server/engine/definition/fields.ts';
import { titlesOf } from '../../server/engine/definition/titles.ts';
import { flagWords, separators } from '../../server/engine/http/csv.ts';
import type { Language } from '../../server/messages.ts';

/** Lines of cells; a cell without quotes that holds nothing is undefined, one with quotes is an empty text. */
export function readCsv(file: string, separator: string): (string | undefined)[][] {
  assert.ok(file.startsWith('\ufeff'), 'it begins with a byte order mark');
  const lines: (string | undefined)[][] = [];
  let cells: (string | undefined)[] = [];
  const cell = new RegExp(`(?:"((?:[^"]|"")*)"|([^"\\r\\n${separator}]*))(${separator}|\\r\\n)`, 'y');
  cell.lastIndex = 1;
  while (cell.lastIndex < file.length) {
    const at = cell.lastIndex;
    const match = cell.exec(file);
    assert.ok(match, `not RFC 4180 at ${JSON.stringify(file.slice(at, at + 60))}`);
    cells.push(match[1]?.replaceAll('""', '"') ?? (match[2] || undefined));
    if (match[3] === separator) continue;
    lines.push(cells);
    cells = [];
  }
  return lines;
}

/** The bodies by title, as a person or an import would understand the cells. */
export function bodiesIn(file: string, definition: Definition, language: Language): object[] {
  const [titles = [], ...lines] = readCsv(file, separators[language]);
  const paths = new Map([...titlesOf(definition, language)].map(([path, title]) => [title, path]));
  const fields = new Map(columnsOf(definition.fields).map(({ path, field }) => [path.join('.'), field]));
  return lines.map((cells) => {
    const body = {};
    for (const [index, cell] of cells.entries()) {
      const path = paths.get(titles[index]!);
      assert.ok(path, `the title ${titles[index]} is known`);
      const field = fields.get(path);
      if (field && cell !== undefined) setMember(body, path.split('.'), toValue(field, cell, language));
    }
    return body;
  });
}

function toValue({ kind }: Field, cell: string, language: Language): unknown {
  if (kind === 'flag') return cell === flagWords[language].true;
  if (kind === 'list') return JSON.parse(cell);
  if (kind === 'integer' || kind === 'decimal' || kind === 'double')
    return JSON.rawJSON(language === 'de' ? cell.replace(',', '.') : cell);
  return unguardText(cell);
}

function setMember(target: object, [step, ...rest]: string[], value: unknown): void {
  const members = target as Record<string, object>;
  if (rest.length === 0) members[step!] = value as object;
  else {
    members[step!] ??= {};
    setMember(members[step!]!, rest, value);
  }
}
