// Rows and columns of a table that are selected together. Column 0 is the name.
export interface Place {
  row: number;
  column: number;
}

export interface Range {
  top: number;
  bottom: number;
  left: number;
  right: number;
}

export function rangeBetween(one: Place, other: Place): Range {
  return {
    top: Math.min(one.row, other.row),
    bottom: Math.max(one.row, other.row),
    left: Math.min(one.column, other.column),
    right: Math.max(one.column, other.column),
  };
}

export function isInRange({ top, bottom, left, right }: Range, { row, column }: Place): boolean {
  return row >= top && row <= bottom && column >= left && column <= right;
}

export function sizeOf({ top, bottom, left, right }: Range): number {
  return (bottom - top + 1) * (right - left + 1);
}

/** The place to which a key leads, before the edges of the table limit it. */
export function moveBy(
  key: string,
  isToEdge: boolean,
  { row, column }: Place,
  last: Place,
): Place | undefined {
  switch (key) {
    case 'ArrowDown':
      return { row: isToEdge ? last.row : row + 1, column };
    case 'ArrowUp':
      return { row: isToEdge ? 0 : row - 1, column };
    case 'ArrowRight':
      return { row, column: isToEdge ? last.column : column + 1 };
    case 'ArrowLeft':
      return { row, column: isToEdge ? 0 : column - 1 };
    case 'PageDown':
      return { row: row + 10, column };
    case 'PageUp':
      return { row: row - 10, column };
    case 'Home':
      return { row: isToEdge ? 0 : row, column: 0 };
    case 'End':
      return { row: isToEdge ? last.row : row, column: last.column };
    default:
      return undefined;
  }
}

export function within({ row, column }: Place, last: Place): Place {
  return {
    row: Math.max(0, Math.min(row, last.row)),
    column: Math.max(0, Math.min(column, last.column)),
  };
}

/** A single copied cell fills the whole range, and rows repeat where the range holds them several times. */
export function spread(rows: readonly (readonly string[])[], range: Range): string[][] {
  const height = range.bottom - range.top + 1;
  const width = range.right - range.left + 1;
  const columns = Math.max(...rows.map((row) => row.length));
  const down = height % rows.length === 0 ? height / rows.length : 1;
  const across = columns === 1 ? width : 1;
  return Array.from({ length: rows.length * down }, (_, index) => {
    const row = rows[index % rows.length]!;
    return across > 1 ? Array.from({ length: across }, () => row[0] ?? '') : [...row];
  });
}
