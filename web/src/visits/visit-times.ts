// The times of a visit, as people write them.
import i18next from 'i18next';
import type { VisitWindow } from '../../../core/calendar/open-windows.ts';

interface Timed {
  windows: readonly VisitWindow[];
}

/** "08:00–12:00, 14:00–17:00" or "all day" */
export function windowsText(visit: Timed): string {
  return windowTexts(visit).join(', ');
}

export function windowTexts({ windows }: Timed): string[] {
  return windows.map(({ from, until }) =>
    from === '00:00' && until === '24:00' ? i18next.t('visits.allDay') : `${from}–${until}`,
  );
}

/** "08:00–12:00, 14:00–17:00 · 60 min", in the pieces that stay whole */
export function timeTexts(visit: Timed, minutes: number | undefined): string[] {
  const windows = windowTexts(visit);
  const duration = minutes ? [i18next.t('record.minutes', { count: minutes })] : [];
  return [
    ...windows.map((text, index) => {
      if (index < windows.length - 1) return `${text},`;
      return duration.length > 0 ? `${text} ·` : text;
    }),
    ...duration,
  ];
}

export function timesText(visit: Timed, minutes: number | undefined): string {
  return timeTexts(visit, minutes).join(' ');
}

/** Compares visits for the order of the day. */
export function byFirstWindow({ windows: [one] }: Timed, { windows: [other] }: Timed): number {
  return (one?.from ?? '').localeCompare(other?.from ?? '');
}
