// Writes rows as an .xlsx workbook, as they come: memory holds one page of rows.
import { toDayNumber } from '../../../core/calendar/calendar-days.ts';
import type { TableCell } from './table-rows.ts';
import { type ZipPart, zip } from './zip-stream.ts';

/** Excel's limits of a sheet, the titles included, and of a cell. */
const maxRows = 1_048_576;
const maxCellLength = 32_767;
/** Keeps a part below the four gigabytes of its format. */
const maxSheetLength = 1_000_000_000;

export interface Workbook {
  /** Name of the sheet. */
  name: string;
  titles: readonly string[];
  /** Widths of the columns, in characters. */
  widths: readonly number[];
  rows: AsyncIterable<TableCell[]>;
}

/** Rows beyond the limit of a sheet go on in a second one. */
export function writeWorkbook(workbook: Workbook): AsyncGenerator<Buffer> {
  return zip(partsOf(workbook));
}

async function* partsOf({ name, titles, widths, ...workbook }: Workbook): AsyncGenerator<ZipPart> {
  const rows = workbook.rows[Symbol.asyncIterator]();
  let sheets = 0;
  for (let hasMore = true; hasMore; ) {
    sheets += 1;
    const content = async function* () {
      hasMore = yield* writeSheet(rows, titles, widths);
    };
    yield { name: `xl/worksheets/sheet${sheets}.xml`, content: content() };
  }
  const numbers = Array.from({ length: sheets }, (_, index) => index + 1);
  const sheetName = (number: number) => escapeXml(`${name.slice(0, 25)}${number > 1 ? ` ${number}` : ''}`);
  yield {
    name: 'xl/workbook.xml',
    content: [
      `${declaration}<workbook xmlns="${main}" xmlns:r="${relations}"><sheets>`,
      ...numbers.map(
        (number) => `<sheet name="${sheetName(number)}" sheetId="${number}" r:id="s${number}"/>`,
      ),
      '</sheets></workbook>',
    ],
  };
  yield {
    name: 'xl/_rels/workbook.xml.rels',
    content: [
      `${declaration}<Relationships xmlns="${packageRelations}">`,
      ...numbers.map(
        (number) =>
          `<Relationship Id="s${number}" Type="${relations}/worksheet" Target="worksheets/sheet${number}.xml"/>`,
      ),
      `<Relationship Id="styles" Type="${relations}/styles" Target="styles.xml"/></Relationships>`,
    ],
  };
  yield { name: 'xl/styles.xml', content: [styles] };
  yield {
    name: '_rels/.rels',
    content: [
      `${declaration}<Relationships xmlns="${packageRelations}"><Relationship Id="workbook" Type="${relations}/officeDocument" Target="xl/workbook.xml"/></Relationships>`,
    ],
  };
  yield {
    name: '[Content_Types].xml',
    content: [
      `${declaration}<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/>`,
      `<Override PartName="/xl/workbook.xml" ContentType="${types}.sheet.main+xml"/><Override PartName="/xl/styles.xml" ContentType="${types}.styles+xml"/>`,
      ...numbers.map(
        (number) =>
          `<Override PartName="/xl/worksheets/sheet${number}.xml" ContentType="${types}.worksheet+xml"/>`,
      ),
      '</Types>',
    ],
  };
}

const declaration = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';
const main = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
const relations = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const packageRelations = 'http://schemas.openxmlformats.org/package/2006/relationships';
const types = 'application/vnd.openxmlformats-officedocument.spreadsheetml';

/** Places in `cellXfs`: titles, days, moments, texts. A text cell keeps "01067" a text when somebody edits it. */
const style = { title: 1, day: 2, moment: 3, text: 4 } as const;
const styles = `${declaration}<styleSheet xmlns="${main}"><fonts count="2"><font><sz val="11"/><name val="Calibri"/></font><font><b/><sz val="11"/><name val="Calibri"/></font></fonts><fills count="2"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill></fills><borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border></borders><cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs><cellXfs count="5">${[
  [0, 0],
  [0, 1],
  [14, 0],
  [22, 0],
  [49, 0],
]
  .map(
    ([format, font]) =>
      `<xf numFmtId="${format}" fontId="${font}" fillId="0" borderId="0" xfId="0" applyNumberFormat="1" applyFont="1"/>`,
  )
  .join('')}</cellXfs></styleSheet>`;

