// Visit intervals, and the visits that follow from them.
import { Badge, Group, List, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { TFunction } from 'i18next';
import { useTranslation } from 'react-i18next';
import type { Appointment } from '../../../core/calendar/appointments.ts';
import { todayIn } from '../../../core/calendar/calendar-days.ts';
import type { PlannedVisit } from '../../../core/calendar/visit-plan.ts';
import { isAttendingInterval } from '../../../core/calendar/visits.ts';
import { formatDay } from '../texts/format.ts';
import { currentLanguage } from '../texts/language.ts';
import { siteAppointmentsQuery } from '../visits/site-appointments.ts';
import { nextVisitsQuery } from '../visits/site-plan.ts';
import { timesText } from '../visits/visit-times.ts';
import { visitSettingsQuery } from '../visits/visits-query.ts';
import { describeInterval } from './interval-words.ts';
import classes from './visits.module.css';

export function Visits({ site, count = 6 }: { site: Record<string, unknown>; count?: number }) {
  const { t } = useTranslation();
  const intervals = (site.attendingIntervals as unknown[]).filter(isAttendingInterval);
  const { data: settings } = useQuery(visitSettingsQuery);
  const from = todayIn(site.timeZone as string | undefined);
  const { data: appointments } = useQuery(siteAppointmentsQuery(site));
  const { data: visits, isError } = useQuery(
    nextVisitsQuery(site, {
      holidayRule: settings?.holidayRule ?? 'MOVE',
      from,
      count,
      appointments: appointments?.data as unknown as Appointment[] | undefined,
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
          <li key={`${visit.date} ${visit.appointment?.id ?? visit.rule}`}>
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
                  {timesText(visit, visit.durationInMinutes)}
                </Text>
                {(visit.interval?.toleranceInDays ?? 0) > 0 && (
                  <Badge size="xs" color="gray">
                    {t('record.tolerance', { count: visit.interval?.toleranceInDays })}
                  </Badge>
                )}
                {visit.appointment && (
                  <Badge size="xs" color={visit.appointment.status === 'PROPOSED' ? 'yellow' : 'leaf'}>
                    {t(`visits.appointmentStatus.${visit.appointment.status}`)}
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
  { movedFrom = '', holiday, appointment }: Pick<PlannedVisit, 'movedFrom' | 'holiday' | 'appointment'>,
  t: TFunction,
): string {
  const day = formatDay(movedFrom, { day: 'numeric', month: 'long' });
  const name = holiday?.[currentLanguage()];
  if (appointment) return t('visits.movedByAgreement', { day });
  return name ? t('visits.movedByHoliday', { day, name }) : t('visits.movedByHours', { day });
}
