// Visit intervals, and the visits that follow from them.
import { Badge, Group, List, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { TFunction } from 'i18next';
import { useTranslation } from 'react-i18next';
import { todayIn } from '../../../core/calendar-days.ts';
import type { PlannedVisit } from '../../../core/visit-plan.ts';
import { isAttendingInterval } from '../../../core/visits.ts';
import { formatDay } from '../texts/format.ts';
import { currentLanguage } from '../texts/language.ts';
import { nextVisitsQuery } from '../visits/site-plan.ts';
import { timesText } from '../visits/visit-times.ts';
import { visitSettingsQuery } from '../visits/visits-query.ts';
import { describeInterval } from './interval-words.ts';
import classes from './visits.module.css';

export function Visits({ site }: { site: Record<string, unknown> }) {
  const { t } = useTranslation();
  const intervals = (site.attendingIntervals as unknown[]).filter(isAttendingInterval);
  const { data: settings } = useQuery(visitSettingsQuery);
  const { data: visits, isError } = useQuery(
    nextVisitsQuery(site, {
      holidayRule: settings?.holidayRule ?? 'MOVE',
      from: todayIn(site.timeZone as string | undefined),
      count: 6,
    }),
  );
  return (
    <Stack gap="sm">
      <List size="sm" listStyleType="none">
        {intervals.map((interval) => (
          <List.Item key={JSON.stringify(interval)} c="dimmed">
            {describeInterval(interval, t)}
          </List.Item>
        ))}
      </List>
      {visits?.length === 0 && <Text size="sm">{t('record.visitsOver')}</Text>}
      {isError && <Text size="sm">{t('attention.explain.plan_failed')}</Text>}
      <ol className={classes.visits}>
        {visits?.map((visit) => (
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
function movedText(
  { movedFrom = '', holiday }: Pick<PlannedVisit, 'movedFrom' | 'holiday'>,
  t: TFunction,
): string {
  const day = formatDay(movedFrom, { day: 'numeric', month: 'long' });
  const name = holiday?.[currentLanguage()];
  return name ? t('visits.movedByHoliday', { day, name }) : t('visits.movedByHours', { day });
}
