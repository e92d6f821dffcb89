// Completes the parts of a workbook as other programs than Excel write them, for the library that reads them.
import type { Unzipped } from 'fflate';

// No tag holds a <, and each expression stops there: a part full of beginnings must not be read once for each of them.
const cell = /<((?:\w+:)?)(row|c)(?=[\s/>])([^<>]*)>/g;
const errorType = /\st=["']e["']/;
const incomplete = /<(?:\w+:)?c(?=[\s/>])(?:(?![^<>]*\sr=)|[^<>]*\st=["']e["'])/;

/** Gives each cell its place, which is optional. Keeps an error such as #N/A as a text, which would look empty. */
export function completeCells(sheet: string): string {
  if (!incomplete.test(sheet)) return sheet;
  let row = 0;
  let column = 0;
  return sheet.replace(cell, (tag: string, prefix: string, name: string, attributes: string) => {
    if (name === 'row') {
      row = Number(/\sr=["'](\d+)["']/.exec(attributes)?.[1] ?? row + 1);
      column = 0;
      return tag;
    }
    const letters = /\sr=["']([A-Z]+)\d+["']/i.exec(attributes)?.[1];
    column = letters ? toNumber(letters) : column + 1;
    const place = letters ? '' : ` r="${toLetters(column)}${row}"`;
    return `<${prefix}c${place}${attributes.replace(errorType, ' t="str"')}>`;
  });
}

/** Excel ends at XFD1048576. */
const last = { columnLetters: 3, row: 1_048_576 };

/**
 * Rows × columns up to the last cell that holds something. Formats often reach to the last row of a sheet, in cells
 * without content.
 */
export function countCells(sheet: string): number {
  let [rows, columns] = [0, 0];
  for (const [, , , attributes = ''] of sheet.matchAll(cell)) {
    const [, letters = '', digits = ''] = /\sr=["']([A-Za-z]*)(\d+)["']/.exec(attributes) ?? [];
    if (letters.length > last.columnLetters || Number(digits) > last.row) return Infinity;
    if (letters === '' || attributes.endsWith('/')) continue;
    rows = Math.max(rows, Number(digits));
    columns = Math.max(columns, toNumber(letters));
  }
  return rows * columns;
}

function toNumber(letters: string): number {
  return [...letters.toUpperCase()].reduce((sum, letter) => sum * 26 + letter.charCodeAt(0) - 64, 0);
}

function toLetters(column: number): string {
  const before = Math.floor((column - 1) / 26);
  return (before > 0 ? toLetters(before) : '') + String.fromCharCode(65 + ((column - 1) % 26));
}

const numberCell = /<((?:\w+:)?)c(\s[^<>]*[^/<>])>((?:(?!<\/?(?:\w+:)?c[\s/>]).)*)<\/\1c>/gs;

/** The way in which a style shows a number: in percent, or with this many digits. */
export type NumberStyle = 'percent' | number;

/** Excel keeps 19 % as 0.19 and 01067 as 1067. Only the format of the cell tells, so the cell becomes the text that people see. */
export function writeShown(sheet: string, styles: ReadonlyMap<string, NumberStyle>): string {
  if (styles.size === 0) return sheet;
  return sheet.replace(numberCell, (whole, prefix, attributes, content) => {
    const type = attribute(attributes, 't');
    const style = styles.get(attribute(attributes, 's'));
    if (style === undefined || (type !== '' && type !== 'n')) return whole;
    const shown = content.replace(/(?<=<(?:\w+:)?v>)[^<]+/, (value: string) => showNumber(value, style));
    return `<${prefix}c${attributes.replace(/\st=["']n["']/, '')} t="str">${shown}</${prefix}c>`;
  });
}

function showNumber(value: string, style: NumberStyle): string {
  if (style === 'percent') return `${Number((Number(value) * 100).toPrecision(15))}%`;
  return /^\d+$/.test(value) ? value.padStart(style, '0') : value;
}

/** The styles that show a number in percent or with leading zeros, by their place. */
export function findNumberStyles(parts: Unzipped): Map<string, NumberStyle> {
  const styles = readPart(parts, 'xl/styles.xml');
  const formats = new Map<string, NumberStyle>([
    ['9', 'percent'],
    ['10', 'percent'],
  ]);
  for (const [tag] of styles.matchAll(/<(?:\w+:)?numFmt\s[^<>]*>/g)) {
    // A sign in quotation marks is a text beside the number.
    const code = attribute(tag, 'formatCode').replace(/&quot;.*?&quot;|\\./g, '');
    if (code.includes('%')) formats.set(attribute(tag, 'numFmtId'), 'percent');
    else if (/^00+$/.test(code)) formats.set(attribute(tag, 'numFmtId'), code.length);
  }
  const cellStyles =
    /<(?:\w+:)?cellXfs[\s>](?:(?!<\/?(?:\w+:)?cellXfs).)*<\/(?:\w+:)?cellXfs>/s.exec(styles)?.[0] ?? '';
  const tags = [...cellStyles.matchAll(/<(?:\w+:)?xf[\s/>][^<>]*/g)].map(([tag]) => tag);
  return new Map(
    tags.flatMap((tag, place) => {
      const format = formats.get(attribute(tag, 'numFmtId'));
      return format === undefined ? [] : [[String(place), format] as const];
    }),
  );
}

function readPart(parts: Unzipped, name: string): string {
  return new TextDecoder().decode(parts[name] ?? new Uint8Array());
}

const workbookPart = 'xl/workbook.xml';
const relationsPart = 'xl/_rels/workbook.xml.rels';

/** Removes sheets that are a diagram, which have no cells. Says of each other one whether it is hidden. */
export function keepTables(parts: Unzipped): boolean[] {
  const relations = [...readPart(parts, relationsPart).matchAll(/<(?:\w+:)?Relationship\s[^<>]*>/g)].map(
    ([tag]) => tag,
  );
  const tables = new Set(
    relations
      .filter((tag) => attribute(tag, 'Type').endsWith('/worksheet'))
      .map((tag) => attribute(tag, 'Id')),
  );
  const hidden: boolean[] = [];
  const workbook = readPart(parts, workbookPart).replace(/<(?:\w+:)?sheet\s[^<>]*>/g, (tag) => {
    if (!tables.has(attribute(tag, '\\w+:id'))) return '';
    hidden.push(/hidden$/i.test(attribute(tag, 'state')));
    return tag;
  });
  if (parts[workbookPart]) parts[workbookPart] = new TextEncoder().encode(workbook);
  return hidden;
}

function attribute(tag: string, name: string): string {
  return new RegExp(`\\s${name}\\s*=\\s*["']([^"']*)["']`).exec(tag)?.[1] ?? '';
}
