import type { TFunction } from 'i18next';
import { formatNumber } from '../texts/format.ts';
import { isTakingPlace, minutesOf } from './visit-groups.ts';
import type { Visit } from './visits-query.ts';

/** "3 visits · 2.5 h" */
export function loadText(visits: readonly Visit[], t: TFunction): string {
  const minutes = minutesOf(visits);
  const hours = formatNumber(minutes / 60, { maximumFractionDigits: 1 });
  const count = visits.filter(isTakingPlace).length;
  return [t('visits.count', { count }), minutes > 0 && t('visits.hours', { hours })]
    .filter(Boolean)
    .join(' · ');
}
