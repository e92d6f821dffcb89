import type { TFunction } from 'i18next';
import { formatNumber } from '../texts/format.ts';
import { isTakingPlace, minutesOf } from './visit-groups.ts';
import type { Visit } from './visits-query.ts';

/** "3 visits", or "1 called off" where nobody comes. */
export function countText({ visits, listed }: { visits: number; listed: number }, t: TFunction): string {
  return visits === 0 && listed > 0
    ? t('visits.off', { count: listed })
    : t('visits.count', { count: visits });
}

/** "3 visits · 2.5 h" */
export function loadText(visits: readonly Visit[], t: TFunction): string {
  const minutes = minutesOf(visits);
  const hours = formatNumber(minutes / 60, { maximumFractionDigits: 1 });
  const count = countText({ visits: visits.filter(isTakingPlace).length, listed: visits.length }, t);
  return [count, minutes > 0 && t('visits.hours', { hours })].filter(Boolean).join(' · ');
}
