// Visit intervals in words, and the visits that follow from them.
import { Badge, Group, List, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { TFunction } from 'i18next';
import { useTranslation } from 'react-i18next';
import { dayNames, todayIn } from '../../../core/calendar-days.ts';
import { nextVisits, type PlannedVisit } from '../../../core/visit-plan.ts';
import { type AttendingInterval, isAttendingInterval } from '../../../core/visits.ts';
import { formatDay, locale, monthNames, weekdayNames } from '../texts/format.ts';
import { currentLanguage } from '../texts/language.ts';
import { toSitePlan } from '../visits/site-plan.ts';
import { timesText } from '../visits/visit-times.ts';
import { visitSettingsQuery } from '../visits/visits-query.ts';
import classes from './visits.module.css';

export function Visits({ site }: { site: Record<string, unknown> }) {
  const { t } = useTranslation();
  const intervals = (site.attendingIntervals as unknown[]).filter(isAttendingInterval);
  const { data: settings } = useQuery(visitSettingsQuery);
  const plan = toSitePlan(site, settings?.holidayRule ?? 'MOVE');
  const visits = nextVisits(plan, todayIn(site.timeZone as string | undefined), 6);
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
        {visits.map((visit) => (
          <li key={`${visit.date} ${JSON.stringify(visit.interval)}`}>
            <span className={classes.date} aria-hidden="true">
              <span>{formatDay(visit.date, { month: 'short' })}</span>
              <strong>{formatDay(visit.date, { day: 'numeric' })}</strong>
            </span>
            <Stack gap={0}>
              <Text size="sm" fw={550}>
                {formatDay(visit.date, { weekday: 'long', day: 'numeric', month: 'long' })}
              </Text>
              <Group gap={6}>
                <Text size="xs" c="dimmed">
                  {timesText(visit, visit.interval.durationInMinutes)}
                </Text>
                {(visit.interval.toleranceInDays ?? 0) > 0 && (
                  <Badge size="xs" color="gray">
                    {t('record.tolerance', { count: visit.interval.toleranceInDays })}
                  </Badge>
                )}
              </Group>
              {visit.movedFrom && (
                <Text size="xs" c="dimmed">
                  {movedText(visit, t)}
                </Text>
              )}
            </Stack>
          </li>
        ))}
      </ol>
    </Stack>
  );
}

/** "moved from 25 December because of 1. Weihnachtstag" */
export function movedText(
  { movedFrom = '', holiday }: Pick<PlannedVisit, 'movedFrom' | 'holiday'>,
  t: TFunction,
): string {
  const day = formatDay(movedFrom, { day: 'numeric', month: 'long' });
  const name = holiday?.[currentLanguage()];
  return name ? t('visits.movedByHoliday', { day, name }) : t('visits.movedByHours', { day });
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
