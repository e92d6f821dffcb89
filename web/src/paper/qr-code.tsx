// A QR code that opens a record's page.
import { useSuspenseQuery } from '@tanstack/react-query';
import encodeQR from 'qr';
import { stateQuery } from '../api/session.ts';

/** Modules of white around the code, without which readers fail. */
const quietZone = 2;

/** The address under which phones find a record: the published one, else the one that this browser uses. */
export function useRecordAddress(): (collection: string, id: string) => string {
  const { data } = useSuspenseQuery(stateQuery);
  return (collection, id) => `${data.publicUrl ?? window.location.origin}/data/${collection}/${id}`;
}

export function QrCode({ text, label }: { text: string; label: string }) {
  const rows = encodeQR(text, 'raw', { ecc: 'medium', border: quietZone });
  const dots = rows.flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : [])));
  return (
    <svg
      viewBox={`0 0 ${rows.length} ${rows.length}`}
      role="img"
      aria-label={label}
      shapeRendering="crispEdges"
    >
      <rect width="100%" height="100%" fill="#ffffff" />
      <path d={dots.join('')} fill="#000000" />
    </svg>
  );
}
