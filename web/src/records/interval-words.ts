// A visit interval in words.
import type { TFunction } from 'i18next';
import { dayNames } from '../../../core/calendar/calendar-days.ts';
import type { AttendingInterval } from '../../../core/calendar/visits.ts';
import { formatDay, locale, monthNames, weekdayNames } from '../texts/format.ts';

function timeText({ timeFrom: from, timeUntil: until }: AttendingInterval, t: TFunction): string {
  if (from && until) return t('rule.time', { from, until });
  if (from) return t('rule.timeFrom', { from });
  return until ? t('rule.timeUntil', { until }) : '';
}

/** "every 2 weeks, on Tuesday, from 08:00" */
export function describeInterval(rule: AttendingInterval, t: TFunction): string {
  const join = new Intl.ListFormat(locale(), { type: 'conjunction' });
  const days = dayNames.flatMap((name, index) =>
    rule.byDay?.includes(name) ? [weekdayNames('long')[index]!] : [],
  );
  const months = (rule.byMonth ?? []).map((month) => monthNames('long')[month - 1]!);
  return [
    t(`rule.${rule.frequency}`, { count: rule.interval ?? 1 }),
    days.length > 0 && t('rule.on', { days: join.format(days) }),
    rule.weekOfMonth && t(`rule.weeks.${rule.weekOfMonth}`),
    months.length > 0 && t('rule.in', { months: join.format(months) }),
    timeText(rule, t),
    rule.startDate && t('record.validFrom', { from: formatDay(rule.startDate) }),
    rule.endDate && t('record.validUntil', { until: formatDay(rule.endDate) }),
  ]
    .filter(Boolean)
    .join(', ');
}
