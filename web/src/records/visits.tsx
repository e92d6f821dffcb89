// Visit intervals in words, and the visits that follow from them.
import { Badge, Group, List, Stack, Text } from '@mantine/core';
import type { TFunction } from 'i18next';
import { useTranslation } from 'react-i18next';
import { dayNames, todayIn } from '../../../core/calendar-days.ts';
import { type AttendingInterval, nextVisits } from '../../../core/visits.ts';
import { formatDay, locale, monthNames, weekdayNames } from '../texts/format.ts';
import classes from './visits.module.css';

interface VisitsProps {
  intervals: AttendingInterval[];
  timeZone: string | undefined;
}

export function Visits({ intervals, timeZone }: VisitsProps) {
  const { t } = useTranslation();
  const visits = nextVisits(intervals, todayIn(timeZone), 6);
  return (
    <Stack gap="sm">
      <List size="sm" listStyleType="none">
        {intervals.map((interval) => (
          <List.Item key={JSON.stringify(interval)} c="dimmed">
            {describeInterval(interval, t)}
          </List.Item>
        ))}
      </List>
      {visits.length === 0 && <Text size="sm">{t('record.visitsOver')}</Text>}
      <ol className={classes.visits}>
        {visits.map(({ day, interval }) => (
          <li key={`${day} ${JSON.stringify(interval)}`}>
            <span className={classes.date} aria-hidden="true">
              <span>{formatDay(day, { month: 'short' })}</span>
              <strong>{formatDay(day, { day: 'numeric' })}</strong>
            </span>
            <Stack gap={0}>
              <Text size="sm" fw={550}>
                {formatDay(day, { weekday: 'long', day: 'numeric', month: 'long' })}
              </Text>
              <Group gap={6}>
                <Text size="xs" c="dimmed">
                  {[
                    timeText(interval, t),
                    interval.durationInMinutes && t('record.minutes', { count: interval.durationInMinutes }),
                  ]
                    .filter(Boolean)
                    .join(' · ')}
                </Text>
                {(interval.toleranceInDays ?? 0) > 0 && (
                  <Badge size="xs" color="gray">
                    {t('record.tolerance', { count: interval.toleranceInDays })}
                  </Badge>
                )}
              </Group>
            </Stack>
          </li>
        ))}
      </ol>
    </Stack>
  );
}

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
