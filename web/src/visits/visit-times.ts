// The times of a visit, as people write them.
import i18next from 'i18next';
import type { VisitWindow } from '../../../core/open-windows.ts';

interface Timed {
  windows: readonly VisitWindow[];
}

/** "08:00–12:00, 14:00–17:00" or "all day" */
export function windowsText({ windows }: Timed): string {
  return windows
    .map(({ from, until }) =>
      from === '00:00' && until === '24:00' ? i18next.t('visits.allDay') : `${from}–${until}`,
    )
    .join(', ');
}

/** "08:00–12:00, 14:00–17:00 · 60 min" */
export function timesText(visit: Timed, minutes: number | undefined): string {
  return [windowsText(visit), minutes && i18next.t('record.minutes', { count: minutes })]
    .filter(Boolean)
    .join(' · ');
}

/** In the order of the day. */
export function byFirstWindow({ windows: [one] }: Timed, { windows: [other] }: Timed): number {
  return (one?.from ?? '').localeCompare(other?.from ?? '');
}
