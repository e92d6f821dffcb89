// Common label sheets in A4. Sizes in millimetres, as printed on their packages; the grid is centred on the sheet.

export interface LabelSheet {
  id: string;
  /** Article numbers of labels in this grid. */
  articles: string;
  width: number;
  height: number;
  columns: number;
  rows: number;
  /** Between two columns. */
  gap: number;
}

export const labelSheets: readonly LabelSheet[] = [
  { id: '70x36', articles: 'Avery 3475, Herma 4453', width: 70, height: 36, columns: 3, rows: 8, gap: 0 },
  { id: '63.5x38.1', articles: 'Avery L7160', width: 63.5, height: 38.1, columns: 3, rows: 7, gap: 2.5 },
  { id: '63.5x29.6', articles: 'Avery L6011', width: 63.5, height: 29.6, columns: 3, rows: 9, gap: 2.5 },
  { id: '48.5x25.4', articles: 'Avery 3657', width: 48.5, height: 25.4, columns: 4, rows: 10, gap: 0 },
  { id: '38.1x21.2', articles: 'Avery L7651', width: 38.1, height: 21.2, columns: 5, rows: 13, gap: 2.5 },
  { id: '25.4x10', articles: 'Avery L4731', width: 25.4, height: 10, columns: 7, rows: 27, gap: 2.5 },
];

const paper = { width: 210, height: 297 };

export function placesOf({ columns, rows }: LabelSheet): number {
  return columns * rows;
}

/** The upper left corner of a place, counted from 0 in reading order. */
export function cornerOf({ width, height, columns, rows, gap }: LabelSheet, place: number) {
  const margin = (paper.width - columns * width - (columns - 1) * gap) / 2;
  return {
    left: margin + (place % columns) * (width + gap),
    top: (paper.height - rows * height) / 2 + Math.floor(place / columns) * height,
  };
}

/** Labels on sheets, of which the first begins at a place: those before it are used up. */
export function fillSheets<Label>(
  sheet: LabelSheet,
  labels: readonly Label[],
  start: number,
): { place: number; label: Label }[][] {
  const sheets: { place: number; label: Label }[][] = [];
  for (const [index, label] of labels.entries()) {
    const place = start + index;
    const page = Math.floor(place / placesOf(sheet));
    sheets[page] ??= [];
    sheets[page].push({ place: place % placesOf(sheet), label });
  }
  return sheets;
}
