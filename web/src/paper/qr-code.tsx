// A QR code that opens a record's page.
import { useSuspenseQuery } from '@tanstack/react-query';
import { create } from 'qrcode';
import { stateQuery } from '../api/session.ts';

/** Modules of white around the code, without which readers fail. */
const quietZone = 2;

/** The address under which phones find a record: the published one, else the one that this browser uses. */
export function useRecordAddress(): (collection: string, id: string) => string {
  const { data } = useSuspenseQuery(stateQuery);
  return (collection, id) => `${data.publicUrl ?? window.location.origin}/data/${collection}/${id}`;
}

export function QrCode({ text, label }: { text: string; label: string }) {
  const { modules } = create(text, { errorCorrectionLevel: 'M' });
  const { size } = modules;
  let path = '';
  for (let row = 0; row < size; row += 1) {
    for (let column = 0; column < size; column += 1) {
      if (modules.get(row, column)) path += `M${column} ${row}h1v1h-1z`;
    }
  }
  const box = [-quietZone, -quietZone, size + 2 * quietZone, size + 2 * quietZone].join(' ');
  return (
    <svg viewBox={box} role="img" aria-label={label} shapeRendering="crispEdges">
      <rect x={-quietZone} y={-quietZone} width="100%" height="100%" fill="#ffffff" />
      <path d={path} fill="#000000" />
    </svg>
  );
}
