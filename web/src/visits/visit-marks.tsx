// Marks of a visit: moved, agreed, cancelled, covered, and its conflicts.
import { Badge, Group, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { formatDay } from '../texts/format.ts';
import classes from './visits.module.css';
import type { Visit } from './visits-query.ts';

export function Marks({ visit }: { visit: Visit }) {
  const { status, reason, movedFrom = '', holiday, conflicts, appointmentStatus } = visit;
  const { t } = useTranslation();
  const day = formatDay(movedFrom || '2000-01-01', { day: 'numeric', month: 'long' });
  return (
    <>
      {status === 'MOVED' && (
        <Text size="xs" c="dimmed">
          {holiday ? t('visits.movedByHoliday', { day, name: holiday }) : t('visits.movedByHours', { day })}
        </Text>
      )}
      {status === 'APPOINTMENT' && movedFrom && (
        <Text size="xs" c="dimmed">
          {t('visits.movedByAgreement', { day })}
        </Text>
      )}
      {status === 'CANCELLED' && (
        <Text size="xs" c="dimmed">
          {t('visits.cancelled')}
        </Text>
      )}
      {visit.appointmentComment && (
        <Text size="xs" className={classes.name}>
          {visit.appointmentComment}
        </Text>
      )}
      {status === 'SKIPPED' && (
        <Text size="xs" c="dimmed">
          {reason === 'HOLIDAY'
            ? t('visits.skippedByHoliday', { name: holiday })
            : t('visits.skippedByHours')}
        </Text>
      )}
      <Group gap={4}>
        {status === 'APPOINTMENT' && appointmentStatus && (
          <Badge
            size="sm"
            color={appointmentStatus === 'PROPOSED' ? 'yellow' : 'leaf'}
            className={classes.conflict}
          >
            {t(`visits.appointmentStatus.${appointmentStatus}`)}
          </Badge>
        )}
        {visit.absentEmployeeId && visit.employee && (
          <Badge size="sm" color="gray" className={classes.conflict}>
            {t('visits.covering')}
          </Badge>
        )}
        {conflicts.map((conflict) => (
          <Badge key={conflict} size="sm" color="yellow" className={classes.conflict}>
            {t(`visits.conflicts.${conflict}`)}
          </Badge>
        ))}
      </Group>
    </>
  );
}