/** Returns whether there are more rows than fit. */
async function* writeSheet(
  rows: AsyncIterator<TableCell[]>,
  titles: readonly string[],
  widths: readonly number[],
): AsyncGenerator<string, boolean> {
  yield `${declaration}<worksheet xmlns="${main}"><sheetViews><sheetView workbookViewId="0"><pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/></sheetView></sheetViews><cols>${widths.map((width, index) => `<col min="${index + 1}" max="${index + 1}" width="${width}" customWidth="1"/>`).join('')}</cols><sheetData>`;
  yield writeRow(
    1,
    titles.map((title) => ({ kind: 'title', text: title })),
  );
  let count = 1;
  let length = 0;
  let buffer = '';
  let isDone = false;
  while (count < maxRows && length < maxSheetLength) {
    const next = await rows.next();
    if (next.done) {
      isDone = true;
      break;
    }
    count += 1;
    const row = writeRow(count, next.value);
    length += row.length;
    buffer += row;
    if (buffer.length < 64 * 1024) continue;
    yield buffer;
    buffer = '';
  }
  yield `${buffer}</sheetData><autoFilter ref="A1:${columnName(titles.length - 1)}${count}"/></worksheet>`;
  return !isDone;
}

function writeRow(number: number, cells: readonly (TableCell | { kind: 'title'; text: string })[]): string {
  const written = cells.map((cell, index) => (cell ? writeCell(`${columnName(index)}${number}`, cell) : ''));
  return `<row r="${number}">${written.join('')}</row>`;
}

function writeCell(place: string, cell: NonNullable<TableCell> | { kind: 'title'; text: string }): string {
  switch (cell.kind) {
    case 'number':
      return isExact(cell.text)
        ? `<c r="${place}"><v>${cell.text}</v></c>`
        : writeText(place, cell.text, style.text);
    case 'day': {
      const serial = toSerial(cell.text);
      return serial > 60
        ? `<c r="${place}" s="${style.day}"><v>${serial}</v></c>`
        : writeText(place, cell.text, style.text);
    }
    case 'moment': {
      const [day = '', time = ''] = cell.text.split(' ');
      const [hours = 0, minutes = 0] = time.split(':').map(Number);
      return `<c r="${place}" s="${style.moment}"><v>${toSerial(day) + (hours * 60 + minutes) / 1440}</v></c>`;
    }
    default:
      return writeText(place, cell.text, cell.kind === 'title' ? style.title : style.text);
  }
}

function writeText(place: string, text: string, number: number): string {
  // Too long for a cell: a value that the import rejects, instead of one that looks complete.
  const fitting = text.length > maxCellLength ? `… ${text.length}` : text;
  return `<c r="${place}" s="${number}" t="inlineStr"><is><t xml:space="preserve">${escapeXml(fitting)}</t></is></c>`;
}

/** Days since 1899-12-30, as spreadsheets count. */
function toSerial(day: string): number {
  return toDayNumber(day) + 25_569;
}

/** Excel keeps 15 digits. */
function isExact(number: string): boolean {
  return /^-?\d+(\.\d+)?$/.test(number) && number.replace(/[-.]/g, '').replace(/^0+/, '').length <= 15;
}

function columnName(index: number): string {
  const letter = String.fromCharCode(65 + (index % 26));
  return index < 26 ? letter : columnName(Math.floor(index / 26) - 1) + letter;
}

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** Excel's own escape for characters that XML forbids or changes. */
function escapeXml(text: string): string {
  return text
    .replace(/_(?=x[0-9A-Fa-f]{4}_)/g, '_x005F_')
    .replace(
      // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the ones that XML forbids.
      /[\u0000-\u0008\u000b\u000c\u000d-\u001f\ufffe\uffff]/g,
      (character) => `_x${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}_`,
    )
    .replace(/[&<>"]/g, (character) => entities[character]!);
}
