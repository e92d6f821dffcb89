// A small workbook of rejected rows, to be corrected in a spreadsheet and imported again.
import { strToU8, zipSync } from 'fflate';

/** A number keeps its type. A text keeps its zeros, also when somebody edits it. */
export type ReportCell = { number: string } | { text: string } | undefined;

const declaration = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';
const main = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
const relations = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const packages = 'http://schemas.openxmlformats.org/package/2006';
const types = 'application/vnd.openxmlformats-officedocument.spreadsheetml';

/** Places in `cellXfs`. */
const [textStyle, titleStyle] = [1, 2];
const styles = `<styleSheet xmlns="${main}"><fonts count="2"><font><sz val="11"/><name val="Calibri"/></font><font><b/><sz val="11"/><name val="Calibri"/></font></fonts><fills count="1"><fill><patternFill patternType="none"/></fill></fills><borders count="1"><border/></borders><cellStyleXfs count="1"><xf/></cellStyleXfs><cellXfs count="3"><xf numFmtId="0" fontId="0"/><xf numFmtId="49" fontId="0" applyNumberFormat="1"/><xf numFmtId="49" fontId="1" applyNumberFormat="1" applyFont="1"/></cellXfs></styleSheet>`;

export function writeReportWorkbook(
  name: string,
  titles: readonly string[],
  rows: readonly (readonly ReportCell[])[],
): Uint8Array<ArrayBuffer> {
  const sheet = [
    `<worksheet xmlns="${main}"><sheetViews><sheetView workbookViewId="0"><pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/></sheetView></sheetViews><cols><col min="1" max="${titles.length}" width="20" customWidth="1"/></cols><sheetData>`,
    `<row>${titles.map((text) => writeText(text, titleStyle)).join('')}</row>`,
    ...rows.map((cells) => `<row>${cells.map(writeCell).join('')}</row>`),
    '</sheetData></worksheet>',
  ];
  const parts = {
    '[Content_Types].xml': `<Types xmlns="${packages}/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Override PartName="/xl/workbook.xml" ContentType="${types}.sheet.main+xml"/><Override PartName="/xl/worksheets/sheet1.xml" ContentType="${types}.worksheet+xml"/><Override PartName="/xl/styles.xml" ContentType="${types}.styles+xml"/></Types>`,
    '_rels/.rels': `<Relationships xmlns="${packages}/relationships"><Relationship Id="workbook" Type="${relations}/officeDocument" Target="xl/workbook.xml"/></Relationships>`,
    'xl/workbook.xml': `<workbook xmlns="${main}" xmlns:r="${relations}"><sheets><sheet name="${escapeXml(name.slice(0, 31))}" sheetId="1" r:id="sheet"/></sheets></workbook>`,
    'xl/_rels/workbook.xml.rels': `<Relationships xmlns="${packages}/relationships"><Relationship Id="sheet" Type="${relations}/worksheet" Target="worksheets/sheet1.xml"/><Relationship Id="styles" Type="${relations}/styles" Target="styles.xml"/></Relationships>`,
    'xl/styles.xml': styles,
    'xl/worksheets/sheet1.xml': sheet.join(''),
  };
  return zipSync(
    Object.fromEntries(Object.entries(parts).map(([path, xml]) => [path, strToU8(declaration + xml)])),
  );
}

function writeCell(cell: ReportCell): string {
  if (!cell) return '<c/>';
  return 'number' in cell ? `<c><v>${escapeXml(cell.number)}</v></c>` : writeText(cell.text, textStyle);
}

function writeText(text: string, style: number): string {
  return `<c s="${style}" t="inlineStr"><is><t xml:space="preserve">${escapeXml(text)}</t></is></c>`;
}

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

function escapeXml(text: string): string {
  return (
    text
      .replace(/_x[0-9A-Fa-f]{4}_/g, '_x005F$&')
      .replace(/[&<>"]/g, (sign) => entities[sign]!)
      // XML has no form for control characters and halves of a pair; workbooks have one of their own.
      .replace(
        // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for.
        /[\u0000-\u0008\u000b-\u001f\ufffe\uffff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g,
        (sign) => `_x${sign.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}_`,
      )
  );
}
